//===-- LabelLayers.cpp - which parameter a collective is for ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeptElements.h"
#include "PerRankForm.h"
#include "StepDataFlow.h"
#include "StepState.h"
#include "cgx/Passes/Import.h"

namespace cgx {
#define GEN_PASS_DEF_LABELLAYERSPASS
#include "cgx/Passes/Import.h.inc"
} // namespace cgx

using namespace mlir;
using namespace cgx;

namespace {
/// What an exchange was found to be for. Without a name it may still become an
/// activation.
struct Finding {
  LayerKind kind = LayerKind::Other;
  std::string name;
  DenseI64ArrayAttr shape; // Null where there is none.
};

class LayerLabeler {
public:
  explicit LayerLabeler(func::FuncOp step) : step(step), state(step), flow(step) {
    terminator = step.getBody().front().getTerminator();
    for (unsigned i = 0; i < state.getArgumentCount(); ++i)
      hasUpdates |= isUpdated(i) && state.getFloatType(i) && state.getFloatType(i).getRank() > 0;
  }

  void run() {
    MutableArrayRef<Exchange> exchanges = flow.getExchanges();
    SmallVector<Finding> findings;
    for (unsigned i = 0; i < exchanges.size(); ++i)
      findings.push_back(findParameter(i));
    // What an activation is depends on what the gradients are.
    for (unsigned i = 0; i < exchanges.size(); ++i)
      if (findings[i].kind == LayerKind::Other && isActivation(i, findings))
        findings[i].kind = LayerKind::Activation;
    for (unsigned i = 0; i < exchanges.size();) {
      CollectiveOpInterface collective = exchanges[i].collective;
      SmallVector<Attribute> layers;
      for (Attribute layer : collective.getLayers()) {
        const Finding &finding = findings[i++];
        bool isLabelled = !cast<LayerAttr>(layer).getName().empty();
        layers.push_back(isLabelled
                             ? layer
                             : LayerAttr::get(step.getContext(), finding.name, finding.kind, finding.shape));
      }
      collective.setLayersAttr(ArrayAttr::get(step.getContext(), layers));
    }
  }

private:
  //===--------------------------------------------------------------------===//
  // Gradients and weights
  //===--------------------------------------------------------------------===//

  Finding findParameter(unsigned i) {
    Exchange &exchange = flow.getExchanges()[i];
    auto type = getStaticFloatTensor(exchange.getResult().getType());
    if (!type || !getStaticFloatTensor(exchange.getInput().getType()))
      return {};
    if (!exchange.collective.getReductionKind())
      if (std::optional<unsigned> parameter = findMovedParameter(i))
        return makeFinding(*parameter, LayerKind::Weight);
    SmallVector<unsigned> reached = getReachedArguments(i);
    // A reduce_scatter makes a piece; the parameter may be kept in pieces (FSDP)
    // or whole (ZeRO).
    int64_t given = cast<RankedTensorType>(exchange.getInput().getType()).getNumElements();
    SmallVector<unsigned> sameSize;
    llvm::copy_if(reached, std::back_inserter(sameSize), [&](unsigned argument) {
      int64_t count = state.getFloatType(argument).getNumElements();
      return count == type.getNumElements() || count == given;
    });
    if (sameSize.empty())
      return findFlattenedParameters(i, reached);
    std::optional<unsigned> parameter = findUpdatedParameter(i, sameSize);
    if (!parameter)
      return {};
    return makeFinding(*parameter,
                       isAveragedParameter(i, *parameter) ? LayerKind::Weight : LayerKind::Gradient);
  }

  Finding makeFinding(unsigned parameter, LayerKind kind) {
    return {kind, state.getPath(parameter).getLayerName(),
            DenseI64ArrayAttr::get(step.getContext(), state.getParameterShape(parameter))};
  }

  /// The state of floating-point numbers that takes elements of an exchange.
  SmallVector<unsigned> getReachedArguments(unsigned exchange) {
    SmallVector<unsigned> arguments;
    for (unsigned result : flow.getReachedResults(flow.getSource(exchange)).set_bits())
      if (std::optional<unsigned> argument = state.getFedArgument(result);
          argument && state.getFloatType(*argument))
        arguments.push_back(*argument);
    llvm::sort(arguments);
    return arguments;
  }

