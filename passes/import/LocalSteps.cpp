//===-- LocalSteps.cpp - ranks that train by themselves for a while -------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CollectiveIds.h"
#include "FindWorkers.h"
#include "OuterOptimizer.h"
#include "PerRankForm.h"
#include "StepDataFlow.h"
#include "StepState.h"
#include "Workers.h"
#include "cgx/Dialect/Cgx/CollectiveOperands.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Import.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

namespace cgx {
#define GEN_PASS_DEF_LOCALSTEPSPASS
#include "cgx/Passes/Import.h.inc"
} // namespace cgx

using namespace mlir;
using namespace cgx;

namespace {

/// A parameter: its argument is the anchor, the value on which the ranks agree.
struct Parameter {
  unsigned argument;
  LayerAttr layer;
  /// Arguments that the pass adds; 0 where there is none.
  unsigned local = 0, momentum = 0;
  /// The fragment that the parameter belongs to; fragments take turns.
  int64_t fragment = 0;
};

class LocalTraining {
public:
  LocalTraining(func::FuncOp step, int64_t every, int64_t fragments, bool overlaps,
                ArrayRef<std::string> across, const OuterOptimizer &outer)
      : across(across), step(step), module(step->getParentOfType<ModuleOp>()), body(step.getBody().front()),
        builder(step.getContext()), every(every), fragments(fragments), overlaps(overlaps), outer(outer),
        ids(module), state(step) {}

  LogicalResult run() {
    FailureOr<FoundWorkers> found = findWorkers(step, across);
    if (failed(found))
      return failure();
    workers.emplace(found->mesh, found->axes);
    axes = found->axes;
    reduced = found->reduced;
    if (failed(findParameters()) || failed(makeFragments()))
      return failure();
    SmallVector<Value> local = dropReductions();
    Divergence divergence(step, state, local, [&](Operation &op) { return agrees(op); });
    if (failed(averageResults(divergence)))
      return failure();
    for (unsigned i = 0, e = state.getArgumentCount(); i < e; ++i)
      if (divergence.contains(step.getArgument(i)) && state.isState(i) && !isParameter(i) &&
          !isSplitOverRanks(i))
        keepByRank(i);
    for (Parameter &parameter : parameters)
      addState(parameter);
    if (overlaps)
      sinkMetrics();
    takeOuterSteps();
    return success();
  }

private:
  //===--------------------------------------------------------------------===//
  // Parameters
  //===--------------------------------------------------------------------===//

  /// Finds the state whose gradient is reduced: by the name of the layer, and by data flow, where several
  /// travel in one vector.
  LogicalResult findParameters() {
    StepDataFlow flow(step, StepDataFlow::Rounds::One);
    llvm::StringMap<unsigned> argumentOf;
    for (unsigned i = 0; i < state.getArgumentCount(); ++i)
      if (state.isState(i) && state.getFloatType(i))
        argumentOf.try_emplace(state.getPath(i).getLayerName(), i);
    llvm::MapVector<unsigned, LayerAttr> found;
    for (auto [i, exchange] : llvm::enumerate(flow.getExchanges())) {
      LayerAttr layer = exchange.collective.getLayer(exchange.index);
      if (layer.getKind() != LayerKind::Gradient)
        continue;
      auto named = argumentOf.find(layer.getName().split('#').first);
      if (named != argumentOf.end()) {
        found.try_emplace(named->second, layer);
        continue;
      }
      const size_t before = found.size();
      for (unsigned argument = 0; argument < state.getArgumentCount(); ++argument)
        if (state.isState(argument) && state.getFloatType(argument) &&
            flow.dependsOn(exchange.getInput(), argument) &&
            flow.reachesWithSigns(flow.getSource(i), *state.getFeedingResult(argument)))
          found.try_emplace(argument, LayerAttr());
      if (found.size() == before)
        return exchange.collective.emitError("local steps: layer '")
               << layer.getName()
               << "': expected a gradient that updates state of the step, found no argument "
               << "that a result feeds; export the step with names and donation";
    }
    if (!reduced)
      return step.emitError("local steps: expected gradients that are all-reduced along axes [")
             << llvm::join(across, ", ") << "], found none in the step";
    for (auto [argument, layer] : found) {
      if (isSplitOverRanks(argument))
        return step.emitError("local steps: parameter '")
               << getName(argument) << "': expected it whole on each rank that trains by itself, got "
               << step.getArgAttr(argument, kShardingAttrName);
      const auto shape = builder.getDenseI64ArrayAttr(state.getParameterShape(argument));
      const std::string name = state.getPath(argument).getLayerName();
      parameters.push_back(
          {argument, LayerAttr::get(builder.getContext(), name, LayerKind::OuterGradient, shape,
                                    layer && layer.getShape() == shape ? layer.getStacked() : 0)});
    }
    return success();
  }

