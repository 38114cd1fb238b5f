//===-- WarnOfRepeatedSums.cpp - Gradients that are summed twice ----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankDivision.h"
#include "Replication.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"

namespace cgx {
#define GEN_PASS_DEF_WARNOFREPEATEDSUMSPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

bool isSum(CollectiveOpInterface op) {
  return isa<AllReduceOp>(op) && (op.getReductionKind() == Reduction::Sum);
}

/// Returns the sum over the same groups that the elements of `value` come from, through ops that keep their
/// number; null if there is none.
Value findEarlierSum(Value value, GroupsAttr groups) {
  auto countOf = [](Value of) {
    auto type = dyn_cast<RankedTensorType>(of.getType());
    return type && type.hasStaticShape() ? type.getNumElements() : -1;
  };
  const int64_t count = countOf(value);
  llvm::SetVector<Value> worklist;
  worklist.insert(value);
  for (size_t i = 0; i < worklist.size(); ++i) {
    auto result = dyn_cast<OpResult>(worklist[i]);
    if (!result)
      continue;
    if (auto collective = dyn_cast<CollectiveOpInterface>(result.getOwner())) {
      if (isSum(collective) && collective.getGroups() == groups)
        return collective.getInputs()[result.getResultNumber()];
      continue;
    }
    for (Value operand : result.getOwner()->getOperands())
      if (countOf(operand) == count)
        worklist.insert(operand);
  }
  return {};
}

struct WarnOfRepeatedSums : impl::WarnOfRepeatedSumsPassBase<WarnOfRepeatedSums> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    found.clear();
    // A declaration that is untrue costs a warning that is, too.
    Replication replication(getOperation(), Replication::Believed::Declared);
    getOperation().walk([&](CollectiveOpInterface collective) {
      if (!isSum(collective))
        return;
      std::optional<int64_t> size = collective.getGroups().getUniformSize();
      for (auto [i, input] : llvm::enumerate(collective.getInputs()))
        if (size && *size > 1 && collective.getLayer(i).getKind() == LayerKind::Gradient &&
            replication.isReplicatedOver(input, collective.getGroups()))
          if (Value summed = findEarlierSum(input, collective.getGroups()))
            if (getScalarDivisions(summed, static_cast<double>(*size)).empty())
              found.push_back({collective, static_cast<unsigned>(i)});
    });
    if (!found.empty())
      warn();
  }

private:
  void warn() {
    auto [collective, operand] = found.front();
    int64_t size = *collective.getGroups().getUniformSize();
    Value result = collective.getResultTensors()[operand];
    bool isMean = llvm::any_of(result.getUsers(), [&](Operation *user) {
      return getDivisionBy(user, static_cast<double>(size)).has_value();
    });
    InFlightDiagnostic warning = mlir::emitWarning(collective.getLoc());
    warning << "layer '" << collective.getLayer(operand).getName() << "'";
    if (found.size() > 1)
      warning << " and " << found.size() - 1 << " more";
    if (isMean)
      warning << ": the mean over " << size
              << " ranks is taken of a sum over them, which it leaves as it is: "
              << "the gradient is " << size << " times the mean";
    else
      warning << ": the sum over " << size << " ranks is taken of a sum over them: the gradient is " << size
              << " times the sum";
    warning << "; under shard_map(check_vma=True) autodiff has summed already: average the loss with "
               "lax.pmean inside of what is differentiated, in place of the gradients";
  }

  SmallVector<std::pair<CollectiveOpInterface, unsigned>> found;
};

} // namespace
} // namespace cgx
