//===-- Sort.cpp - Sorting, and the largest elements -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// A merge sort, hence stable: pass p merges neighbouring runs of 2^p elements. Passes go in pairs, from the
// tensors to as many others and back, so that the loop over them exchanges no buffers; a pass whose runs are
// as long as the dimension only copies.
//
//===----------------------------------------------------------------------------===//
#include "Conversion.h"
#include "Scalar.h"
#include "ScalarConvert.h"

#include "cgx/Dialect/Stablehlo/ChloDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace cgx {
namespace {

/// Whether the first elements, one of each tensor, must stand before the second.
using Comparator = llvm::function_ref<Value(OpBuilder &, ValueRange first, ValueRange second)>;

/// Sorts one row of some tensors: the elements along `dim` at given places of the other dimensions.
class RowSorter {
public:
  RowSorter(Location loc, ValueRange row, int64_t dim, int64_t extent, Comparator isBefore)
      : loc(loc), row(row), dim(dim), extent(extent), isBefore(isBefore) {}

  /// Given the tensors and as many to work in, returns both.
  SmallVector<Value> sort(OpBuilder &b, ValueRange tensors) const {
    Value pairs = constantIndex(b, loc, llvm::divideCeil(llvm::Log2_64_Ceil(extent), 2));
    auto loop =
        scf::ForOp::create(b, loc, constantIndex(b, loc, 0), pairs, constantIndex(b, loc, 1), tensors,
                           [&](OpBuilder &b, Location loc, Value pair, ValueRange carried) {
                             Value one = constantIndex(b, loc, 1), two = constantIndex(b, loc, 2);
                             Value width =
                                 arith::ShLIOp::create(b, loc, one, arith::MulIOp::create(b, loc, pair, two));
                             Value twice = arith::MulIOp::create(b, loc, width, two);
                             size_t count = carried.size() / 2;
                             SmallVector<Value> there =
                                 mergeRuns(b, carried.take_front(count), carried.drop_front(count), width);
                             SmallVector<Value> back = mergeRuns(b, there, carried.take_front(count), twice);
                             llvm::append_range(back, there);
                             scf::YieldOp::create(b, loc, back);
                           });
    return SmallVector<Value>(loop.getResults());
  }

private:
  SmallVector<Value> at(Value place) const {
    SmallVector<Value> indices(row);
    indices.insert(indices.begin() + dim, place);
    return indices;
  }

  SmallVector<Value> elements(OpBuilder &b, ValueRange tensors, Value place) const {
    Value inside = arith::MinUIOp::create(b, loc, place, constantIndex(b, loc, extent - 1));
    SmallVector<Value> result;
    for (Value tensor : tensors)
      result.push_back(tensor::ExtractOp::create(b, loc, tensor, at(inside)));
    return result;
  }

  /// Writes the runs of `width` elements of `from`, merged in pairs, to `to`.
  SmallVector<Value> mergeRuns(OpBuilder &b, ValueRange from, ValueRange to, Value width) const {
    Value end = constantIndex(b, loc, extent);
    Value twice = arith::MulIOp::create(b, loc, width, constantIndex(b, loc, 2));
    auto runs = scf::ForOp::create(
        b, loc, constantIndex(b, loc, 0), end, twice, to,
        [&](OpBuilder &b, Location loc, Value low, ValueRange carried) {
          Value middle = arith::MinUIOp::create(b, loc, arith::AddIOp::create(b, loc, low, width), end);
          Value high = arith::MinUIOp::create(b, loc, arith::AddIOp::create(b, loc, low, twice), end);
          SmallVector<Value> inits = {low, middle};
          llvm::append_range(inits, carried);
          auto merge = scf::ForOp::create(b, loc, low, high, constantIndex(b, loc, 1), inits,
                                          [&](OpBuilder &b, Location loc, Value place, ValueRange carried) {
                                            scf::YieldOp::create(
                                                b, loc, mergeOne(b, from, carried, place, middle, high));
                                          });
          scf::YieldOp::create(b, loc, merge.getResults().drop_front(2));
        });
    return SmallVector<Value>(runs.getResults());
  }

  /// Takes the next element of the left run, which ends at `middle`, or of the right one. Carries where
  /// either stands, and what is written.
  SmallVector<Value> mergeOne(OpBuilder &b, ValueRange from, ValueRange carried, Value place, Value middle,
                              Value high) const {
    Value left = carried[0], right = carried[1];
    SmallVector<Value> lefts = elements(b, from, left), rights = elements(b, from, right);
    auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) -> Value {
      return arith::CmpIOp::create(b, loc, predicate, x, y);
    };
    Value leftIsOver = compare(arith::CmpIPredicate::eq, left, middle);
    Value rightIsLeft = compare(arith::CmpIPredicate::ult, right, high);
    Value takesRight = arith::AndIOp::create(
        b, loc, rightIsLeft, arith::OrIOp::create(b, loc, leftIsOver, isBefore(b, rights, lefts)));
    Value one = constantIndex(b, loc, 1);
    auto choose = [&](Value ofRight, Value ofLeft) -> Value {
      return arith::SelectOp::create(b, loc, takesRight, ofRight, ofLeft);
    };
    SmallVector<Value> next = {choose(left, arith::AddIOp::create(b, loc, left, one)),
                               choose(arith::AddIOp::create(b, loc, right, one), right)};
    for (auto [ofLeft, ofRight, to] : llvm::zip_equal(lefts, rights, carried.drop_front(2)))
      next.push_back(tensor::InsertOp::create(b, loc, choose(ofRight, ofLeft), to, at(place)));
    return next;
  }

