//===-- StackedLayers.cpp - parameters that are stacks of layers ----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StackedLayers.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace cgx;

StackedLayers::StackedLayers(func::FuncOp step, const StepDataFlow &flow, const StepState &state)
    : flow(flow), state(state) {
  step.walk([&](Operation *op) { visit(op); });
}

unsigned StackedLayers::getDepth(unsigned argument) const {
  ArrayRef<int64_t> shape = state.getParameterShape(argument);
  unsigned depth = 0;
  for (auto [i, size] : llvm::enumerate(shape)) {
    Dimension dimension(argument, i);
    auto read = pieces.find(dimension);
    bool isStack = counted.contains(dimension) ||
                   (read != pieces.end() && static_cast<int64_t>(read->second.size()) == size);
    if (!isStack || size < 2 || whole.contains(dimension))
      break;
    ++depth;
  }
  return depth;
}

void StackedLayers::visit(Operation *op) {
  if (isa<stablehlo::DynamicSliceOp>(op))
    visitDynamicSlice(op);
  else if (isa<stablehlo::SliceOp>(op))
    visitSlice(op);
  else if (isa<stablehlo::DotGeneralOp, stablehlo::DotOp, stablehlo::ConvolutionOp, stablehlo::GatherOp>(op))
    visitReader(op);
}

void StackedLayers::forEachFirstDimension(Value value, function_ref<void(Dimension)> visit) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() == 0)
    return;
  flow.getSets().forEach(flow.getSources(value).kept, [&](unsigned source) {
    if (source >= flow.getArgumentCount() || !state.getNumberType(source))
      return;
    ArrayRef<int64_t> shape = state.getParameterShape(source);
    int64_t dimension = static_cast<int64_t>(shape.size()) - type.getRank();
    if (dimension >= 0 && shape[dimension] == type.getDimSize(0))
      visit({source, dimension});
  });
}

/// Returns whether an op takes one piece of the first dimension, and all of the others.
static bool isPiece(Operation *op) {
  auto from = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto to = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return from && to && from.getRank() > 0 && from.getDimSize(0) > 1 && to.getDimSize(0) == 1 &&
         from.getShape().drop_front() == to.getShape().drop_front();
}

static bool isInLoop(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    if (isa<stablehlo::WhileOp, LoopLikeOpInterface>(parent))
      return true;
  return false;
}

/// Visits a slice at a start that a loop counts: only such a start is computed from no argument and is no
/// constant.
void StackedLayers::visitDynamicSlice(Operation *op) {
  if (!isPiece(op) || op->getNumOperands() < 2)
    return;
  Value start = op->getOperand(1);
  DenseIntElementsAttr constant;
  if (matchPattern(start, m_Constant(&constant)) && constant.isSplat()) {
    int64_t position = constant.getSplatValue<APInt>().getSExtValue();
    forEachFirstDimension(op->getOperand(0), [&](Dimension d) { pieces[d].insert(position); });
  } else if (isInLoop(op) && flow.getSources(start).any == 0) {
    forEachFirstDimension(op->getOperand(0), [&](Dimension d) { counted.insert(d); });
  }
}

void StackedLayers::visitSlice(Operation *op) {
  auto slice = cast<stablehlo::SliceOp>(op);
  if (!isPiece(op))
    return;
  int64_t position = slice.getStartIndices().front();
  forEachFirstDimension(slice.getOperand(), [&](Dimension d) { pieces[d].insert(position); });
}

/// Visits an op that reads an argument. A product that has one matrix for each layer is a product for each
/// layer.
void StackedLayers::visitReader(Operation *op) {
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op)) {
      auto numbers = dot.getDotDimensionNumbers();
      ArrayRef<int64_t> batch =
          i == 0 ? numbers.getLhsBatchingDimensions() : numbers.getRhsBatchingDimensions();
      if (llvm::is_contained(batch, 0))
        continue;
    }
    forEachFirstDimension(operand, [&](Dimension d) { whole.insert(d); });
  }
}
