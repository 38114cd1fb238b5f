//===-- Sort.cpp - Sorting, and the largest elements -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// If one operand determines the order, by the order of its type, the runtime returns where each element of
// the sorted rows came from (`cgx_native_sort_places`), and all operands are gathered from there.
//
// Any other comparator is lowered to a merge sort, which is stable: pass p merges neighbouring runs of 2^p
// elements. Passes go in pairs, from the tensors to as many others and back, so that the loop over them
// exchanges no buffers; a pass whose runs are as long as the dimension only copies.
//
//===----------------------------------------------------------------------------===//
#include "Conversion.h"
#include "Scalar.h"
#include "ScalarConvert.h"
#include "ir/RuntimeOps.h"

#include "cgx/Dialect/Stablehlo/ChloDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/native.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace cgx {
namespace {

/// Returns whether the first elements, one of each tensor, must stand before the second.
using Comparator = llvm::function_ref<Value(OpBuilder &, ValueRange first, ValueRange second)>;

/// Sorts one row of some tensors: the elements along `dim` at given places of the other dimensions.
class RowSorter {
public:
  RowSorter(Location loc, ValueRange row, int64_t dim, int64_t extent, Comparator isBefore)
      : loc(loc), row(row), dim(dim), extent(extent), isBefore(isBefore) {}

  /// Sorts. `tensors` are the tensors and as many to work in; returns both.
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

/// A sort key: one operand by the order of its type.
struct KeyOrder {
  size_t operand;
  cgx_sort_kind kind;
  bool descending;
};

/// Returns the order of a type's elements, if it is one that the runtime knows.
std::optional<cgx_sort_kind> kindOf(Type element) {
  if (isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element))
    return CGX_SORT_TOTAL;
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer || !llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth()))
    return std::nullopt;
  return integer.isUnsigned() || integer.getWidth() == 1 ? CGX_SORT_UNSIGNED : CGX_SORT_SIGNED;
}

bool isConstant(Value value, llvm::function_ref<bool(const APFloat &)> holds) {
  DenseFPElementsAttr constant;
  return matchPattern(value, m_Constant(&constant)) && constant.isSplat() &&
         holds(constant.getSplatValue<APFloat>());
}

/// Returns the x of select(x != x, NaN, select(x == 0, 0, x)), with which JAX makes zeros and NaNs equal;
/// null otherwise.
Value asNumber(Value value) {
  auto choosesOn = [](Value value, stablehlo::ComparisonDirection direction) -> stablehlo::SelectOp {
    auto select = value.getDefiningOp<stablehlo::SelectOp>();
    auto compare = select ? select.getPred().getDefiningOp<stablehlo::CompareOp>() : nullptr;
    return compare && compare.getComparisonDirection() == direction ? select : nullptr;
  };
  auto withoutNaN = choosesOn(value, stablehlo::ComparisonDirection::NE);
  if (!withoutNaN ||
      !isConstant(withoutNaN.getOnTrue(), [](const APFloat &x) { return x.isNaN() && !x.isNegative(); }))
    return nullptr;
  auto withoutZero = choosesOn(withoutNaN.getOnFalse(), stablehlo::ComparisonDirection::EQ);
  auto isZero = [](const APFloat &x) { return x.isPosZero(); };
  if (!withoutZero || !isConstant(withoutZero.getOnTrue(), isZero))
    return nullptr;
  Value x = withoutZero.getOnFalse();
  auto ofNaN = withoutNaN.getPred().getDefiningOp<stablehlo::CompareOp>();
  auto ofZero = withoutZero.getPred().getDefiningOp<stablehlo::CompareOp>();
  bool areOfX = ofNaN.getLhs() == x && ofNaN.getRhs() == x && ofZero.getLhs() == x &&
                matchPattern(ofZero.getRhs(), m_AnyZeroFloat());
  return areOfX ? x : nullptr;
}

/// Returns the order that a comparator of one key of a plain type expresses, as JAX prints it.
std::optional<KeyOrder> keyOrderOf(Region &comparator) {
  using Direction = stablehlo::ComparisonDirection;
  Block &body = comparator.front();
  auto compare = body.getTerminator()->getOperand(0).getDefiningOp<stablehlo::CompareOp>();
  if (!compare)
    return std::nullopt;
  Direction direction = compare.getComparisonDirection();
  if (direction != Direction::LT && direction != Direction::GT)
    return std::nullopt;
  std::optional<cgx_sort_kind> kind = kindOf(getElementTypeOrSelf(compare.getLhs().getType()));
  if (!kind)
    return std::nullopt;
  Value lhs = compare.getLhs(), rhs = compare.getRhs();
  if (*kind == CGX_SORT_TOTAL) {
    if (compare.getCompareType() != stablehlo::ComparisonType::TOTALORDER)
      return std::nullopt; // no order: NaN is neither before nor after
    Value first = asNumber(lhs), second = asNumber(rhs);
    if (first && second) {
      kind = CGX_SORT_NUMBERS;
      lhs = first;
      rhs = second;
    }
  }
  auto before = dyn_cast<BlockArgument>(lhs), behind = dyn_cast<BlockArgument>(rhs);
  if (!before || !behind || before.getOwner() != &body || behind.getOwner() != &body)
    return std::nullopt;
  unsigned first = std::min(before.getArgNumber(), behind.getArgNumber());
  if (first % 2 != 0 || std::max(before.getArgNumber(), behind.getArgNumber()) != first + 1)
    return std::nullopt;
  bool swapped = before.getArgNumber() > behind.getArgNumber();
  return KeyOrder{first / 2, *kind, (direction == Direction::GT) != swapped};
}

