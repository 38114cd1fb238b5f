//===-- LabelLayers.cpp - labels collectives with parameters ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ActivationKinds.h"
#include "ElementShare.h"
#include "KeptElements.h"
#include "LinearMaps.h"
#include "PerRankForm.h"
#include "StackedLayers.h"
#include "StateFeeds.h"
#include "StepDataFlow.h"
#include "StepState.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Import.h"
#include "cgx/Passes/ScatteredRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/MapVector.h"

#include <algorithm>

namespace cgx {
#define GEN_PASS_DEF_LABELLAYERSPASS
#include "cgx/Passes/Import.h.inc"
} // namespace cgx

using namespace mlir;
using namespace cgx;

namespace {
/// The purpose that was found for an exchange. Without a name it may still become an activation.
struct Finding {
  LayerKind kind = LayerKind::Other;
  std::string name = {};
  DenseI64ArrayAttr shape = {}; // null where there is none
  int64_t stacked = 0;
  std::optional<unsigned> parameter = {};
  /// True if the exchange has lost the sign of its operands, so that it is nothing else than a statistic.
  bool isStatistic = false;
};

class LayerLabeler {
public:
  explicit LayerLabeler(func::FuncOp step)
      : step(step), state(step), flow(step, StepDataFlow::Rounds::All), oneRound(followOneRound(step, flow)),
        round(oneRound ? *oneRound : flow), stacks(step, flow, state), rows(step) {
    terminator = step.getBody().front().getTerminator();
    for (unsigned i = 0; i < state.getArgumentCount(); ++i)
      hasUpdates |= isUpdated(i) && state.getNumberType(i) && !state.getParameterShape(i).empty();
  }

  void run() {
    MutableArrayRef<Exchange> exchanges = flow.getExchanges();
    for (unsigned i = 0; i < exchanges.size(); ++i)
      findings.push_back(findParameter(i));
    for (unsigned i = exchanges.size(); i-- > 0;)
      if (findings[i].kind == LayerKind::Other && !findings[i].isStatistic)
        if (std::optional<unsigned> parameter = findMovedPoint(i))
          findings[i] = makeFinding(i, *parameter, LayerKind::Gradient);
    // Gradients must be known before activations can be recognized.
    for (unsigned i = 0; i < exchanges.size(); ++i)
      if (findings[i].kind == LayerKind::Other && !findings[i].isStatistic && isActivation(i))
        findings[i].kind = LayerKind::Activation;
    tellActivationsApart();
    for (unsigned i = 0; i < exchanges.size(); ++i)
      if (findings[i].kind == LayerKind::Other)
        nameStatistic(i);
    numberReductions();
    setLabels();
  }

private:
  static std::optional<StepDataFlow> followOneRound(func::FuncOp step, const StepDataFlow &flow) {
    if (!flow.hasRounds())
      return std::nullopt;
    return StepDataFlow(step, StepDataFlow::Rounds::One);
  }

  bool isLabelled(unsigned i) {
    Exchange &exchange = flow.getExchanges()[i];
    return !exchange.collective.getLayer(exchange.index).getName().empty();
  }

  void setLabels() {
    MutableArrayRef<Exchange> exchanges = flow.getExchanges();
    for (unsigned i = 0; i < exchanges.size();) {
      CollectiveOpInterface collective = exchanges[i].collective;
      SmallVector<Attribute> layers;
      for (Attribute layer : collective.getLayers()) {
        const Finding &finding = findings[i];
        layers.push_back(isLabelled(i++) ? layer
                                         : LayerAttr::get(step.getContext(), finding.name, finding.kind,
                                                          finding.shape, finding.stacked));
      }
      collective.setLayersAttr(ArrayAttr::get(step.getContext(), layers));
    }
  }

  //===--------------------------------------------------------------------===//
  // Gradients and weights
  //===--------------------------------------------------------------------===//