  Location loc;
  ValueRange row;
  int64_t dim, extent;
  Comparator isBefore;
};

SmallVector<Value> sorted(OpBuilder &b, Location loc, ValueRange tensors, int64_t dim, Comparator isBefore) {
  auto type = cast<RankedTensorType>(tensors.front().getType());
  if (type.getNumElements() == 0 || type.getDimSize(dim) == 1)
    return SmallVector<Value>(tensors);
  SmallVector<Value> inits(tensors);
  for (Value tensor : tensors)
    inits.push_back(ownTensor(b, loc, cast<RankedTensorType>(tensor.getType())));
  SmallVector<int64_t> rows(type.getShape());
  rows.erase(rows.begin() + dim);
  SmallVector<Value> results =
      loopNest(b, loc, rows, inits, [&](OpBuilder &b, ValueRange row, ValueRange carried) {
        return RowSorter(loc, row, dim, type.getDimSize(dim), isBefore).sort(b, carried);
      });
  results.truncate(tensors.size());
  return results;
}

struct SortPattern : OpConversionPattern<stablehlo::SortOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::SortOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    int64_t rank = cast<RankedTensorType>(adaptor.getInputs().front().getType()).getRank();
    auto dim = static_cast<int64_t>(op.getDimension()); // from the end where negative
    dim += dim < 0 ? rank : 0;
    bool emitted = true;
    auto isBefore = [&](OpBuilder &b, ValueRange first, ValueRange second) -> Value {
      SmallVector<Value> arguments; // in pairs
      for (auto [x, y] : llvm::zip_equal(first, second))
        arguments.append({x, y});
      FailureOr<SmallVector<Value>> result = emitScalarRegion(b, op.getComparator(), arguments);
      if (succeeded(result))
        return result->front();
      emitted = false;
      return arith::ConstantIntOp::create(b, op.getLoc(), 0, 1);
    };
    SmallVector<Value> results = sorted(rewriter, op.getLoc(), adaptor.getInputs(), dim, isBefore);
    if (!emitted)
      return rewriter.notifyMatchFailure(op, "the comparator is not elementwise");
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// Sorts along with the places, largest first, and keeps the first k. Equal elements keep their order; NaN is
/// larger than all numbers.
struct TopKPattern : OpConversionPattern<chlo::TopKOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(chlo::TopKOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type original = getElementTypeOrSelf(op.getOperand().getType());
    Value operand = adaptor.getOperand();
    auto type = cast<RankedTensorType>(operand.getType());
    int64_t dim = type.getRank() - 1;
    auto isBefore = [&](OpBuilder &builder, ValueRange first, ValueRange second) -> Value {
      ImplicitLocOpBuilder b(loc, builder);
      return compareScalars(b, stablehlo::ComparisonDirection::GT, /*total=*/isa<FloatType>(original),
                            first.front(), second.front(), original);
    };
    SmallVector<Value> results = sorted(
        rewriter, loc, {operand, places(rewriter, loc, type, op.getIndices().getType())}, dim, isBefore);
    for (auto [result, kept] : llvm::zip_equal(results, op.getResultTypes())) {
      auto keptType = cast<RankedTensorType>(getTypeConverter()->convertType(kept));
      SmallVector<int64_t> zeros(dim + 1, 0), ones(dim + 1, 1);
      auto indices = [&](ArrayRef<int64_t> values) {
        return getAsIndexOpFoldResult(rewriter.getContext(), values);
      };
      result = tensor::ExtractSliceOp::create(rewriter, loc, keptType, result, indices(zeros),
                                              indices(keptType.getShape()), indices(ones));
    }
    rewriter.replaceOp(op, results);
    return success();
  }

  /// The index in the last dimension of each element of `like`.
  static Value places(OpBuilder &b, Location loc, RankedTensorType like, Type kept) {
    auto type = RankedTensorType::get(like.getShape(), getElementTypeOrSelf(kept));
    AffineMap identity[] = {b.getMultiDimIdentityMap(type.getRank())};
    return linalg::GenericOp::create(
               b, loc, TypeRange{type}, ValueRange(), ValueRange{emptyTensor(b, loc, type)}, identity,
               parallel(type.getRank()),
               [&](OpBuilder &b, Location loc, ValueRange) {
                 Value index = linalg::IndexOp::create(b, loc, type.getRank() - 1);
                 Value place = arith::IndexCastOp::create(b, loc, type.getElementType(), index);
                 linalg::YieldOp::create(b, loc, place);
               })
        .getResult(0);
  }
};

} // namespace

void populateSortPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<SortPattern, TopKPattern>(converter, patterns.getContext());
}

} // namespace cgx
