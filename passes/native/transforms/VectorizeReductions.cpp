//===-- VectorizeReductions.cpp - Reductions of rows in lanes --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// LLVM may not change the order of a floating-point sum, so that it would take one element after the other.
// Here the shape alone fixes the order: element k of a row goes to lane k mod 16, the lanes are combined as a
// tree, elements beyond the last whole vector follow one by one, and rows follow one another. That is also
// more accurate than one long sum.
//
//===----------------------------------------------------------------------------===//
#include "cgx/Passes/Native.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_VECTORIZEREDUCTIONSPASS
#include "cgx/Passes/Native.h.inc"

namespace {

constexpr int64_t lanes = 16;

/// Returns the operation that takes one more term into an output, if its order may be chosen.
Operation *combinerOf(linalg::GenericOp op, unsigned output) {
  Value accumulated = op.getRegionOutputArgs()[output];
  Operation *combiner = op.getBody()->getTerminator()->getOperand(output).getDefiningOp();
  if (!isa_and_present<arith::AddFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MulFOp>(combiner) ||
      !combiner->hasOneUse() || !accumulated.hasOneUse() || *accumulated.user_begin() != combiner ||
      combiner->getBlock() != op.getBody())
    return nullptr;
  return combiner;
}

Value termOf(linalg::GenericOp op, unsigned output) {
  Operation *combiner = combinerOf(op, output);
  Value first = combiner->getOperand(0);
  return first == op.getRegionOutputArgs()[output] ? combiner->getOperand(1) : first;
}

/// Returns whether consecutive steps of the last loop read one element, or neighbours.
bool isRow(linalg::GenericOp op, OpOperand *input) {
  auto type = dyn_cast<MemRefType>(input->get().getType());
  if (!type)
    return true; // a scalar
  unsigned last = op.getNumLoops() - 1;
  AffineMap map = op.getMatchingIndexingMap(input);
  if (!map.isFunctionOfDim(last))
    return true;
  // Booleans take a byte in memory, a bit in a vector.
  if (type.getElementTypeBitWidth() < 8 || !isa<AffineDimExpr>(map.getResults().back()) ||
      map.getDimPosition(map.getNumResults() - 1) != last || type.getStridesAndOffset().first.back() != 1)
    return false;
  return llvm::none_of(map.getResults().drop_back(),
                       [&](AffineExpr expr) { return expr.isFunctionOfDim(last); });
}

bool isVectorizable(linalg::GenericOp op) {
  unsigned loops = op.getNumLoops();
  if (!op.hasPureBufferSemantics() || loops == 0 ||
      op.getIteratorTypesArray().back() != utils::IteratorType::reduction ||
      op.getStaticLoopRanges().back() < lanes)
    return false;
  SmallPtrSet<Operation *, 2> combiners;
  for (OpOperand &output : op.getDpsInitsMutable()) {
    Operation *combiner = combinerOf(op, output.getOperandNumber() - op.getNumDpsInputs());
    if (!combiner || op.getMatchingIndexingMap(&output).isFunctionOfDim(loops - 1))
      return false;
    combiners.insert(combiner);
  }
  bool elementwise = llvm::all_of(op.getBody()->without_terminator(), [&](Operation &inner) {
    return isa<arith::ConstantOp>(inner) ||
           (isa<arith::ArithDialect, math::MathDialect>(inner.getDialect()) &&
            OpTrait::hasElementwiseMappableTraits(&inner));
  });
  return elementwise &&
         llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) { return isRow(op, input); });
}

