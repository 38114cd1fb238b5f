//===-- LoopSlices.cpp - The slices that loops read in each trip ----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopSlices.h"

#include <algorithm>
#include <cstdlib>

using namespace mlir;

namespace cgx {
namespace {

/// Returns the value that a barrier only orders.
Value throughBarriers(Value value) {
  while (auto barrier = value.getDefiningOp<stablehlo::OptimizationBarrierOp>())
    value = barrier->getOperand(cast<OpResult>(value).getResultNumber());
  return value;
}

/// Returns whether each trip passes on the carried value of this number unchanged.
bool isPassedOn(stablehlo::WhileOp loop, unsigned number) {
  Block &body = loop.getBody().front();
  return throughBarriers(body.getTerminator()->getOperand(number)) == body.getArgument(number);
}

/// Returns the value that loops pass on as it is, from before them.
Value throughLoops(Value value) {
  while (true) {
    value = throughBarriers(value);
    stablehlo::WhileOp loop;
    unsigned number = 0;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      loop = dyn_cast<stablehlo::WhileOp>(argument.getOwner()->getParentOp());
      number = argument.getArgNumber();
    } else {
      loop = value.getDefiningOp<stablehlo::WhileOp>();
      number = cast<OpResult>(value).getResultNumber();
    }
    if (!loop || !isPassedOn(loop, number))
      return value;
    value = loop.getOperand()[number];
  }
}

/// A number that is the same in each trip, or grows by `slope`.
struct Line {
  int64_t first = 0, slope = 0;
  uint64_t trips = 1;

  int64_t last() const { return first + slope * int64_t(trips - 1); }
  bool isWithin(int64_t low, int64_t high) const {
    return std::min(first, last()) >= low && std::max(first, last()) <= high;
  }
};

/// A bound that is large enough for any index, and small enough that sums of a few do not overflow.
constexpr int64_t kMost = int64_t(1) << 40;
/// An index is a few operations deep: `n - i - 1`, from the end where it is
/// negative.
constexpr unsigned kDeepest = 6;

/// Returns `value` as a linear function of the trips of a loop; nothing where it could wrap around.
std::optional<Line> lineOf(Value value, Block &body, const CountedLoop &loop, unsigned depth = 0) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() != 0 || !type.getElementType().isSignlessInteger() || depth == kDeepest)
    return std::nullopt;
  const int64_t most = std::min(kMost, int64_t((uint64_t(1) << (type.getElementTypeBitWidth() - 1)) - 1));
  auto of = [&](Value operand) { return lineOf(operand, body, loop, depth + 1); };
  std::optional<Line> line;
  if (value == body.getArgument(loop.counter))
    line = Line{loop.begin, 1, loop.trips};
  else if (std::optional<int64_t> constant = getConstantInteger(value))
    line = Line{*constant, 0, loop.trips};
  else if (Operation *op = value.getDefiningOp();
           isa_and_nonnull<stablehlo::AddOp, stablehlo::SubtractOp>(op)) {
    std::optional<Line> left = of(op->getOperand(0)), right = of(op->getOperand(1));
    const int64_t sign = isa<stablehlo::AddOp>(op) ? 1 : -1;
    if (left && right)
      line = Line{left->first + sign * right->first, left->slope + sign * right->slope, loop.trips};
  } else if (auto select = value.getDefiningOp<stablehlo::SelectOp>()) {
    // As in Python, a negative index counts from the end: i < 0 ? i + n : i.
    auto isNegative = select.getPred().getDefiningOp<stablehlo::CompareOp>();
    std::optional<Line> own = of(select.getOnFalse());
    if (own && isNegative && isNegative.getComparisonDirection() == stablehlo::ComparisonDirection::LT &&
        isNegative.getLhs() == select.getOnFalse() && getConstantInteger(isNegative.getRhs()) == 0 &&
        own->isWithin(0, most))
      line = own;
  }
  if (line && !(line->first >= -kMost && line->first <= kMost && loop.trips <= uint64_t(kMost) &&
                line->isWithin(-most - 1, most)))
    line.reset();
  return line;
}

/// The beginning of a slice in each dimension, and the dimension in which it moves.
struct Start {
  SmallVector<int64_t> constants;
  int64_t moving = -1;
  TripIndex index;
};