  std::optional<unsigned> preferCalledParameter(ArrayRef<unsigned> candidates) {
    if (candidates.empty())
      return std::nullopt;
    const unsigned *called =
        llvm::find_if(candidates, [&](unsigned argument) { return state.isCalledParameter(argument); });
    return called == candidates.end() ? candidates.front() : *called;
  }

  /// An op that moves data (all_gather, permute, ...) moves a parameter when its
  /// operand keeps elements of one. The moments are kept too where the updated
  /// parameter is gathered (ZeRO): then the result goes on to the parameter.
  std::optional<unsigned> findMovedParameter(unsigned i) {
    BitVector kept = flow.getKeptSources(flow.getExchanges()[i].getInput());
    SmallVector<unsigned> candidates;
    for (unsigned argument = 0; argument < state.getArgumentCount(); ++argument)
      if (kept[argument] && state.getFloatType(argument) &&
          (state.isState(argument) || state.isCalledParameter(argument)))
        candidates.push_back(argument);
    SmallVector<unsigned> both;
    llvm::copy_if(getReachedArguments(i), std::back_inserter(both),
                  [&](unsigned argument) { return llvm::is_contained(candidates, argument); });
    return preferCalledParameter(both.empty() ? candidates : both);
  }

  /// The next value of an argument keeps elements of the value before.
  bool isUpdated(unsigned argument) {
    std::optional<unsigned> result = state.getFeedingResult(argument);
    return result && flow.getReachedResults(argument)[*result];
  }

  /// Among the state that takes an exchange's elements, which has the parameter's
  /// number of elements: parameter, moments, averages.
  std::optional<unsigned> findUpdatedParameter(unsigned i, ArrayRef<unsigned> reached) {
    Value input = flow.getExchanges()[i].getInput();
    // Gradients are computed with the parameters, never with the moments. State
    // that is replaced rather than updated (an activation carried to the next
    // step) is no parameter, unless the step updates nothing and returns gradients.
    SmallVector<unsigned> candidates;
    llvm::copy_if(reached, std::back_inserter(candidates), [&](unsigned argument) {
      return flow.dependsOn(input, argument) && (isUpdated(argument) || !hasUpdates);
    });
    if (!candidates.empty())
      return preferCalledParameter(candidates);

    // Only moments or an accumulator take it place by place, and the parameter
    // in another way (orthogonalized updates, an optimizer in another function):
    // their paths end like the parameter's.
    for (unsigned argument : reached)
      if (std::optional<unsigned> parameter = findNamesake(input, argument))
        return parameter;

    // The loss is linear in the parameter, so that its gradient does not depend
    // on it: go by the name, or by `parameter - step`. Statistics, which the
    // step itself computes with, never are gradients.
    if (isUsedByGradients(i))
      return std::nullopt;
    for (unsigned argument : reached)
      if (state.isCalledParameter(argument) || isDescent(argument))
        return argument;
    return std::nullopt;
  }

  std::optional<unsigned> findNamesake(Value input, unsigned argument) {
    std::optional<unsigned> best;
    unsigned longest = 0;
    for (unsigned other = 0; other < state.getArgumentCount(); ++other) {
      unsigned suffix = state.getCommonSuffix(argument, other);
      if (other == argument || suffix <= longest ||
          state.getFloatType(other) != state.getFloatType(argument) || !flow.dependsOn(input, other))
        continue;
      best = other;
      longest = suffix;
    }
    return best;
  }

  /// The next value is the value itself minus something.
  bool isDescent(unsigned argument) {
    Operation *update = terminator->getOperand(*state.getFeedingResult(argument)).getDefiningOp();
    return update && update->getName().getStringRef() == "stablehlo.subtract" &&
           update->getOperand(0) == step.getArgument(argument) && state.getFloatType(argument).getRank() > 0;
  }

  /// Whether other exchanges are computed from this one's result, other than by
  /// passing its elements on.
  bool isUsedByGradients(unsigned i) {
    for (auto [j, other] : llvm::enumerate(flow.getExchanges())) {
      auto type = getStaticFloatTensor(other.getInput().getType());
      if (j != i && type && type.getRank() > 0 && flow.dependsOn(other.getInput(), flow.getSource(i)) &&
          !flow.getKeptSources(other.getInput())[flow.getSource(i)])
        return true;
    }
    return false;
  }