  Finding findParameter(unsigned i) {
    Exchange &exchange = flow.getExchanges()[i];
    auto type = getStaticFloatTensor(exchange.getResult().getType());
    if (!type || !getStaticFloatTensor(exchange.getInput().getType()))
      return {};
    bool isReduction = exchange.collective.getReductionKind().has_value();
    if (!isReduction)
      if (Finding moved = findMovedParameters(i); moved.kind == LayerKind::Weight)
        return moved;
    SmallVector<unsigned> reached = getReachedArguments(i);
    SmallVector<unsigned> signedOnes = getSigned(i, reached);
    bool isStatistic = isReduction && (flow.getSources(exchange.getInput()).signs == ElementSigns::Equal ||
                                       (signedOnes.empty() && !reached.empty()));
    if (isStatistic)
      return {.isStatistic = true};
    if (reached.empty()) {
      if (std::optional<unsigned> parameter = findScatteredParameter(i))
        return makeFinding(i, *parameter, LayerKind::Gradient);
      if (std::optional<unsigned> parameter = findTurnedParameter(i))
        return makeFinding(i, *parameter, LayerKind::Gradient);
      if (SmallVector<unsigned> factors = findFactors(i); !factors.empty())
        return {.kind = LayerKind::Gradient,
                .name = getCommonName(factors),
                .shape = DenseI64ArrayAttr::get(step.getContext(), type.getShape())};
    }
    // A reduce_scatter makes a piece; the parameter may be kept in pieces (FSDP)
    // or whole (ZeRO).
    SmallVector<unsigned> sameSize =
        getIf(signedOnes, [&](unsigned argument) { return findStackedDimensions(i, argument).has_value(); });
    if (sameSize.empty())
      return findFlattenedParameters(i, signedOnes);
    std::optional<unsigned> parameter = findUpdatedParameter(i, sameSize);
    if (!parameter) {
      // A momentum that is called otherwise than its parameter, which takes it through matrix products.
      if (std::optional<unsigned> turned = findTurnedParameter(i))
        return makeFinding(i, *turned, LayerKind::Gradient);
      // Momentum of the same size, and parameters in one vector with others.
      return isUsedByGradients(i) ? Finding() : findFlattenedParameters(i, signedOnes);
    }
    if (isProgress(i))
      return makeFinding(i, *parameter, LayerKind::OuterGradient);
    return makeFinding(i, *parameter,
                       isAveragedParameter(i, *parameter) ? LayerKind::Weight : LayerKind::Gradient);
  }

  /// Returns how many dimensions of a stack of layers an exchange inside its loop lacks, 0 for one of the
  /// whole parameter; nothing for one of another size.
  std::optional<unsigned> findStackedDimensions(unsigned i, unsigned argument) {
    Exchange &exchange = flow.getExchanges()[i];
    int64_t given = cast<RankedTensorType>(exchange.getInput().getType()).getNumElements();
    int64_t made = cast<RankedTensorType>(exchange.getResult().getType()).getNumElements();
    int64_t count = state.getNumberType(argument).getNumElements();
    ArrayRef<int64_t> shape = state.getParameterShape(argument);
    for (unsigned depth = 0; depth <= stacks.getDepth(argument); ++depth) {
      if (count == given || count == made)
        return depth;
      if (depth < shape.size() && shape[depth] != 0)
        count /= shape[depth];
    }
    return std::nullopt;
  }

  Finding makeFinding(unsigned i, unsigned parameter, LayerKind kind) {
    ArrayRef<int64_t> shape = state.getParameterShape(parameter);
    unsigned depth = stacks.getDepth(parameter);
    // An operand of another size is a piece of a flattened buffer, or of a layer that is kept in pieces.
    int64_t rank = cast<RankedTensorType>(flow.getExchanges()[i].getInput().getType()).getRank();
    unsigned lacking =
        findStackedDimensions(i, parameter)
            .value_or(std::clamp<int64_t>(static_cast<int64_t>(shape.size()) - rank, 0, depth));
    return {.kind = kind,
            .name = state.getPath(parameter).getLayerName(),
            .shape = DenseI64ArrayAttr::get(step.getContext(), shape.drop_front(lacking)),
            .stacked = depth - lacking,
            .parameter = parameter};
  }

  template <typename Predicate>
  static SmallVector<unsigned> getIf(ArrayRef<unsigned> arguments, Predicate predicate) {
    SmallVector<unsigned> chosen;
    llvm::copy_if(arguments, std::back_inserter(chosen), predicate);
    return chosen;
  }