  /// Fragments of about equal bytes: the largest parameter goes to the lightest one.
  LogicalResult makeFragments() {
    if (fragments > int64_t(parameters.size()))
      return step.emitError("local steps: expected fragments to be at most ")
             << parameters.size() << ", the parameters that the ranks average, got " << fragments;
    SmallVector<Parameter *> bySize;
    for (Parameter &parameter : parameters)
      bySize.push_back(&parameter);
    const auto bytesOf = [&](const Parameter *parameter) {
      auto type = cast<RankedTensorType>(step.getArgumentTypes()[parameter->argument]);
      return type.getNumElements() * type.getElementTypeBitWidth() / 8;
    };
    llvm::stable_sort(bySize, [&](Parameter *a, Parameter *b) { return bytesOf(a) > bytesOf(b); });
    // Bytes and parameters of each: of equally light ones the one of fewer, so that empty parameters leave no
    // fragment empty.
    SmallVector<std::pair<int64_t, int64_t>> loads(fragments);
    for (Parameter *parameter : bySize) {
      auto *lightest = llvm::min_element(loads);
      parameter->fragment = lightest - loads.begin();
      lightest->first += bytesOf(parameter);
      ++lightest->second;
    }
    return success();
  }

  bool isParameter(unsigned argument) const {
    return llvm::any_of(parameters, [&](const Parameter &each) { return each.argument == argument; });
  }

  static bool hasAxes(Attribute sharding, ArrayRef<Attribute> axes) {
    auto dimensions = dyn_cast_or_null<ShardingAttr>(sharding);
    return dimensions && llvm::any_of(axes, [&](Attribute axis) {
             return dimensions.hasAxis(cast<StringAttr>(axis).getValue());
           });
  }

  /// Returns whether each rank has its own part already.
  bool isSplitOverRanks(unsigned argument) {
    return hasAxes(step.getArgAttr(argument, kShardingAttrName), axes);
  }

  /// Returns whether the results of an op are equal on the ranks that train by themselves.
  bool agrees(Operation &op) const {
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    return collective && isa<AllReduceOp, AllGatherOp>(op) && workers->split(collective.getGroups());
  }

  std::string getName(unsigned argument) {
    auto name = step.getArgAttrOfType<StringAttr>(argument, kNameAttrName);
    return name ? name.str() : "arg" + std::to_string(argument);
  }

  //===--------------------------------------------------------------------===//
  // Inner steps
  //===--------------------------------------------------------------------===//

  /// Drops the reductions of gradients between workers. Each worker goes on with its own gradient as if it
  /// were that of all:
  ///   mean(g) -> g      sum(g) -> n g
  /// where g is the gradient that its ranks have reduced among themselves.
  SmallVector<Value> dropReductions() {
    SmallVector<AllReduceOp> reductions;
    step.walk([&](AllReduceOp op) { reductions.push_back(op); });
    SmallVector<Value> local;
    for (AllReduceOp op : reductions) {
      SmallVector<unsigned> dropped;
      for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i) {
        if (op.getLayer(i).getKind() != LayerKind::Gradient || workers->isInside(op.getGroups()))
          continue;
        Value own = op.getGroups() == workers->getGroups() ? op.getInputs()[i] : createInside(op, i);
        if (op.getReduction() == Reduction::Sum)
          own = createTimesWorkers(op, own);
        op.getResult(i).replaceAllUsesWith(own);
        local.push_back(own);
        dropped.push_back(i);
      }
      if (!dropped.empty())
        dropOperands(op, dropped);
    }
    return local;
  }