std::optional<Start> startOf(stablehlo::DynamicSliceOp slice) {
  Block *body = slice->getBlock();
  auto loop = dyn_cast_or_null<stablehlo::WhileOp>(body->getParentOp());
  std::optional<CountedLoop> counted =
      loop && body == &loop.getBody().front() ? getCountedLoop(loop) : std::nullopt;
  if (!counted || counted->trips == 0)
    return std::nullopt;
  Start start;
  auto shape = cast<RankedTensorType>(slice.getOperand().getType()).getShape();
  for (auto [dim, index] : llvm::enumerate(slice.getStartIndices())) {
    std::optional<Line> line = lineOf(index, *body, *counted);
    // An index out of range is clamped: two trips may then read one slice.
    if (!line || !line->isWithin(0, shape[dim] - slice.getSliceSizes()[dim]))
      return std::nullopt;
    if (line->slope != 0 && (std::abs(line->slope) != 1 || start.moving >= 0))
      return std::nullopt;
    start.constants.push_back(line->slope == 0 ? line->first : 0);
    if (line->slope != 0) {
      start.moving = int64_t(dim);
      start.index = {index, line->first, line->slope < 0, counted->trips};
    }
  }
  if (start.moving < 0)
    return std::nullopt;
  return start;
}

/// Returns whether the result has the bits of the operand, in another place or type.
bool isPlain(Operation *op) {
  return isa<stablehlo::ReshapeOp, stablehlo::ConvertOp, stablehlo::TransposeOp, stablehlo::SliceOp>(op);
}

/// Returns the value that barriers only order, before reshapes that only put ones
/// before its dimensions, or take them away.
Value throughOnes(Value value) {
  value = throughBarriers(value);
  while (auto reshape = value.getDefiningOp<stablehlo::ReshapeOp>()) {
    auto type = dyn_cast<RankedTensorType>(reshape.getType()),
         from = dyn_cast<RankedTensorType>(reshape.getOperand().getType());
    if (!type || !from || !isSameBehindOnes(type, from))
      break;
    value = throughBarriers(reshape.getOperand());
  }
  return value;
}

bool isSameOp(Operation *left, Operation *right) {
  return left->getName() == right->getName() && left->getAttrDictionary() == right->getAttrDictionary() &&
         left->getResultTypes() == right->getResultTypes();
}

/// Returns whether both convert to one type, except for leading dimensions of size 1.
bool isSameConversion(Operation *left, Operation *right) {
  return isa<stablehlo::ConvertOp>(left) && isa<stablehlo::ConvertOp>(right) &&
         isSameBehindOnes(cast<RankedTensorType>(left->getResult(0).getType()),
                          cast<RankedTensorType>(right->getResult(0).getType()));
}

} // namespace

bool isSameBehindOnes(RankedTensorType a, RankedTensorType b) {
  if (a.getRank() < b.getRank())
    std::swap(a, b);
  const size_t more = a.getRank() - b.getRank();
  return a.getElementType() == b.getElementType() && a.getShape().drop_front(more) == b.getShape() &&
         llvm::all_of(a.getShape().take_front(more), [](int64_t size) { return size == 1; });
}

bool isSame(Value a, Value b) {
  a = throughLoops(a);
  b = throughLoops(b);
  if (a == b)
    return true;
  Operation *left = a.getDefiningOp(), *right = b.getDefiningOp();
  return left && right && isPlain(left) && isSameOp(left, right) &&
         isSame(left->getOperand(0), right->getOperand(0));
}

std::optional<TripIndex> getSliceIndex(Value value) {
  value = throughBarriers(value);
  Operation *op = value.getDefiningOp();
  while (op && isPlain(op)) {
    value = throughBarriers(op->getOperand(0));
    op = value.getDefiningOp();
  }
  auto slice = dyn_cast_or_null<stablehlo::DynamicSliceOp>(op);
  std::optional<Start> start = slice ? startOf(slice) : std::nullopt;
  if (!start)
    return std::nullopt;
  return start->index;
}

std::optional<std::pair<TripIndex, TripIndex>> matchSlices(Value a, Value b) {
  while (true) {
    a = throughOnes(a);
    b = throughOnes(b);
    Operation *left = a.getDefiningOp(), *right = b.getDefiningOp();
    if (!left || !right || !(isSameOp(left, right) || isSameConversion(left, right)))
      return std::nullopt;
    if (auto slice = dyn_cast<stablehlo::DynamicSliceOp>(left)) {
      auto other = cast<stablehlo::DynamicSliceOp>(right);
      std::optional<Start> start = startOf(slice), otherStart = startOf(other);
      if (!start || !otherStart || start->moving != otherStart->moving ||
          start->constants != otherStart->constants || !isSame(slice.getOperand(), other.getOperand()))
        return std::nullopt;
      return std::pair(start->index, otherStart->index);
    }
    // Where dimensions of size 1 are ignored, the dimensions of operands may still differ.
    if (!isPlain(left) || (!isa<stablehlo::ConvertOp, stablehlo::ReshapeOp>(left) &&
                           left->getOperand(0).getType() != right->getOperand(0).getType()))
      return std::nullopt;
    a = left->getOperand(0);
    b = right->getOperand(0);
  }
}

} // namespace cgx