  /// Returns the state of floating-point or complex numbers that takes elements of an exchange.
  SmallVector<unsigned> getReachedArguments(unsigned exchange) {
    SmallVector<unsigned> arguments;
    for (unsigned result : flow.getReachedResults(exchange))
      if (std::optional<unsigned> argument = state.getFedArgument(result);
          argument && state.getNumberType(*argument))
        arguments.push_back(*argument);
    llvm::sort(arguments);
    return arguments;
  }

  /// Returns the arguments whose next value keeps elements of an exchange with their signs.
  SmallVector<unsigned> getSigned(unsigned exchange, ArrayRef<unsigned> arguments) {
    unsigned source = flow.getSource(exchange);
    return getIf(arguments, [&](unsigned argument) {
      return flow.reachesWithSigns(source, *state.getFeedingResult(argument));
    });
  }

  /// Drops averages and copies of other candidates: the next value of a target network, of a teacher, or of
  /// an encoder with momentum takes elements of the trained network, which takes none of theirs, though its
  /// gradient is computed from both.
  SmallVector<unsigned> withoutFollowers(ArrayRef<unsigned> candidates) {
    const auto takes = [&](unsigned taker, unsigned from) {
      std::optional<unsigned> result = state.getFeedingResult(taker);
      return result && flow.reaches(from, *result);
    };
    SmallVector<unsigned> leaders = getIf(candidates, [&](unsigned argument) {
      return llvm::none_of(candidates, [&](unsigned other) {
        return other != argument && takes(argument, other) && !takes(other, argument);
      });
    });
    return leaders.empty() ? SmallVector<unsigned>(candidates) : leaders;
  }

  std::optional<unsigned> preferCalledParameter(ArrayRef<unsigned> candidates) {
    if (candidates.empty())
      return std::nullopt;
    const unsigned *called =
        llvm::find_if(candidates, [&](unsigned argument) { return state.isCalledParameter(argument); });
    return called == candidates.end() ? candidates.front() : *called;
  }

  /// Finds the parameters that an op moves (all_gather, permute, ...): its operand keeps elements of them.
  /// The moments are kept too where the updated parameter is gathered (ZeRO): then the result goes on to the
  /// parameter.
  Finding findMovedParameters(unsigned i) {
    SmallVector<unsigned> candidates;
    for (unsigned argument = 0; argument < state.getArgumentCount(); ++argument)
      if (flow.carries(i, argument) && state.getNumberType(argument) &&
          (state.isState(argument) || state.isCalledParameter(argument)))
        candidates.push_back(argument);
    SmallVector<unsigned> both = getIf(
        getReachedArguments(i), [&](unsigned argument) { return llvm::is_contained(candidates, argument); });
    ArrayRef<unsigned> moved = both.empty() ? candidates : both;
    if (moved.empty())
      return {};
    // Each of them is a piece if they are in one vector.
    if (both.size() > 1 &&
        llvm::none_of(both, [&](unsigned argument) { return findStackedDimensions(i, argument); }))
      return {.kind = LayerKind::Weight, .name = getCommonName(both)};
    return makeFinding(i, *preferCalledParameter(moved), LayerKind::Weight);
  }

  /// Returns whether the next value of an argument keeps elements of the value before.
  bool isUpdated(unsigned argument) {
    std::optional<unsigned> result = state.getFeedingResult(argument);
    return result && flow.reaches(argument, *result);
  }