class RowReduction {
public:
  RowReduction(linalg::GenericOp op, OpBuilder &builder) : op(op), loc(op.getLoc()) { emitRows(builder); }

private:
  Value index(OpBuilder &b, int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

  void emitRows(OpBuilder &b) {
    SmallVector<int64_t> extents = op.getStaticLoopRanges();
    SmallVector<Value> lower(extents.size() - 1, index(b, 0)), upper, steps(extents.size() - 1, index(b, 1));
    for (int64_t extent : ArrayRef(extents).drop_back())
      upper.push_back(index(b, extent));
    scf::buildLoopNest(b, loc, lower, upper, steps,
                       [&](OpBuilder &b, Location, ValueRange row) { emitRow(b, row, extents.back()); });
  }

  void emitRow(OpBuilder &b, ValueRange row, int64_t extent) {
    int64_t whole = extent / lanes * lanes;
    Value middle = index(b, whole), one = index(b, 1);
    SmallVector<Value> neutral;
    for (unsigned i = 0; i < op.getNumDpsInits(); ++i) {
      Operation *combiner = combinerOf(op, i);
      auto type = VectorType::get(lanes, combiner->getResult(0).getType());
      auto value = DenseElementsAttr::get(type, Attribute(*arith::getNeutralElement(combiner)));
      neutral.push_back(arith::ConstantOp::create(b, loc, value));
    }
    auto inLanes = scf::ForOp::create(b, loc, index(b, 0), middle, index(b, lanes), neutral,
                                      [&](OpBuilder &b, Location, Value k, ValueRange sums) {
                                        scf::YieldOp::create(b, loc, emitTerms(b, row, k, sums, true));
                                      });
    // The value that an output already holds comes first.
    SmallVector<Value> sums;
    for (OpOperand &output : op.getDpsInitsMutable()) {
      unsigned number = output.getOperandNumber() - op.getNumDpsInputs();
      Value held = memref::LoadOp::create(b, loc, output.get(), place(b, output, row, nullptr));
      Value lanesSum = combineLanes(b, combinerOf(op, number), inLanes.getResult(number));
      sums.push_back(combine(b, combinerOf(op, number), held, lanesSum));
    }
    if (whole < extent) {
      auto rest = scf::ForOp::create(b, loc, middle, index(b, extent), one, sums,
                                     [&](OpBuilder &b, Location, Value k, ValueRange sums) {
                                       scf::YieldOp::create(b, loc, emitTerms(b, row, k, sums, false));
                                     });
      sums.assign(rest.getResults().begin(), rest.getResults().end());
    }
    for (auto [sum, output] : llvm::zip_equal(sums, op.getDpsInitsMutable()))
      memref::StoreOp::create(b, loc, sum, output.get(), place(b, output, row, nullptr));
  }

  /// Returns where an operand is accessed at a place of the loops; the last may be missing.
  SmallVector<Value> place(OpBuilder &b, OpOperand &operand, ValueRange row, Value k) {
    SmallVector<Value> loops(row);
    loops.push_back(k ? k : index(b, 0));
    SmallVector<Value> indices;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (AffineExpr expr : map.getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      indices.push_back(dim ? loops[dim.getPosition()]
                            : affine::makeComposedAffineApply(
                                  b, loc, AffineMap::get(map.getNumDims(), 0, expr), getAsOpFoldResult(loops))
                                  .getResult());
    }
    return indices;
  }

  /// Returns `sums` with the terms of the element at `k`, or of those from `k` on.
  SmallVector<Value> emitTerms(OpBuilder &b, ValueRange row, Value k, ValueRange sums, bool vector) {
    auto widened = [&](Type type) -> Type { return vector ? VectorType::get(lanes, type) : type; };
    auto widen = [&](Value value) -> Value {
      return vector ? vector::BroadcastOp::create(b, loc, widened(value.getType()), value).getResult()
                    : value;
    };
    IRMapping values;
    for (OpOperand *input : op.getDpsInputOperands()) {
      Value element = input->get();
      if (auto type = dyn_cast<MemRefType>(element.getType())) {
        SmallVector<Value> at = place(b, *input, row, k);
        bool moves = op.getMatchingIndexingMap(input).isFunctionOfDim(op.getNumLoops() - 1);
        element = vector && moves ? vector::LoadOp::create(
                                        b, loc, cast<VectorType>(widened(type.getElementType())), element, at)
                                        .getResult()
                                  : memref::LoadOp::create(b, loc, element, at).getResult();
      }
      values.map(op.getMatchingBlockArgument(input),
                 isa<VectorType>(element.getType()) ? element : widen(element));
    }
    auto lookup = [&](Value value) {
      if (!values.contains(value)) // from outside of the body
        values.map(value, widen(value));
      return values.lookup(value);
    };
    SmallPtrSet<Operation *, 2> combiners;
    for (unsigned i = 0; i < op.getNumDpsInits(); ++i)
      combiners.insert(combinerOf(op, i));
    for (Operation &inner : op.getBody()->without_terminator()) {
      if (combiners.contains(&inner))
        continue;
      if (isa<arith::ConstantOp>(inner)) {
        values.map(inner.getResult(0), widen(b.clone(inner)->getResult(0)));
        continue;
      }
      SmallVector<Value> operands = llvm::map_to_vector(inner.getOperands(), lookup);
      values.map(inner.getResult(0), emit(b, &inner, operands, widened(inner.getResult(0).getType())));
    }
    SmallVector<Value> next;
    for (auto [i, sum] : llvm::enumerate(sums))
      next.push_back(combine(b, combinerOf(op, i), sum, lookup(termOf(op, i))));
    return next;
  }

  Value combine(OpBuilder &b, Operation *combiner, Value sum, Value term) {
    return emit(b, combiner, {sum, term}, sum.getType());
  }

  /// Halves of a vector, until one element is left.
  Value combineLanes(OpBuilder &b, Operation *combiner, Value vector) {
    for (int64_t width = lanes / 2; width > 0; width /= 2) {
      auto half = [&](int64_t first) {
        return vector::ShuffleOp::create(b, loc, vector, vector,
                                         llvm::to_vector(llvm::seq<int64_t>(first, first + width)))
            .getResult();
      };
      vector = combine(b, combiner, half(0), half(width));
    }
    return vector::ExtractOp::create(b, loc, vector, ArrayRef<int64_t>{0});
  }

  /// Returns `like` on other operands.
  Value emit(OpBuilder &b, Operation *like, ArrayRef<Value> operands, Type type) {
    OperationState state(loc, like->getName(), operands, type);
    state.propertiesAttr = like->getPropertiesAsAttribute();
    state.attributes = like->getDiscardableAttrDictionary();
    return b.create(state)->getResult(0);
  }

  linalg::GenericOp op;
  Location loc;
};

struct VectorizeReductionsPass : impl::VectorizeReductionsPassBase<VectorizeReductionsPass> {
  void runOnOperation() override {
    getOperation().walk([](linalg::GenericOp op) {
      if (!isVectorizable(op))
        return;
      OpBuilder builder(op);
      RowReduction(op, builder);
      op.erase();
    });
  }
};

} // namespace
} // namespace cgx
