//===-- CheckActivations.cpp - Activations that are communicated in place of weights ===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank has its part of the batch, x, and its part of a weight, w, both split along one axis. There are
// three ways to multiply them:
//
//   x . all_gather(w)                  the weight is communicated, and each rank computes on its part of the
//   batch all_gather(x) . w                  the activation is communicated, before all_reduce(slice(x) . w)
//   or after the product
//
// The first is that of sharded data parallelism. A partitioner takes the one that it estimates to be
// cheapest.
//
// An axis that splits within samples (sequences) is one of model parallelism: there the activations are meant
// to be communicated, gathered before products and scattered after them.
//
//===----------------------------------------------------------------------===//

#include "RankGrid.h"
#include "cgx/Passes/RegionFlow.h"
#include "cgx/Passes/Rewrite.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace cgx {
#define GEN_PASS_DEF_CHECKACTIVATIONSPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

bool isContraction(Operation *op) { return isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp>(op); }

/// Returns whether the op only gives elements another place or type.
bool isLayout(Operation *op) {
  return isa<stablehlo::ReshapeOp, stablehlo::TransposeOp, stablehlo::ConvertOp, stablehlo::BroadcastInDimOp>(
      op);
}

int64_t getBytes(RankedTensorType type) {
  return type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
}

/// An activation that travels, and the weight that could travel in its place.
struct TravellingActivation {
  CollectiveOpInterface op;
  int64_t bytes;
  BlockArgument weight;
};

/// The axes along which a step's arguments are split, data and state apart.
class StepArguments {
public:
  StepArguments(FunctionOpInterface step, const RankGrid &grid) : step(step), grid(grid) {
    for (unsigned i = 0; i < step.getNumResults(); ++i)
      if (auto feeds = step.getResultAttrOfType<IntegerAttr>(i, kFeedsAttrName))
        state.insert(feeds.getInt());
    for (unsigned i = 0; i < step.getNumArguments(); ++i)
      if (state.contains(i))
        stateAxes |= getSplitAxes(i);
    for (unsigned i = 0; i < step.getNumArguments(); ++i)
      if (!state.contains(i))
        dataAxes |= getSampleAxes(i);
  }

  AxisSet getDataAxes() const { return state.empty() ? 0 : dataAxes; }