  /// Finds the parameter that an exchange updates, among the state that has its sign from the exchange and
  /// the parameter's number of elements: parameter, moments, averages.
  std::optional<unsigned> findUpdatedParameter(unsigned i, ArrayRef<unsigned> reached) {
    Value input = flow.getExchanges()[i].getInput();
    // Gradients are computed with the parameters, never with the moments. State
    // that is replaced rather than updated (an activation carried to the next
    // step) is no parameter, unless the step updates nothing and returns gradients.
    SmallVector<unsigned> candidates = getIf(reached, [&](unsigned argument) {
      return flow.dependsOn(input, argument) && (isUpdated(argument) || !hasUpdates);
    });
    // In a loop of several steps everything depends on everything, except in its first round.
    SmallVector<unsigned> atOnce =
        getIf(candidates, [&](unsigned argument) { return round.dependsOn(input, argument); });
    if (!candidates.empty())
      return preferCalledParameter(withoutFollowers(atOnce.empty() ? candidates : atOnce));

    // The case where only moments or an accumulator take it place by place, and the parameter in another way
    // (orthogonalized updates, an optimizer in another function): their paths end like the parameter's.
    for (unsigned argument : reached)
      if (std::optional<unsigned> parameter = findNamesake(i, argument))
        return parameter;

    // The loss is linear in the parameter, so that its gradient does not depend
    // on it: go by the name, or by `parameter - step`. Statistics, which the
    // step itself computes with, never are gradients.
    if (isUsedByGradients(i))
      return std::nullopt;
    for (unsigned argument : reached)
      if (state.isCalledParameter(argument) || isDescent(argument))
        return argument;
    return findDescending(i, reached);
  }

  /// Returns whether the next value is the value itself minus something.
  bool isDescent(unsigned argument) {
    Operation *update = terminator->getOperand(*state.getFeedingResult(argument)).getDefiningOp();
    return isa_and_nonnull<stablehlo::SubtractOp>(update) &&
           update->getOperand(0) == step.getArgument(argument) && !state.getParameterShape(argument).empty();
  }

  /// Returns the state that takes a step against the exchange, and is unchanged otherwise. The next value has
  /// a share of 1 of a parameter, or a little less with weight decay, while moments fade, and accumulated
  /// sums grow with the exchange.
  std::optional<unsigned> findDescending(unsigned i, ArrayRef<unsigned> reached) {
    std::optional<unsigned> found;
    double largest = 0.5;
    for (unsigned argument : reached) {
      Value next = terminator->getOperand(*state.getFeedingResult(argument));
      const double share = ElementShare(step.getArgument(argument)).in(next);
      if (share > largest && !state.getParameterShape(argument).empty() &&
          ElementShare(flow.getExchanges()[i].getResult()).in(next) < 0) {
        largest = share;
        found = argument;
      }
    }
    return found;
  }

  std::optional<unsigned> findNamesake(unsigned i, unsigned argument) {
    Value input = flow.getExchanges()[i].getInput();
    std::optional<unsigned> best;
    unsigned longest = 0;
    for (unsigned other = 0; other < state.getArgumentCount(); ++other) {
      unsigned suffix = state.getCommonSuffix(argument, other);
      // A single key in which many leaves end, such as `value`, proves nothing.
      bool isNamesake = 2 * suffix >= state.getPath(other).keys.size();
      if (other != argument && isNamesake && suffix > longest &&
          state.getNumberType(other) == state.getNumberType(argument) && flow.dependsOn(input, other) &&
          isMovedBySign(i, argument, other)) {
        best = other;
        longest = suffix;
      }
    }
    return best;
  }

  /// Returns whether a parameter that the step updates takes the sign of the exchange, through matrix
  /// products too, or in the next step from the state that keeps it. A gradient does; a divisor of its update
  /// only scales it.
  bool isMovedBySign(unsigned i, unsigned keeper, unsigned parameter) {
    std::optional<unsigned> result = state.getFeedingResult(parameter);
    return !result || !isUpdated(parameter) || round.signs(round.getSource(i), *result) ||
           round.signs(keeper, *result);
  }

  /// Returns the parameter that takes an exchange through matrix products only (natural gradients, the
  /// eigenbasis of SOAP): the one state of those that it is computed from that has a sign from it. An
  /// activation gives one to every parameter that it meets.
  std::optional<unsigned> findTurnedParameter(unsigned i) {
    Exchange &exchange = flow.getExchanges()[i];
    // Low-rank moments are excluded: no gradient depends on them.
    SmallVector<unsigned> turned;
    for (unsigned result : round.getSignedResults(i))
      if (std::optional<unsigned> argument = state.getFedArgument(result);
          argument && state.getNumberType(*argument) && !state.getParameterShape(*argument).empty() &&
          round.dependsOn(exchange.getInput(), *argument))
        turned.push_back(*argument);
    if (turned.size() != 1 || !exchange.collective.getReductionKind() || !isUpdated(turned.front()) ||
        state.getNumberType(turned.front()) != exchange.getInput().getType() || isUsedByGradients(i))
      return std::nullopt;
    return turned.front();
  }