  /// The parameter itself is averaged (local SGD): its elements go to its next
  /// value through the collective only, while a gradient meets them behind it.
  bool isAveragedParameter(unsigned i, unsigned parameter) {
    std::optional<unsigned> result = state.getFeedingResult(parameter);
    if (!result || !flow.getKeptSources(flow.getExchanges()[i].getInput())[parameter])
      return false;
    const BitVector &around = flow.getSources(terminator->getOperand(*result)).kept;
    return parameter >= around.size() || !around[parameter];
  }

  /// Gradients that were put into one buffer: named by what their parameters'
  /// paths have in common.
  Finding findFlattenedParameters(unsigned i, ArrayRef<unsigned> reached) {
    Value input = flow.getExchanges()[i].getInput();
    SmallVector<unsigned> parameters;
    llvm::copy_if(reached, std::back_inserter(parameters),
                  [&](unsigned argument) { return flow.dependsOn(input, argument) && isUpdated(argument); });
    if (parameters.empty())
      return {};
    if (parameters.size() == 1)
      return makeFinding(parameters.front(), LayerKind::Gradient);
    TreePath common = state.getPath(parameters.front());
    for (unsigned argument : parameters) {
      ArrayRef<TreeKey> keys = state.getPath(argument).keys;
      size_t length = 0;
      while (length < std::min(keys.size(), common.keys.size()) && keys[length] == common.keys[length])
        ++length;
      common.keys.truncate(length);
    }
    return {LayerKind::Gradient, common.getLayerName(), {}};
  }

  //===--------------------------------------------------------------------===//
  // Activations
  //===--------------------------------------------------------------------===//

  bool isActivation(unsigned i, ArrayRef<Finding> findings) {
    Exchange &exchange = flow.getExchanges()[i];
    auto type = getStaticFloatTensor(exchange.getInput().getType());
    if (!type || type.getRank() == 0 || !dependsOnData(exchange.getInput()))
      return false;
    // Sums of partial products are activations; sums and maxima of statistics
    // (means, variances, softmax denominators) are not.
    if (std::optional<Reduction> reduction = exchange.collective.getReductionKind())
      if ((*reduction != Reduction::Sum && *reduction != Reduction::Mean) ||
          !isMadeByContraction(exchange.getInput()))
        return false;
    unsigned source = flow.getSource(i);
    for (auto [other, finding] : llvm::zip_equal(flow.getExchanges(), findings))
      if (finding.kind == LayerKind::Gradient && flow.dependsOn(other.getInput(), source))
        return true;
    return isUsedByResults(source, findings);
  }

  bool dependsOnData(Value value) {
    for (unsigned argument = 0; argument < state.getArgumentCount(); ++argument)
      if (!state.isState(argument) && flow.dependsOn(value, argument))
        return true;
    return false;
  }

  /// Without gradients that are exchanged, an activation is what the next state
  /// depends on; in a step without state, what any result depends on, but not what
  /// is a result itself (a gradient of a step without names).
  bool isUsedByResults(unsigned source, ArrayRef<Finding> findings) {
    if (llvm::any_of(findings, [](const Finding &finding) { return finding.kind == LayerKind::Gradient; }))
      return false;
    bool hasState =
        llvm::any_of(llvm::seq(state.getArgumentCount()), [&](unsigned i) { return state.isState(i); });
    if (!hasState && flow.getReachedResults(source).any())
      return false;
    for (auto [i, value] : llvm::enumerate(terminator->getOperands()))
      if ((!hasState || state.getFedArgument(i)) && flow.dependsOn(value, source))
        return true;
    return false;
  }

  func::FuncOp step;
  StepState state;
  StepDataFlow flow;
  Operation *terminator;
  /// The step updates some state, as opposed to returning gradients.
  bool hasUpdates = false;
};

struct LabelLayersPass : cgx::impl::LabelLayersPassBase<LabelLayersPass> {
  void runOnOperation() final {
    func::FuncOp step = findStep(getOperation());
    if (!step)
      return signalPassFailure();
    LayerLabeler(step).run();
  }
};
} // namespace