  /// Returns the weight that is split along one of `axes` and of which `value` is a part, however laid out.
  BlockArgument findWeight(Value value, AxisSet axes) {
    while (value.getDefiningOp() && isLayout(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != &step.getFunctionBody().front() ||
        !state.contains(argument.getArgNumber()) || (getSplitAxes(argument.getArgNumber()) & axes) == 0)
      return {};
    return argument;
  }

  /// Returns the weight of which `value` is a piece that a loop may take, if the step updates it; null if
  /// there is none.
  BlockArgument findUpdatedWeight(Value value) {
    while (true) {
      Operation *op = value.getDefiningOp();
      if (op && (isLayout(op) || isa<stablehlo::SliceOp, stablehlo::DynamicSliceOp>(op))) {
        value = op->getOperand(0);
        continue;
      }
      auto argument = dyn_cast<BlockArgument>(value);
      if (!argument)
        return {};
      if (SmallVector<Value> incoming = getIncomingValues(argument); !incoming.empty()) {
        value = incoming.front(); // what the loop takes
        continue;
      }
      bool isStep = argument.getOwner() == &step.getFunctionBody().front();
      return isStep && isUpdated(argument) ? argument : BlockArgument();
    }
  }

  /// Returns the weight's name and its bytes as a whole.
  std::string describe(BlockArgument weight) {
    unsigned i = weight.getArgNumber();
    auto name = step.getArgAttrOfType<StringAttr>(i, kNameAttrName);
    auto whole = step.getArgAttrOfType<TypeAttr>(i, kGlobalTypeAttrName);
    auto type = dyn_cast<RankedTensorType>(whole ? whole.getValue() : weight.getType());
    return "weight '" + (name ? name.str() : std::to_string(i)) + "' (" +
           std::to_string(type ? getBytes(type) : 0) + " bytes as a whole)";
  }

private:
  /// Returns the axes along which an argument of data is split into samples. Those are along its first
  /// dimension, but where an axis of data alone splits another one, they are along that: `[sequence, batch]`.
  AxisSet getSampleAxes(unsigned argument) {
    SmallVector<AxisSet> dimensions = getAxesOfDimensions(argument);
    auto isOfDataAlone = [&](AxisSet axes) { return (axes & ~stateAxes) != 0; };
    if (auto *samples = llvm::find_if(dimensions, isOfDataAlone); samples != dimensions.end())
      return *samples;
    return dimensions.empty() ? 0 : dimensions.front();
  }

  bool isUpdated(BlockArgument argument) {
    Operation *terminator = step.getFunctionBody().front().getTerminator();
    for (auto [i, value] : llvm::enumerate(terminator->getOperands()))
      if (auto feeds = step.getResultAttrOfType<IntegerAttr>(i, kFeedsAttrName);
          feeds && feeds.getInt() == argument.getArgNumber())
        return value != argument;
    return false;
  }

  AxisSet getSplitAxes(unsigned argument) {
    AxisSet axes = 0;
    for (AxisSet dimension : getAxesOfDimensions(argument))
      axes |= dimension;
    return axes;
  }

  /// Returns, for each dimension of an argument, the axes that split it.
  SmallVector<AxisSet> getAxesOfDimensions(unsigned argument) {
    SmallVector<AxisSet> axes;
    if (auto sharding = step.getArgAttrOfType<ShardingAttr>(argument, kShardingAttrName))
      for (ArrayAttr dimension : sharding.getDimensions()) {
        AxisSet set = 0;
        for (auto [axis, name] : llvm::enumerate(grid.getMesh().getAxes()))
          if (axis < 64 && llvm::is_contained(dimension, name))
            set |= AxisSet(1) << axis;
        axes.push_back(set & grid.getAllAxes());
      }
    return axes;
  }

  FunctionOpInterface step;
  const RankGrid &grid;
  llvm::DenseSet<int64_t> state;
  AxisSet stateAxes = 0; ///< that split any state
  AxisSet dataAxes = 0;  ///< that split data into samples
};

struct CheckActivations : impl::CheckActivationsPassBase<CheckActivations> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    RankGrid grid(getOperation());
    for (auto step : getOperation().getOps<FunctionOpInterface>()) {
      if (step.isExternal())
        continue;
      StepArguments arguments(step, grid);
      if (arguments.getDataAxes() != 0)
        check(step, arguments, grid);
    }
  }

