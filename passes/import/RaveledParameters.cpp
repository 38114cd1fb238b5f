//===-- RaveledParameters.cpp - parameters in one vector ------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Passes/RaveledParameters.h"

#include "StepState.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/RegionFlow.h"

#include "llvm/ADT/DenseSet.h"

#include <algorithm>
#include <set>

using namespace mlir;
using namespace cgx;

namespace {

int64_t countDimensions(ArrayRef<int64_t> shape) {
  return llvm::count_if(shape, [](int64_t size) { return size != 1; });
}

/// Follows the elements of a vector to the matrices that a step makes of them, but not into vectors that are
/// shared with others.
class MatricesOf {
public:
  explicit MatricesOf(Value vector) {
    push(vector, 0);
    while (!worklist.empty()) {
      auto [value, begin] = worklist.pop_back_val();
      for (OpOperand &use : value.getUses())
        visit(use, begin);
    }
  }

  /// Counts elements by the rank of their parameters; everything that is no matrix has rank 1.
  std::map<int64_t, int64_t> count() const {
    std::map<int64_t, int64_t> elements;
    int64_t rest = longest;
    for (auto [begin, size, rank] : matrices) {
      elements[rank] += size;
      rest -= size;
    }
    elements[1] += std::max<int64_t>(rest, 0);
    return elements;
  }

private:
  void push(Value value, int64_t begin) {
    RankedTensorType type = getStaticFloatTensor(value.getType());
    if (!type || !seen.insert(value).second)
      return;
    longest = std::max(longest, type.getNumElements());
    worklist.push_back({value, begin});
  }

  /// Visits a use; `begin` is the place of the first element that is used.
  void visit(OpOperand &use, int64_t begin) {
    Operation *op = use.getOwner();
    if (isa<AllGatherOp, stablehlo::OptimizationBarrierOp>(op)) {
      push(op->getResult(use.getOperandNumber()), begin);
    } else if (auto slice = dyn_cast<stablehlo::SliceOp>(op)) {
      bool isVector = countDimensions(slice.getOperand().getType().getShape()) == 1;
      push(slice.getResult(), begin + (isVector ? *llvm::max_element(slice.getStartIndices()) : 0));
    } else if (isa<stablehlo::ConvertOp, stablehlo::DynamicSliceOp>(op)) {
      push(op->getResult(0), begin);
    } else if (isa<stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp>(op)) {
      visitShape(use.get(), op->getResult(0), begin);
    } else {
      for (Value passed : getOutgoingValues(use))
        if (isa<BlockArgument>(passed))
          push(passed, begin);
    }
  }

  void visitShape(Value from, Value to, int64_t begin) {
    RankedTensorType before = getStaticFloatTensor(from.getType());
    RankedTensorType after = getStaticFloatTensor(to.getType());
    if (!before || !after || before.getNumElements() != after.getNumElements())
      return;
    if (int64_t rank = countDimensions(after.getShape()); rank > 1)
      matrices.insert({begin, after.getNumElements(), rank});
    else
      push(to, begin);
  }

  SmallVector<std::pair<Value, int64_t>> worklist;
  llvm::DenseSet<Value> seen;
  int64_t longest = 0; ///< of the vectors: what is gathered has all elements
  std::set<std::tuple<int64_t, int64_t, int64_t>> matrices; ///< first element, elements, rank; a step may
                                                            ///< read one of them twice
};

} // namespace

RaveledParameters::RaveledParameters(func::FuncOp step) {
  if (step.isExternal())
    return;
  StepState state(step);
  for (unsigned i = 0; i < state.getArgumentCount(); ++i) {
    if (!state.isState(i) || !state.getFloatType(i))
      continue;
    ArrayRef<int64_t> shape = state.getParameterShape(i);
    const TreePath &path = state.getPath(i);
    Elements elements;
    const bool isVector = shape.size() == 1;
    if (isVector)
      elements = MatricesOf(step.getArgument(i)).count();
    else
      elements[static_cast<int64_t>(shape.size())] = state.getFloatType(i).getNumElements();
    parameters.push_back({path.root, path.getLayerName(), isVector, std::move(elements)});
  }
}

std::optional<int64_t> RaveledParameters::getRank(StringRef layer) const {
  if (layer.empty()) // not known
    return std::nullopt;
  Elements elements;
  for (const Parameter &parameter : parameters)
    if (parameter.root == layer || (parameter.name == layer && parameter.isVector) ||
        StringRef(parameter.name).starts_with((layer + "/").str()))
      for (auto [rank, count] : parameter.elements)
        elements[rank] += count;
  if (elements.empty())
    return std::nullopt;
  return llvm::max_element(elements, [](auto a, auto b) { return a.second < b.second; })->first;
}
