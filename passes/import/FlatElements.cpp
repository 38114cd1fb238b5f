//===-- FlatElements.cpp - runs of a tensor's elements -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FlatElements.h"

#include "LinearMaps.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace cgx;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static RankedTensorType getStaticTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type : RankedTensorType();
}

FlatRange cgx::getWholeRange(Value value) {
  return {0, cast<RankedTensorType>(value.getType()).getNumElements()};
}

/// Returns the run of elements that a box of `sizes` at `starts` is in a tensor of `shape`: all dimensions
/// behind the first one that is larger than 1 are whole.
static std::optional<FlatRange> getBoxRange(ArrayRef<int64_t> shape, ArrayRef<int64_t> starts,
                                            ArrayRef<int64_t> sizes) {
  int64_t begin = 0, count = 1;
  bool mustBeWhole = false;
  for (auto [size, start, length] : llvm::zip_equal(shape, starts, sizes)) {
    if (mustBeWhole && length != size)
      return std::nullopt;
    mustBeWhole |= length > 1;
    begin = begin * size + start;
    count *= length;
  }
  return FlatRange{begin, begin + count};
}

/// Returns constant start indices, clamped so that `sizes` fit.
static std::optional<SmallVector<int64_t>> getStarts(ValueRange indices, ArrayRef<int64_t> shape,
                                                     ArrayRef<int64_t> sizes, RankValues &values) {
  SmallVector<int64_t> starts;
  for (auto [index, whole, size] : llvm::zip_equal(indices, shape, sizes)) {
    const RankValues::Integers *integers = values.get(index);
    if (!integers || !integers->isUniform())
      return std::nullopt;
    starts.push_back(std::clamp<int64_t>(*values.getScalar(index, 0), 0, whole - size));
  }
  return starts;
}

std::optional<FlatRange> cgx::getSlicedRange(Operation *op, RankValues &values) {
  if (!isa<stablehlo::SliceOp, stablehlo::DynamicSliceOp>(op))
    return std::nullopt;
  RankedTensorType from = getStaticTensor(op->getOperand(0)), to = getStaticTensor(op->getResult(0));
  if (!from || !to || to.getNumElements() == 0)
    return std::nullopt;
  if (auto slice = dyn_cast<stablehlo::SliceOp>(op)) {
    bool isDense = llvm::all_of(slice.getStrides(), [](int64_t stride) { return stride == 1; });
    return isDense ? getBoxRange(from.getShape(), slice.getStartIndices(), to.getShape()) : std::nullopt;
  }
  std::optional<SmallVector<int64_t>> starts =
      getStarts(op->getOperands().drop_front(), from.getShape(), to.getShape(), values);
  return starts ? getBoxRange(from.getShape(), *starts, to.getShape()) : std::nullopt;
}

bool cgx::isElementByElement(Operation *op) {
  return op->getNumResults() == 1 && op->getNumOperands() > 0 &&
         (op->hasTrait<OpTrait::Elementwise>() || isa<stablehlo::SelectOp, stablehlo::ClampOp>(op)) &&
         getStaticTensor(op->getResult(0));
}

bool cgx::isZeroSplat(Value value) {
  if (auto convert = value.getDefiningOp<stablehlo::ConvertOp>())
    return isZeroSplat(convert.getOperand());
  Value splat = getSplat(value);
  if (splat && splat != value)
    return isZeroSplat(splat);
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

Value cgx::reshapeTo(OpBuilder &builder, Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape)
    return value;
  return stablehlo::ReshapeOp::create(builder, value.getLoc(), type.clone(shape), value);
}

Value cgx::concatenateFlat(OpBuilder &builder, Location location, ValueRange values) {
  int64_t count = 0;
  SmallVector<Value> vectors;
  for (Value value : values) {
    vectors.push_back(reshapeTo(builder, value, getWholeRange(value).end));
    count += getWholeRange(value).size();
  }
  if (vectors.size() == 1)
    return vectors[0];
  auto type = RankedTensorType::get(count, getElementTypeOrSelf(vectors[0]));
  return stablehlo::ConcatenateOp::create(builder, location, type, vectors, /*dimension=*/0);
}

//===----------------------------------------------------------------------===//
// From a value to its slices
//===----------------------------------------------------------------------===//