/// Returns where the first `kept` elements along `dim` of the sorted keys are now: numbers of i32.
Value placesOf(OpBuilder &b, Location loc, Value keys, KeyOrder order, int64_t dim, int64_t kept) {
  auto type = cast<RankedTensorType>(keys.getType());
  Type element = type.getElementType();
  ArrayRef<int64_t> shape = type.getShape();
  int64_t infinity = 0;
  if (auto number = dyn_cast<FloatType>(element))
    infinity = APFloat::getInf(number.getFloatSemantics()).bitcastToAPInt().getSExtValue();
  int64_t scalars[] = {order.kind,
                       llvm::divideCeil(element.getIntOrFloatBitWidth(), 8),
                       infinity,
                       order.descending,
                       llvm::product_of(shape.take_front(dim)),
                       shape[dim],
                       llvm::product_of(shape.drop_front(dim + 1)),
                       kept};
  SmallVector<int64_t> keptShape(shape);
  keptShape[dim] = kept;
  auto places = RankedTensorType::get(keptShape, b.getI32Type());
  return rt::LibraryOp::create(b, loc, TypeRange{places}, "cgx_native_sort_places", scalars, keys,
                               ownTensor(b, loc, places))
      .getResult(0);
}

/// Returns the elements of `tensor` at the places along `dim`.
Value takenFrom(OpBuilder &b, Location loc, Value tensor, Value places, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  auto result = type.clone(cast<RankedTensorType>(places.getType()).getShape());
  int64_t rank = type.getRank();
  AffineMap maps[] = {b.getMultiDimIdentityMap(rank), b.getMultiDimIdentityMap(rank)};
  return linalg::GenericOp::create(
             b, loc, TypeRange{result}, ValueRange{places}, ValueRange{emptyTensor(b, loc, result)}, maps,
             parallel(rank),
             [&](OpBuilder &b, Location loc, ValueRange in) {
               SmallVector<Value> at;
               for (int64_t i = 0; i < rank; ++i)
                 at.push_back(i == dim
                                  ? arith::IndexCastOp::create(b, loc, b.getIndexType(), in[0]).getResult()
                                  : linalg::IndexOp::create(b, loc, i).getResult());
               linalg::YieldOp::create(b, loc, ValueRange{tensor::ExtractOp::create(b, loc, tensor, at)});
             })
      .getResult(0);
}

/// Returns whether i32 can count the places of a sort, and there is something to sort.
bool hasPlaces(RankedTensorType type, int64_t dim) {
  return type.getNumElements() > 0 && type.getDimSize(dim) > 1 &&
         type.getDimSize(dim) <= std::numeric_limits<int32_t>::max();
}

struct SortPattern : OpConversionPattern<stablehlo::SortOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::SortOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    int64_t rank = cast<RankedTensorType>(adaptor.getInputs().front().getType()).getRank();
    auto dim = static_cast<int64_t>(op.getDimension()); // from the end where negative
    dim += dim < 0 ? rank : 0;
    std::optional<KeyOrder> order = keyOrderOf(op.getComparator());
    if (order && hasPlaces(cast<RankedTensorType>(adaptor.getInputs().front().getType()), dim)) {
      Value keys = adaptor.getInputs()[order->operand];
      int64_t extent = cast<RankedTensorType>(keys.getType()).getDimSize(dim);
      Value from = placesOf(rewriter, op.getLoc(), keys, *order, dim, extent);
      SmallVector<Value> results;
      for (Value input : adaptor.getInputs())
        results.push_back(takenFrom(rewriter, op.getLoc(), input, from, dim));
      rewriter.replaceOp(op, results);
      return success();
    }
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
    int64_t extent = cast<RankedTensorType>(op.getValues().getType()).getDimSize(dim);
    std::optional<cgx_sort_kind> kind = kindOf(original);
    auto indices = cast<RankedTensorType>(getTypeConverter()->convertType(op.getIndices().getType()));
    if (kind && extent > 0 && hasPlaces(type, dim) && indices.getElementType().isInteger(32)) {
      Value from = placesOf(rewriter, loc, operand, {0, *kind, /*descending=*/true}, dim, extent);
      Value values = takenFrom(rewriter, loc, operand, from, dim);
      rewriter.replaceOp(op, {values, from});
      return success();
    }
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

  /// Returns the index in the last dimension of each element of `like`.
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