  /// Returns the parameter that an exchange is added to row by row, or whose moments are: the gradient of a
  /// table in which few rows were looked up.
  std::optional<unsigned> findScatteredParameter(unsigned i) {
    Exchange &exchange = flow.getExchanges()[i];
    SmallVector<unsigned> taking;
    for (const ScatteredRows::Sum &sum : rows.getSums(exchange.getResult())) {
      const ValueSet made = followInOrder(sum.table, [](Value) { return false; });
      for (auto [result, value] : llvm::enumerate(terminator->getOperands()))
        if (std::optional<unsigned> argument = state.getFedArgument(result);
            argument && made.contains(value) && state.getNumberType(*argument) &&
            (isUpdated(*argument) || round.keeps(sum.before, *argument)) &&
            flow.signs(flow.getSource(i), result) && !llvm::is_contained(taking, *argument))
          taking.push_back(*argument);
    }
    llvm::sort(taking);
    // Like any gradient, it is computed with the parameter, and not with the moments. For a loss that is
    // linear in the table, only the single state that takes the rows can tell.
    if (std::optional<unsigned> parameter = preferCalledParameter(
            getIf(taking, [&](unsigned argument) { return round.dependsOn(exchange.getInput(), argument); })))
      return parameter;
    return taking.size() == 1 ? std::optional(taking.front()) : std::nullopt;
  }

  /// Returns the parameters of whose product an exchange is the gradient, for weights w = base + a b
  /// (low-rank adapters): a partitioner reduces the gradient G of w, from which come those of both factors,
  ///
  ///   da = G b^T     db = a^T G
  ///
  /// A product with one factor has the elements of the other. An exchange that is also multiplied with
  /// activations is no such gradient.
  SmallVector<unsigned> findFactors(unsigned i) {
    Exchange &exchange = flow.getExchanges()[i];
    auto type = cast<RankedTensorType>(exchange.getResult().getType());
    if (!exchange.collective.getReductionKind() || type.getRank() != 2 || isUsedByGradients(i))
      return {};
    llvm::SetVector<Value> scaled;
    scaled.insert(exchange.getResult());
    SmallVector<std::pair<unsigned, int64_t>> products; // by which factor, and their elements
    for (size_t at = 0; at < scaled.size(); ++at)
      for (OpOperand &use : scaled[at].getUses()) {
        Operation *user = use.getOwner();
        if (getLinearOperand(user) == &use) {
          scaled.insert(user->getResult(0));
          continue;
        }
        std::optional<unsigned> factor = getFactor(use);
        if (!factor)
          return {};
        products.push_back({*factor, cast<RankedTensorType>(user->getResult(0).getType()).getNumElements()});
      }
    if (products.size() != 2 || products[0].first == products[1].first)
      return {};
    for (unsigned j : {0, 1})
      if (products[j].second != state.getNumberType(products[1 - j].first).getNumElements())
        return {};
    return {products[0].first, products[1].first};
  }

  /// Returns the parameter that a value is multiplied with as a matrix, if the step updates it.
  std::optional<unsigned> getFactor(OpOperand &use) {
    Operation *product = use.getOwner();
    auto type = product->getNumResults() == 1 ? getStaticFloatTensor(product->getResult(0).getType())
                                              : RankedTensorType();
    if (!isa<stablehlo::DotGeneralOp, stablehlo::DotOp>(product) || !type)
      return std::nullopt;
    Value other = product->getOperand(1 - use.getOperandNumber());
    for (unsigned argument = 0; argument < state.getArgumentCount(); ++argument)
      if (state.getNumberType(argument) && isUpdated(argument) && round.keeps(other, argument) &&
          state.getNumberType(argument).getNumElements() ==
              cast<RankedTensorType>(other.getType()).getNumElements())
        return argument;
    return std::nullopt;
  }