private:
  void check(FunctionOpInterface step, StepArguments &arguments, RankGrid &grid) {
    SmallVector<TravellingActivation> exchanges;
    AxisSet axes = 0;
    int64_t bytes = 0;
    step.walk([&](CollectiveOpInterface op) {
      AxisSet shared = grid.getVaryingAxes(op.getGroups()) & arguments.getDataAxes();
      if (shared == 0 || !isa<AllGatherOp, AllReduceOp, ReduceScatterOp>(op))
        return;
      for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i) {
        if (!isActivationKind(op.getLayer(i).getKind()))
          continue;
        BlockArgument weight = isa<AllGatherOp>(op)
                                   ? findUsedWith(op.getResultTensors()[i], arguments, shared)
                                   : findMadeWith(op.getInputs()[i], arguments, shared);
        if (!weight)
          continue;
        exchanges.push_back({op,
                             getBytes(cast<RankedTensorType>(isa<AllGatherOp>(op) ? op->getResult(i).getType()
                                                                                  : op.getInputType(i))),
                             weight});
        axes |= shared;
        bytes += exchanges.back().bytes;
      }
    });
    if (BlockArgument weight = findWeightWithoutGradient(step, arguments, grid))
      step.walk([&](CollectiveOpInterface op) {
        if (!isa<AllToAllOp>(op))
          return;
        AxisSet shared = grid.getVaryingAxes(op.getGroups()) & arguments.getDataAxes();
        for (unsigned i = 0, e = op.getInputs().size(); shared != 0 && i < e; ++i)
          // Tokens are meant to travel.
          if (LayerKind kind = op.getLayer(i).getKind();
              kind == LayerKind::Activation || kind == LayerKind::ActivationGradient) {
            exchanges.push_back({op, getBytes(op.getInputType(i)), weight});
            axes |= shared;
            bytes += exchanges.back().bytes;
          }
      });
    if (!exchanges.empty())
      report(exchanges, bytes, grid.describe(axes), arguments);
  }

  /// Returns a weight that is gathered along an axis of the data, and whose gradient is not reduced: the
  /// values that it is computed from were brought to the weight's ranks.
  static BlockArgument findWeightWithoutGradient(FunctionOpInterface step, StepArguments &arguments,
                                                 RankGrid &grid) {
    llvm::DenseSet<StringRef> reduced;
    llvm::MapVector<StringRef, BlockArgument> gathered;
    step.walk([&](CollectiveOpInterface op) {
      for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i) {
        LayerAttr layer = op.getLayer(i);
        if (isGradientKind(layer.getKind()))
          reduced.insert(layer.getName());
        if (layer.getKind() == LayerKind::Weight && isa<AllGatherOp>(op) &&
            (grid.getVaryingAxes(op.getGroups()) & arguments.getDataAxes()) != 0)
          if (BlockArgument weight = arguments.findUpdatedWeight(op.getInputs()[i]))
            gathered[layer.getName()] = weight;
      }
    });
    for (auto [name, weight] : gathered)
      if (!reduced.contains(name))
        return weight;
    return {};
  }

  /// Returns the weight with which a gathered activation is multiplied.
  static BlockArgument findUsedWith(Value gathered, StepArguments &arguments, AxisSet axes) {
    SmallVector<Value> worklist{gathered};
    while (!worklist.empty())
      for (Operation *user : worklist.pop_back_val().getUsers()) {
        if (isLayout(user))
          worklist.push_back(user->getResult(0));
        if (isContraction(user))
          for (Value operand : user->getOperands())
            if (BlockArgument weight = arguments.findWeight(operand, axes))
              return weight;
      }
    return {};
  }

  /// Returns the weight in the product that is summed over ranks.
  static BlockArgument findMadeWith(Value summed, StepArguments &arguments, AxisSet axes) {
    while (summed.getDefiningOp() && isLayout(summed.getDefiningOp()))
      summed = summed.getDefiningOp()->getOperand(0);
    if (Operation *product = summed.getDefiningOp(); product && isContraction(product))
      for (Value operand : product->getOperands())
        if (BlockArgument weight = arguments.findWeight(operand, axes))
          return weight;
    return {};
  }

  static void report(ArrayRef<TravellingActivation> exchanges, int64_t bytes, const std::string &axes,
                     StepArguments &arguments) {
    constexpr size_t kMostNotes = 4;
    CollectiveOpInterface first = exchanges[0].op;
    InFlightDiagnostic warning = first->emitWarning();
    warning << "activations travel in place of weights: " << exchanges.size()
            << (exchanges.size() == 1 ? " tensor of " : " tensors, ") << bytes << " bytes, along axis "
            << axes << " of the mesh, which splits the batch and weights; expected weights "
            << "to be gathered: constrain activations to the sharding of the batch "
               "(jax.lax.with_sharding_constraint), or gather weights in the step";
    for (const TravellingActivation &exchange : exchanges.take_front(kMostNotes)) {
      CollectiveOpInterface op = exchange.op;
      warning.attachNote(op.getLoc()) << op.getKind() << " with id " << op.getId() << ": " << exchange.bytes
                                      << " bytes for " << arguments.describe(exchange.weight);
    }
  }
};

} // namespace
} // namespace cgx