  /// Returns an operand reduced by the ranks of each worker alone.
  Value createInside(AllReduceOp op, unsigned operand) {
    SmallVector<SmallVector<int64_t>> parts = *workers->split(op.getGroups());
    if (parts.front().size() == 1) // in another order of ranks
      return op.getInputs()[operand];
    builder.setInsertionPointAfter(op);
    auto reduce = AllReduceOp::create(
        builder, op.getLoc(), TypeRange(op.getResult(operand).getType()), ValueRange(op.getInputs()[operand]),
        op.getReduction(), ids.take(), GroupsAttr::get(builder.getContext(), ArrayRef(parts)),
        getIdentityCodecs(builder.getContext(), 1), builder.getArrayAttr({op.getLayer(operand)}),
        Algorithm::Auto, HierarchyAttr(), /*exact_reasons=*/nullptr);
    return reduce->getResult(0);
  }

  Value createTimesWorkers(AllReduceOp op, Value own) {
    OpBuilder::InsertionGuard guard(builder);
    Operation *last = own.getDefiningOp();
    builder.setInsertionPointAfter(
        last && last->getBlock() == op->getBlock() && op->isBeforeInBlock(last) ? last : op);
    auto type = cast<RankedTensorType>(own.getType());
    auto splat = DenseElementsAttr::get(
        type, builder.getFloatAttr(type.getElementType(), static_cast<double>(workers->getCount())));
    Value count = stablehlo::ConstantOp::create(builder, op.getLoc(), splat);
    return stablehlo::MulOp::create(builder, op.getLoc(), type, own, count);
  }