  /// Returns whether other exchanges are computed from this one's result, other than by passing its elements
  /// on.
  bool isUsedByGradients(unsigned i) {
    for (auto [j, other] : llvm::enumerate(flow.getExchanges())) {
      auto type = getStaticFloatTensor(other.getInput().getType());
      if (j != i && type && type.getRank() > 0 && flow.dependsOn(other.getInput(), flow.getSource(i)) &&
          !flow.passesOn(i, j))
        return true;
    }
    return false;
  }

  /// Returns whether the parameter itself is averaged (local SGD): its elements reach its next value through
  /// the collective, or past it in a step that leaves it out, while a gradient meets them after it. A
  /// parameter that is pulled towards an average meets the operand of the collective (elastic averaging), or
  /// the average itself (SlowMo, BMUF).
  bool isAveragedParameter(unsigned i, unsigned parameter) {
    std::optional<unsigned> result = state.getFeedingResult(parameter);
    if (!result || !flow.carries(i, parameter))
      return false;
    Value next = terminator->getOperand(*result);
    return round.keeps(next, round.getInputSource(i)) || !meets(i, next) || isPulledTo(i, parameter, next);
  }

  /// Returns whether the operand of an exchange is a rank's progress since the last outer step (DiLoCo): a
  /// parameter minus its earlier value, which the step keeps, or began with. At least one of the two is
  /// computed from data, if the step has any; otherwise a parameter that is pulled to its own moving average
  /// would count, which is a gradient.
  bool isProgress(unsigned i) {
    Operation *difference = getScaledBase(flow.getExchanges()[i].getInput()).getDefiningOp();
    if (!isa_and_nonnull<stablehlo::SubtractOp, arith::SubFOp, tosa::SubOp, linalg::SubOp>(difference))
      return false;
    Value here = difference->getOperand(0), before = difference->getOperand(1);
    if (here == before || !isMostlyState(here) || !isMostlyState(before))
      return false;
    const bool hasData = llvm::any_of(llvm::seq(state.getArgumentCount()), [&](unsigned argument) {
      auto type = dyn_cast<RankedTensorType>(step.getArgumentTypes()[argument]);
      return !state.isState(argument) && type && type.getRank() > 0;
    });
    return !hasData || dependsOnData(here) || dependsOnData(before);
  }

  /// Returns whether more than half of a value is some state of the step, element by element, by factors that
  /// are known: a gradient may be a parameter times something, too.
  bool isMostlyState(Value value) {
    return llvm::any_of(llvm::seq(state.getArgumentCount()), [&](unsigned argument) {
      return state.isState(argument) && state.getNumberType(argument) && round.keeps(value, argument) &&
             ElementShare(step.getArgument(argument), /*unknown=*/0).in(value) > 0.5;
    });
  }

  /// Returns whether an average of the parameter is added to its next value, as outer optimizers do too,
  /// while gradients are subtracted, even those that equal the parameter.
  bool isPulledTo(unsigned i, unsigned parameter, Value next) {
    Exchange &exchange = flow.getExchanges()[i];
    return ElementShare(step.getArgument(parameter)).in(exchange.getInput()) > 0.5 &&
           ElementShare(exchange.getResult()).in(next) > 0;
  }

  /// Returns whether elements of an exchange meet those of an argument that they come from, on their way to
  /// `next`, which may lead through other exchanges.
  bool meets(unsigned i, Value next) {
    SourceSet met = round.getSources(next).met;
    for (unsigned j = 0; j < flow.getExchanges().size(); ++j)
      if (round.getSets().contains(met, round.getSource(j)) && (j == i || flow.passesOn(i, j)))
        return true;
    return false;
  }

  /// Returns the parameter whose value an exchange moves for another gradient to be taken there: the ascent
  /// of sharpness-aware minimisation, the inner step of meta-learning.
  std::optional<unsigned> findMovedPoint(unsigned i) {
    Exchange &exchange = flow.getExchanges()[i];
    if (!getStaticFloatTensor(exchange.getInput().getType()) || !exchange.collective.getReductionKind())
      return std::nullopt;
    BitVector summands = round.getSummands(i);
    for (auto [j, other] : llvm::enumerate(findings)) {
      if (j == i || other.kind != LayerKind::Gradient || !other.parameter ||
          !round.dependsOn(exchange.getInput(), *other.parameter) ||
          !findStackedDimensions(i, *other.parameter))
        continue;
      Value input = flow.getExchanges()[j].getInput();
      if ((summands[*other.parameter] && flow.dependsOn(input, flow.getSource(i))) ||
          flow.passesOnWithSigns(i, j))
        return other.parameter;
    }
    return std::nullopt;
  }