/// Returns the shape that the only user of a vector gives it, if it has dimensions.
static ArrayRef<int64_t> getNextShape(Value vector) {
  auto reshape = vector.hasOneUse() ? dyn_cast<stablehlo::ReshapeOp>(*vector.user_begin()) : nullptr;
  auto type = reshape ? getStaticTensor(reshape.getResult()) : RankedTensorType();
  return type && type.getRank() > 1 ? type.getShape() : ArrayRef<int64_t>();
}

SlicedFlow cgx::followToSlices(Value root, RankValues &values) {
  SlicedFlow flow;
  Block *block = root.getParentBlock();
  llvm::DenseSet<Value> seen{root};
  SmallVector<std::pair<Value, FlatRange>> worklist{{root, getWholeRange(root)}};
  while (!worklist.empty()) {
    auto [value, range] = worklist.pop_back_val();
    for (Operation *user : value.getUsers()) {
      if (user->getBlock() != block || user->getNumResults() != 1 || !getStaticTensor(user->getResult(0)))
        continue;
      Value result = user->getResult(0);
      std::optional<FlatRange> sliced = getSlicedRange(user, values);
      bool isInPlace = (isa<stablehlo::ReshapeOp>(user) || isElementByElement(user)) &&
                       getWholeRange(result).size() == range.size();
      if ((!sliced && !isInPlace) || !seen.insert(result).second)
        continue;
      if (sliced)
        flow.slices.push_back({user, sliced->shiftedBy(range.begin), getNextShape(result)});
      else
        flow.ops.insert(user);
      worklist.push_back({result, sliced ? flow.slices.back().range : range});
    }
  }
  return flow;
}

//===----------------------------------------------------------------------===//
// Taking elements
//===----------------------------------------------------------------------===//

Value ElementTaker::take(Value value, FlatRange range, const llvm::SetVector<Operation *> &ops) {
  onTheWay = &ops;
  return take(value, range);
}

Value ElementTaker::take(Value value, FlatRange range) {
  auto &known = taken[value];
  if (auto found = known.find(range); found != known.end())
    return found->second;
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  Value made = joinTaken(builder, value, range);
  if (!made)
    made = make(builder, value, range);
  taken[value][range] = made; // the map may have moved its values
  return made;
}

/// Runs that were taken before, if they make up the range.
Value ElementTaker::joinTaken(OpBuilder &builder, Value value, FlatRange range) {
  SmallVector<Value> runs;
  int64_t end = range.begin;
  for (auto &[run, made] : taken[value])
    if (run.begin == end && run.end <= range.end) {
      end = run.end;
      runs.push_back(made);
    }
  Operation *last = value.getDefiningOp();
  if (end != range.end || runs.size() < 2 || !last)
    return {};
  for (Value run : runs)
    if (Operation *made = run.getDefiningOp();
        made && made->getBlock() == last->getBlock() && last->isBeforeInBlock(made))
      last = made;
  builder.setInsertionPointAfter(last);
  return concatenateFlat(builder, value.getLoc(), runs);
}

Value ElementTaker::make(OpBuilder &builder, Value value, FlatRange range) {
  Operation *op = value.getDefiningOp();
  if (auto reshape = dyn_cast_or_null<stablehlo::ReshapeOp>(op))
    return take(reshape.getOperand(), range);
  Value made;
  if (op && op->getNumResults() == 1 && !getSplat(value)) {
    std::optional<FlatRange> sliced = getSlicedRange(op, values);
    if (sliced)
      made = take(op->getOperand(0), range.shiftedBy(sliced->begin));
    else if (isa<stablehlo::ConcatenateOp>(op))
      made = takeOfParts(builder, op, range);
    else if (isa<stablehlo::PadOp>(op))
      made = takeOfPadded(builder, op, range);
    else if (isa<stablehlo::DynamicUpdateSliceOp>(op))
      made = takeOfUpdated(op, range);
    else if (isElementByElement(op) && (value.hasOneUse() || onTheWay->contains(op)))
      made = takeOfElementwise(builder, op, range);
  }
  if (made)
    return made;
  if (range == getWholeRange(value))
    return value;
  auto type = RankedTensorType::get(range.size(), getElementTypeOrSelf(value));
  if (getSplat(value))
    return reshapeSplat(builder, value, type);
  Value vector = reshapeTo(builder, value, getWholeRange(value).end);
  return stablehlo::SliceOp::create(builder, value.getLoc(), type, vector, ArrayRef<int64_t>{range.begin},
                                    ArrayRef<int64_t>{range.end}, ArrayRef<int64_t>{1});
}