  /// Metrics that were computed from the reduced gradient become averages again, and flags hold for all
  /// ranks.
  LogicalResult averageResults(const Divergence &divergence) {
    Operation *terminator = body.getTerminator();
    builder.setInsertionPoint(terminator);
    for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
      if (!divergence.contains(value) || state.getFedArgument(i) ||
          hasAxes(step.getResultAttr(i, kShardingAttrName), axes))
        continue;
      auto name = step.getResultAttrOfType<StringAttr>(i, kNameAttrName);
      auto type = dyn_cast<RankedTensorType>(value.getType());
      const bool isFlag = type && type.hasStaticShape() && type.getElementType().isInteger(1);
      if (!isFlag && !getStaticFloatTensor(type))
        return step.emitError("local steps: result ")
               << i << (name ? " '" + name.str() + "'" : "")
               << ": expected a number that can be averaged over "
               << "the ranks, because it depends on gradients, got " << value.getType();
      auto layer = LayerAttr::get(builder.getContext(), name ? getMetricName(name) : "", LayerKind::Other,
                                  /*shape=*/{});
      terminator->setOperand(i, isFlag ? createConjunction(value, layer)
                                       : createReduction(value, layer, Reduction::Mean));
    }
    return success();
  }

  /// Returns whether a flag, such as that all gradients are finite, holds on all ranks.
  Value createConjunction(Value flag, LayerAttr layer) {
    auto type = cast<RankedTensorType>(flag.getType());
    RankedTensorType number = type.clone(builder.getF32Type());
    Value own = stablehlo::ConvertOp::create(builder, step.getLoc(), number, flag);
    return stablehlo::ConvertOp::create(builder, step.getLoc(), type,
                                        createReduction(own, layer, Reduction::Min));
  }

  /// Returns the metric's name, such as `loss` for `result[1]['loss']`.
  static std::string getMetricName(StringRef name) {
    TreePath path = TreePath::parse(name);
    if (path.keys.size() > 1 && path.keys.front().kind == TreeKey::Kind::Index)
      path.keys.erase(path.keys.begin());
    return path.getLayerName();
  }

  Value createReduction(Value value, LayerAttr layer, Reduction reduction) {
    auto reduce = AllReduceOp::create(
        builder, step.getLoc(), TypeRange(value.getType()), ValueRange(value), reduction, ids.take(),
        workers->getGroups(), getIdentityCodecs(builder.getContext(), 1), builder.getArrayAttr({layer}),
        Algorithm::Auto, HierarchyAttr(), /*exact_reasons=*/nullptr);
    return reduce->getResult(0);
  }

  //===--------------------------------------------------------------------===//
  // State of each rank's own
  //===--------------------------------------------------------------------===//

  /// Returns the attributes of a value like that of `argument`, of which each rank has its own: a first
  /// dimension counts the ranks.
  SmallVector<NamedAttribute> getAttrsByRank(unsigned argument, StringRef name) {
    auto type = cast<RankedTensorType>(step.getArgumentTypes()[argument]);
    auto global = step.getArgAttrOfType<TypeAttr>(argument, kGlobalTypeAttrName);
    auto whole = global ? cast<RankedTensorType>(global.getValue()) : type;
    auto sharding = step.getArgAttrOfType<ShardingAttr>(argument, kShardingAttrName);
    SmallVector<ArrayAttr> dimensions = {builder.getArrayAttr(axes)};
    for (int64_t i = 0; i < type.getRank(); ++i)
      dimensions.push_back(sharding ? sharding.getDimensions()[i] : builder.getArrayAttr({}));
    SmallVector<int64_t> shape = {workers->getCount()};
    llvm::append_range(shape, whole.getShape());
    return {builder.getNamedAttr(kNameAttrName, builder.getStringAttr(name)),
            builder.getNamedAttr(kShardingAttrName, ShardingAttr::get(builder.getContext(), dimensions)),
            builder.getNamedAttr(kGlobalTypeAttrName, TypeAttr::get(whole.clone(shape)))};
  }

  static RankedTensorType getTypeByRank(RankedTensorType type) {
    SmallVector<int64_t> shape = {1};
    llvm::append_range(shape, type.getShape());
    return type.clone(shape);
  }

  /// Returns a name below a root, such as `local['state']['params']['w']` for `state['params']['w']`.
  std::string getNameBelow(StringRef root, unsigned argument) {
    const std::string name = getName(argument);
    const size_t keys = std::min(name.find_first_of("[."), name.size());
    return (root + "['" + name.substr(0, keys) + "']" + name.substr(keys)).str();
  }

  Value createReshape(Value value, RankedTensorType type) {
    return stablehlo::ReshapeOp::create(builder, step.getLoc(), type, value);
  }

  /// Makes state that diverges and is no parameter, such as the momentum of the inner optimizer, each rank's
  /// own.
  void keepByRank(unsigned number) {
    BlockArgument argument = step.getArgument(number);
    auto type = cast<RankedTensorType>(argument.getType());
    const unsigned result = *state.getFeedingResult(number);
    const std::string first = getName(number);
    SmallVector<NamedAttribute> attrs = getAttrsByRank(number, getNameBelow("local", number));
    argument.setType(getTypeByRank(type));
    builder.setInsertionPointToStart(&body);
    Value own = createReshape(argument, type);
    argument.replaceAllUsesExcept(own, own.getDefiningOp());
    Operation *terminator = body.getTerminator();
    builder.setInsertionPoint(terminator);
    terminator->setOperand(result, createReshape(terminator->getOperand(result), getTypeByRank(type)));
    for (NamedAttribute attr : attrs) {
      step.setArgAttr(number, attr.getName(), attr.getValue());
      step.setResultAttr(result, attr.getName(), attr.getValue());
    }
    step.setArgAttr(number, kInitialAttrName, builder.getStringAttr(first));
    updateType();
  }

  void updateType() {
    step.setFunctionType(
        builder.getFunctionType(body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
  }

  /// Adds an argument, fed by a result that is set later, and returns its number.
  unsigned addFed(RankedTensorType type, SmallVector<NamedAttribute> attrs, Attribute initial) {
    const unsigned argument = step.getNumArguments(), result = step.getNumResults();
    SmallVector<NamedAttribute> resultAttrs = attrs;
    attrs.push_back(builder.getNamedAttr(kInitialAttrName, initial));
    resultAttrs.push_back(builder.getNamedAttr(kFeedsAttrName, builder.getI64IntegerAttr(argument)));
    (void)step.insertArgument(argument, type, builder.getDictionaryAttr(attrs), step.getLoc());
    (void)step.insertResult(result, type, builder.getDictionaryAttr(resultAttrs));
    Operation *terminator = body.getTerminator();
    terminator->insertOperands(terminator->getNumOperands(), step.getArgument(argument));
    resultOf[argument] = result;
    return argument;
  }

  /// Adds the ranks' own values of a parameter, and its outer momentum.
  void addState(Parameter &parameter) {
    auto type = cast<RankedTensorType>(step.getArgumentTypes()[parameter.argument]);
    parameter.local = addFed(getTypeByRank(type),
                             getAttrsByRank(parameter.argument, getNameBelow("local", parameter.argument)),
                             builder.getStringAttr(getName(parameter.argument)));
    if (!outer.hasMomentum())
      return;
    RankedTensorType wide = OuterOptimizer::getWideType(type);
    SmallVector<NamedAttribute> attrs = {builder.getNamedAttr(
        kNameAttrName, builder.getStringAttr(getNameBelow("outer_momentum", parameter.argument)))};
    if (Attribute sharding = step.getArgAttr(parameter.argument, kShardingAttrName))
      attrs.push_back(builder.getNamedAttr(kShardingAttrName, sharding));
    if (auto global = step.getArgAttrOfType<TypeAttr>(parameter.argument, kGlobalTypeAttrName)) {
      auto whole = cast<RankedTensorType>(global.getValue()).clone(wide.getElementType());
      attrs.push_back(builder.getNamedAttr(kGlobalTypeAttrName, TypeAttr::get(whole)));
    }
    parameter.momentum = addFed(wide, attrs, builder.getI64IntegerAttr(0));
  }

  //===--------------------------------------------------------------------===//
  // Outer steps
  //===--------------------------------------------------------------------===//

  /// The next values of a parameter's state: anchor, the rank's own parameter, and the momentum if there is
  /// one.
  using NextState = SmallVector<Value, 3>;

  /// The parameters that move in one step of `every`, and whether this is the one.
  struct Turn {
    int64_t number;
    Value isNow;
    SmallVector<unsigned> moving;
  };

  void takeOuterSteps() {
    builder.setInsertionPointToStart(&body);
    SmallVector<NextState> inner;
    SmallVector<Value> begun; // the ranks' own, as the step begins
    Operation *terminator = body.getTerminator();
    for (Parameter &parameter : parameters) {
      BlockArgument anchor = step.getArgument(parameter.argument);
      Value own = createReshape(step.getArgument(parameter.local), cast<RankedTensorType>(anchor.getType()));
      anchor.replaceAllUsesWith(own);
      begun.push_back(own);
      Value next = terminator->getOperand(*state.getFeedingResult(parameter.argument));
      inner.push_back({anchor, next});
      if (outer.hasMomentum())
        inner.back().push_back(step.getArgument(parameter.momentum));
    }
    SmallVector<Turn> turns;
    SmallVector<StartOp> starts;
    if (overlaps) {
      turns = createTurns();
      for (const Turn &turn : turns)
        starts.push_back(createStart(turn, begun));
    }
    builder.setInsertionPoint(terminator);
    if (every == 1)
      return setNext(parameters, createOuterStep(parameters, inner));
    if (!overlaps)
      turns = createTurns();
    for (auto [i, turn] : llvm::enumerate(turns)) {
      SmallVector<Parameter> moving;
      SmallVector<NextState> own;
      SmallVector<Value> before;
      for (unsigned number : turn.moving) {
        moving.push_back(parameters[number]);
        own.push_back(inner[number]);
        before.push_back(begun[number]);
      }
      setNext(moving, overlaps ? selectLate(starts[i], own, before, turn) : createBranch(moving, own, turn));
    }
  }

  /// Moves the other exchanges of a step after the outer gradient: only the end of the step waits for
  /// metrics, so that computing need not wait for them.
  void sinkMetrics() {
    SmallVector<AllReduceOp> reductions(body.getOps<AllReduceOp>());
    for (AllReduceOp op : reductions) {
      llvm::SetVector<Operation *> slice;
      getForwardSlice(op, &slice);
      llvm::SetVector<Operation *> users;
      for (Operation *user : slice)
        users.insert(body.findAncestorOpInBlock(*user));
      users.remove(body.getTerminator());
      users.insert(op);
      const bool isMetric = llvm::all_of(op.getLayers().getAsRange<LayerAttr>(),
                                         [](LayerAttr layer) { return layer.getKind() == LayerKind::Other; });
      if (!isMetric || !llvm::all_of(users, isMemoryEffectFree))
        continue;
      SmallVector<Operation *> inOrder = users.takeVector();
      llvm::sort(inOrder, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
      for (Operation *user : inOrder)
        user->moveBefore(body.getTerminator());
    }
  }

  /// Starts the reduction of the progress that ranks had made when the step began; it travels while the step
  /// computes.
  StartOp createStart(const Turn &turn, ArrayRef<Value> begun) {
    SmallVector<Value> progress;
    SmallVector<Attribute> layers;
    for (unsigned number : turn.moving) {
      Value anchor = step.getArgument(parameters[number].argument);
      progress.push_back(
          stablehlo::SubtractOp::create(builder, step.getLoc(), anchor.getType(), anchor, begun[number]));
      layers.push_back(parameters[number].layer);
    }
    SmallVector<Type> types(ValueRange(progress).getTypes());
    auto start =
        StartOp::create(builder, step.getLoc(), HandleType::get(builder.getContext(), types), turn.isNow);
    setTurn(start, turn);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&start.getRegion().emplaceBlock());
    AllReduceOp::create(builder, step.getLoc(), types, progress, Reduction::Mean, ids.take(),
                        workers->getGroups(), getIdentityCodecs(builder.getContext(), progress.size()),
                        builder.getArrayAttr(layers), Algorithm::Auto, HierarchyAttr(),
                        /*exact_reasons=*/nullptr);
    return start;
  }

  void setTurn(Operation *op, const Turn &turn) {
    op->setAttr(kEveryAttrName, builder.getI64IntegerAttr(every));
    if (turn.number != every)
      op->setAttr(kTurnAttrName, builder.getI64IntegerAttr(turn.number));
  }

  SmallVector<NextState> createOuterStep(ArrayRef<Parameter> moving, ArrayRef<NextState> inner) {
    SmallVector<NextState> next;
    for (auto [parameter, values] : llvm::zip_equal(moving, inner)) {
      Value anchor = values[0];
      Value progress =
          stablehlo::SubtractOp::create(builder, step.getLoc(), anchor.getType(), anchor, values[1]);
      OuterOptimizer::Next moved =
          outer.update(builder, step.getLoc(), anchor, values.size() > 2 ? values[2] : Value(),
                       createReduction(progress, parameter.layer, Reduction::Mean));
      next.push_back({moved.anchor, moved.anchor});
      if (moved.momentum)
        next.back().push_back(moved.momentum);
    }
    return next;
  }

  /// Counts steps, on all ranks alike: every so many there is an outer one; of fragments, each in its turn.
  SmallVector<Turn> createTurns() {
    const Location location = step.getLoc();
    auto number = RankedTensorType::get({}, builder.getI32Type());
    const auto constant = [&](int64_t value) -> Value {
      return stablehlo::ConstantOp::create(builder, location,
                                           DenseElementsAttr::get(number, builder.getI32IntegerAttr(value)));
    };
    const auto compare = [&](Value count, stablehlo::ComparisonDirection direction, int64_t value) -> Value {
      return stablehlo::CompareOp::create(builder, location, number.clone(builder.getI1Type()), count,
                                          constant(value), direction, /*compare_type=*/nullptr);
    };
    const unsigned counter =
        addFed(number,
               {builder.getNamedAttr(kNameAttrName, builder.getStringAttr("local_steps")),
                builder.getNamedAttr(kShardingAttrName, ShardingAttr::get(builder.getContext(), {})),
                builder.getNamedAttr(kGlobalTypeAttrName, TypeAttr::get(number))},
               builder.getI64IntegerAttr(0));
    Value done = stablehlo::AddOp::create(builder, location, number, step.getArgument(counter), constant(1));
    Value isLast = compare(done, stablehlo::ComparisonDirection::GE, every);
    setResult(counter, stablehlo::SelectOp::create(builder, location, number, isLast, constant(0), done));
    SmallVector<Turn> turns;
    for (int64_t fragment = 0; fragment < fragments; ++fragment) {
      // Turns are spread evenly, and the last one is at the end.
      Turn &turn = turns.emplace_back();
      turn.number = (fragment + 1) * every / fragments;
      turn.isNow =
          turn.number == every ? isLast : compare(done, stablehlo::ComparisonDirection::EQ, turn.number);
      for (auto [i, parameter] : llvm::enumerate(parameters))
        if (parameter.fragment == fragment)
          turn.moving.push_back(i);
    }
    return turns;
  }

  /// Returns the outer step of the parameters whose turn it is, and otherwise `inner`.
  SmallVector<NextState> createBranch(ArrayRef<Parameter> moving, ArrayRef<NextState> inner,
                                      const Turn &turn) {
    SmallVector<Value> flat = flatten(inner);
    auto branch = stablehlo::IfOp::create(builder, step.getLoc(), ValueRange(flat).getTypes(), turn.isNow);
    setTurn(branch, turn);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(&branch.getTrueBranch().emplaceBlock());
      stablehlo::ReturnOp::create(builder, step.getLoc(), flatten(createOuterStep(moving, inner)));
      builder.setInsertionPointToStart(&branch.getFalseBranch().emplaceBlock());
      stablehlo::ReturnOp::create(builder, step.getLoc(), flat);
    }
    SmallVector<NextState> next;
    unsigned taken = 0;
    for (const NextState &values : inner) {
      next.emplace_back(branch->getResults().slice(taken, values.size()));
      taken += values.size();
    }
    return next;
  }

  /// Returns the next state for an outer gradient that was in transit during the step: the rank keeps its
  /// progress meanwhile.
  ///   anchor' = outer(anchor, mean)      local' = anchor' + (local after the inner step - local before it)
  /// It is selected element by element, since the branches of an `if` would each have buffers of their own.
  SmallVector<NextState> selectLate(StartOp start, ArrayRef<NextState> inner, ArrayRef<Value> begun,
                                    const Turn &turn) {
    const Location location = step.getLoc();
    auto wait = WaitOp::create(builder, location, cast<HandleType>(start.getHandle().getType()).getTypes(),
                               start.getHandle());
    const auto select = [&](Value moved, Value otherwise) -> Value {
      return stablehlo::SelectOp::create(builder, location, moved.getType(), turn.isNow, moved, otherwise);
    };
    SmallVector<NextState> next;
    for (auto [values, before, mean] : llvm::zip_equal(inner, begun, wait.getResults())) {
      Value anchor = values[0];
      OuterOptimizer::Next moved =
          outer.update(builder, location, anchor, values.size() > 2 ? values[2] : Value(), mean);
      Value meanwhile = stablehlo::SubtractOp::create(builder, location, anchor.getType(), values[1], before);
      Value own = stablehlo::AddOp::create(builder, location, anchor.getType(), moved.anchor, meanwhile);
      next.push_back({select(moved.anchor, anchor), select(own, values[1])});
      if (moved.momentum)
        next.back().push_back(select(moved.momentum, values[2]));
    }
    return next;
  }

  static SmallVector<Value> flatten(ArrayRef<NextState> states) {
    SmallVector<Value> flat;
    for (const NextState &values : states)
      llvm::append_range(flat, values);
    return flat;
  }

  void setNext(ArrayRef<Parameter> moving, ArrayRef<NextState> next) {
    for (auto [parameter, values] : llvm::zip_equal(moving, next)) {
      body.getTerminator()->setOperand(*state.getFeedingResult(parameter.argument), values[0]);
      setResult(parameter.local, createReshape(values[1], cast<RankedTensorType>(
                                                              step.getArgument(parameter.local).getType())));
      if (values.size() > 2)
        setResult(parameter.momentum, values[2]);
    }
  }

  /// Sets the next value of an argument that the pass added.
  void setResult(unsigned argument, Value value) {
    body.getTerminator()->setOperand(resultOf.at(argument), value);
  }

  ArrayRef<std::string> across;
  func::FuncOp step;
  ModuleOp module;
  Block &body;
  OpBuilder builder;
  const int64_t every, fragments;
  const bool overlaps; ///< outer steps with inner ones
  const OuterOptimizer &outer;
  CollectiveIds ids;
  StepState state;             ///< as it was
  SmallVector<Attribute> axes; ///< of the mesh, along which ranks train by themselves
  std::optional<Workers> workers;
  GroupsAttr reduced; ///< over which the last gradient is reduced that leaves a worker
  SmallVector<Parameter> parameters;
  llvm::DenseMap<unsigned, unsigned> resultOf; ///< of arguments that were added
};