  /// Finds gradients that were put into one buffer, and names them by the common part of their parameters'
  /// paths.
  Finding findFlattenedParameters(unsigned i, ArrayRef<unsigned> reached) {
    Value input = flow.getExchanges()[i].getInput();
    SmallVector<unsigned> parameters = getIf(
        reached, [&](unsigned argument) { return flow.dependsOn(input, argument) && isUpdated(argument); });
    if (parameters.empty())
      return {};
    LayerKind kind = isProgress(i) ? LayerKind::OuterGradient : LayerKind::Gradient;
    if (parameters.size() == 1)
      return makeFinding(i, parameters.front(), kind);
    return {.kind = kind, .name = getCommonName(parameters)};
  }

  std::string getCommonName(ArrayRef<unsigned> arguments) {
    TreePath common = state.getPath(arguments.front());
    for (unsigned argument : arguments) {
      ArrayRef<TreeKey> keys = state.getPath(argument).keys;
      size_t length = 0;
      while (length < std::min(keys.size(), common.keys.size()) && keys[length] == common.keys[length])
        ++length;
      common.keys.truncate(length);
    }
    return common.getLayerName();
  }

  //===--------------------------------------------------------------------===//
  // Names
  //===--------------------------------------------------------------------===//

  /// Names a statistic by the state that keeps it; else by the parameter whose update it scales.
  void nameStatistic(unsigned i) {
    SmallVector<unsigned> reached = getReachedArguments(i);
    SmallVector<unsigned> keepers = getSigned(i, reached);
    // An argument that is only computed from the keeper of a statistic (a codebook from its sums) is no
    // keeper.
    if (SmallVector<unsigned> updated =
            getIf(keepers, [&](unsigned argument) { return isUpdated(argument); });
        !updated.empty())
      keepers = updated;
    if (keepers.size() == 1) {
      findings[i].name = state.getPath(keepers.front()).getLayerName();
      findings[i].shape = DenseI64ArrayAttr::get(step.getContext(), state.getParameterShape(keepers.front()));
    } else if (!keepers.empty()) {
      findings[i].name = getCommonName(keepers);
    } else if (findings[i].isStatistic) {
      Value input = flow.getExchanges()[i].getInput();
      SmallVector<unsigned> scaled =
          getIf(reached, [&](unsigned argument) { return round.dependsOn(input, argument); });
      if (std::optional<unsigned> parameter = preferCalledParameter(scaled)) {
        findings[i] = makeFinding(i, *parameter, LayerKind::Other);
        findings[i].name += "#statistic";
      }
    }
    if (findings[i].name.empty())
      findings[i].name = getMetricName(i);
  }

  /// Returns the name of a metric, such as a loss or an accuracy: that of the one result that is the sum
  /// itself, without its place in the tuple that the step returns. Empty if there is none, or several.
  std::string getMetricName(unsigned i) {
    ArrayRef<unsigned> results = flow.getReachedResults(i);
    if (results.size() != 1 || state.getFedArgument(results.front()))
      return {};
    TreePath path = TreePath::parse(getStepResults(step)[results.front()].name);
    llvm::erase_if(path.keys, [](const TreeKey &key) { return key.kind == TreeKey::Kind::Index; });
    return path.keys.empty() ? std::string() : path.getLayerName();
  }