/// Takes a run from concatenated parts that lie one after the other in memory, and concatenates them along
/// the first dimension that is not 1.
Value ElementTaker::takeOfParts(OpBuilder &builder, Operation *op, FlatRange range) {
  auto concatenate = cast<stablehlo::ConcatenateOp>(op);
  RankedTensorType type = getStaticTensor(concatenate.getResult());
  if (!type || !llvm::all_of(type.getShape().take_front(concatenate.getDimension()),
                             [](int64_t size) { return size == 1; }))
    return {};
  SmallVector<Value> parts;
  int64_t begin = 0;
  for (Value input : concatenate.getInputs()) {
    FlatRange part = getWholeRange(input).shiftedBy(begin);
    if (!part.isDisjointFrom(range)) {
      FlatRange shared{std::max(part.begin, range.begin), std::min(part.end, range.end)};
      parts.push_back(take(input, shared.shiftedBy(-begin)));
    }
    begin = part.end;
  }
  return parts.size() == 1 ? parts[0] : concatenateFlat(builder, op->getLoc(), parts);
}

Value ElementTaker::takeOfPadded(OpBuilder &builder, Operation *op, FlatRange range) {
  auto pad = cast<stablehlo::PadOp>(op);
  RankedTensorType type = getStaticTensor(pad.getResult()), inner = getStaticTensor(pad.getOperand());
  bool addsAtEdges = llvm::all_of(pad.getInteriorPadding(), [](int64_t amount) { return amount == 0; }) &&
                     llvm::all_of(pad.getEdgePaddingLow(), [](int64_t amount) { return amount >= 0; }) &&
                     llvm::all_of(pad.getEdgePaddingHigh(), [](int64_t amount) { return amount >= 0; });
  if (!type || !inner || !addsAtEdges || inner.getNumElements() == 0)
    return {};
  std::optional<FlatRange> place = getBoxRange(type.getShape(), pad.getEdgePaddingLow(), inner.getShape());
  if (place && place->contains(range))
    return take(pad.getOperand(), range.shiftedBy(-place->begin));
  if (place && place->isDisjointFrom(range))
    return reshapeSplat(builder, pad.getPaddingValue(),
                        RankedTensorType::get(range.size(), type.getElementType()));
  return {};
}

Value ElementTaker::takeOfUpdated(Operation *op, FlatRange range) {
  auto update = cast<stablehlo::DynamicUpdateSliceOp>(op);
  RankedTensorType type = getStaticTensor(update.getResult()), part = getStaticTensor(update.getUpdate());
  if (!type || !part || part.getNumElements() == 0)
    return {};
  std::optional<SmallVector<int64_t>> starts =
      getStarts(update.getStartIndices(), type.getShape(), part.getShape(), values);
  std::optional<FlatRange> place =
      starts ? getBoxRange(type.getShape(), *starts, part.getShape()) : std::nullopt;
  if (place && place->contains(range))
    return take(update.getUpdate(), range.shiftedBy(-place->begin));
  if (place && place->isDisjointFrom(range))
    return take(update.getOperand(), range);
  return {};
}

Value ElementTaker::takeOfElementwise(OpBuilder &builder, Operation *op, FlatRange range) {
  SmallVector<Value> operands;
  std::optional<SmallVector<int64_t>> shape;
  for (Value operand : op->getOperands()) {
    operands.push_back(getSplat(operand) ? Value() : take(operand, range));
    if (!operands.back())
      continue;
    auto made = llvm::to_vector(cast<RankedTensorType>(operands.back().getType()).getShape());
    shape = !shape || *shape == made ? made : SmallVector<int64_t>{range.size()};
  }
  if (!shape)
    return {};
  IRMapping mapping;
  bool changes = false;
  for (auto [operand, made] : llvm::zip_equal(op->getOperands(), operands)) {
    auto type = RankedTensorType::get(*shape, getElementTypeOrSelf(operand));
    mapping.map(operand, made ? reshapeTo(builder, made, *shape) : reshapeSplat(builder, operand, type));
    changes |= mapping.lookup(operand) != operand;
  }
  if (!changes)
    return op->getResult(0);
  Operation *copy = builder.clone(*op, mapping);
  copy->getResult(0).setType(RankedTensorType::get(*shape, getElementTypeOrSelf(op->getResult(0))));
  return copy->getResult(0);
}