struct LocalStepsPass : cgx::impl::LocalStepsPassBase<LocalStepsPass> {
  using LocalStepsPassBase::LocalStepsPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    LocalStepsPassBase::getDependentDialects(registry);
    OpPassManager import(ModuleOp::getOperationName());
    buildImportPipeline(import);
    import.getDependentDialects(registry);
  }

  void runOnOperation() final {
    const auto emitError = [&] { return mlir::emitError(getOperation().getLoc()) << "local steps: "; };
    if (every < 1 || every > 1000000) {
      emitError() << "expected every to be a number of steps from 1 to 1000000, got " << every.getValue();
      return signalPassFailure();
    }
    if (fragments < 1 || fragments > every) {
      emitError() << "expected fragments to be a number from 1 to every=" << every.getValue()
                  << ", so that each has a step of its own, got " << fragments.getValue();
      return signalPassFailure();
    }
    if (overlap && every == 1) {
      emitError() << "expected every to be 2 or more with overlap, got 1: an outer step that travels while "
                     "the inner one computes would be late in every step";
      return signalPassFailure();
    }
    std::optional<OuterOptimizer> optimizer = OuterOptimizer::parse(outer, rate, momentum, emitError);
    if (!optimizer)
      return signalPassFailure();
    const bool isPerRank = getOperation()
                               .walk([](CommunicationOpInterface) { return WalkResult::interrupt(); })
                               .wasInterrupted();
    if (!isPerRank) {
      // Each rank updates whole parameters, so that slices of sums have no use.
      OpPassManager import(ModuleOp::getOperationName());
      buildImportPipeline(import, /*scatters=*/false);
      if (failed(runPipeline(import, getOperation())))
        return signalPassFailure();
    }
    func::FuncOp step = findStep(getOperation());
    if (!step || failed(LocalTraining(step, every, fragments, overlap, axes, *optimizer).run()))
      signalPassFailure();
  }
};
} // namespace