  /// Numbers different reductions, and activations, that would have one name: the first that reaches the
  /// state keeps it. A reduction that passes its elements on to another is a part of it, and so is one of
  /// another branch: only one of them is done.
  void numberReductions() {
    llvm::MapVector<std::pair<StringRef, LayerKind>, SmallVector<unsigned>> namesakes;
    for (auto [i, finding] : llvm::enumerate(findings))
      if (!finding.name.empty() && !isLabelled(i) &&
          (flow.getExchanges()[i].collective.getReductionKind() || isActivationKind(finding.kind)))
        namesakes[{finding.name, finding.kind}].push_back(i);
    SmallVector<std::pair<unsigned, unsigned>> numbers;
    for (auto &[name, exchanges] : namesakes) {
      if (!isActivationKind(name.second)) // whose order is that of the program
        std::stable_partition(exchanges.begin(), exchanges.end(),
                              [&](unsigned i) { return !getReachedArguments(i).empty(); });
      SmallVector<SmallVector<unsigned>> different;
      for (unsigned i : exchanges) {
        auto *same = llvm::find_if(different, [&](ArrayRef<unsigned> others) {
          return llvm::any_of(others, [&](unsigned other) { return isSameReduction(i, other); });
        });
        if (same == different.end())
          same = &different.emplace_back();
        same->push_back(i);
        numbers.push_back({i, static_cast<unsigned>(same - different.begin()) + 1});
      }
    }
    for (auto [i, number] : numbers)
      if (number > 1)
        findings[i].name += "#" + std::to_string(number);
  }

  bool isSameReduction(unsigned i, unsigned j) {
    return flow.passesOn(i, j) || flow.passesOn(j, i) ||
           insideMutuallyExclusiveRegions(flow.getExchanges()[i].collective,
                                          flow.getExchanges()[j].collective);
  }

  //===--------------------------------------------------------------------===//
  // Activations
  //===--------------------------------------------------------------------===//

  bool isActivation(unsigned i) {
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
      if (isGradientKind(finding.kind) && flow.dependsOn(other.getInput(), source))
        return true;
    return isUsedByResults(source, /*isMoved=*/!exchange.collective.getReductionKind());
  }

  void tellActivationsApart() {
    KnownExchanges known = {BitVector(findings.size()), BitVector(findings.size()), {}};
    for (auto [i, finding] : llvm::enumerate(findings)) {
      known.activations[i] = finding.kind == LayerKind::Activation;
      known.gradients[i] = isGradientKind(finding.kind);
      known.parameters.push_back(finding.parameter);
    }
    const BitVector activations = known.activations;
    ActivationKinds kinds(step, state, flow, round, std::move(known));
    for (unsigned i : activations.set_bits()) {
      findings[i].kind = kinds.getKind(i);
      SmallVector<unsigned> parameters = kinds.getParameters(i);
      if (findings[i].kind == LayerKind::Other || parameters.empty())
        continue;
      findings[i].name = getCommonName(parameters);
      if (findings[i].name.empty())
        findings[i].name = state.getPath(parameters.front()).getLayerName();
    }
  }

  bool dependsOnData(Value value) {
    for (unsigned argument = 0; argument < state.getArgumentCount(); ++argument)
      if (!state.isState(argument) && flow.dependsOn(value, argument))
        return true;
    return false;
  }

  /// Returns whether the results show that a source is an activation. Without gradients that are exchanged,
  /// an activation is a value that the next state depends on, or, in a step without state, any result, but
  /// not a result itself (a gradient of a step without names). A value that moves between ranks and is no
  /// parameter may be an activation next to gradients, too: the gradients that are made of it need not
  /// travel.
  bool isUsedByResults(unsigned source, bool isMoved) {
    if (!isMoved &&
        llvm::any_of(findings, [](const Finding &finding) { return isGradientKind(finding.kind); }))
      return false;
    bool hasState =
        llvm::any_of(llvm::seq(state.getArgumentCount()), [&](unsigned i) { return state.isState(i); });
    if (!hasState && !flow.getReachedResults(source - flow.getArgumentCount()).empty())
      return false;
    for (auto [i, value] : llvm::enumerate(terminator->getOperands()))
      if ((!hasState || state.getFedArgument(i)) && flow.dependsOn(value, source))
        return true;
    return false;
  }

  func::FuncOp step;
  StepState state;
  StepDataFlow flow;
  std::optional<StepDataFlow> oneRound; ///< where it is not `flow`
  const StepDataFlow &round;
  StackedLayers stacks;
  ScatteredRows rows;
  SmallVector<Finding> findings;
  Operation *terminator;
  /// True if the step updates some state, as opposed to returning gradients.
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
