//===-- StepTime.cpp - Seconds of a step by the cost model ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepTime.h"

#include "CollectiveCost.h"
#include "MemorySize.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/StepRuns.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace cgx {

using namespace mlir;

namespace {

double countElements(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? double(type.getNumElements()) : 0;
}

/// Returns the number of multiplications and additions of an op.
double countFlops(Operation *op) {
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case([](stablehlo::DotGeneralOp dot) {
        double products = 2 * countElements(dot.getResult());
        for (int64_t dim : dot.getDotDimensionNumbers().getLhsContractingDimensions())
          products *= double(cast<RankedTensorType>(dot.getLhs().getType()).getDimSize(dim));
        return products;
      })
      .Case([](stablehlo::ConvolutionOp convolution) {
        auto kernel = cast<RankedTensorType>(convolution.getRhs().getType());
        int64_t outputs =
            kernel.getDimSize(convolution.getDimensionNumbers().getKernelOutputFeatureDimension());
        return 2 * countElements(convolution.getResult()) * countElements(convolution.getRhs()) /
               double(std::max<int64_t>(outputs, 1));
      })
      .Default([](Operation *) { return 0.0; });
}

/// Returns whether an op takes no time: it only changes the shape of its operand, or is a constant or a
/// terminator.
bool isFree(Operation *op) {
  return matchPattern(op, m_Constant()) || op->hasTrait<OpTrait::IsTerminator>() ||
         isa<stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp>(op);
}

/// The clock of a rank, which computes and communicates at once.
class Clock {
public:
  explicit Clock(const layers::Machine &machine) : machine(machine) {}

  void run(Block &block) {
    for (Operation &op : block)
      run(op);
  }

  double seconds() const { return std::max(computed, traveled); }

private:
  void run(Operation &op) {
    if (auto start = dyn_cast<StartOp>(op))
      return begin(start);
    if (auto wait = dyn_cast<WaitOp>(op)) {
      computed = std::max(computed, thereAt.lookup(wait.getHandle()));
      return;
    }
    if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
      computed = traveled = std::max(computed, traveled) + getCost(collective, machine).seconds;
      return;
    }
    if (isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp>(op))
      return runRegions(op);
    if (auto call = dyn_cast<CallOpInterface>(op)) {
      if (auto callee = dyn_cast_or_null<func::FuncOp>(call.resolveCallable());
          callee && !callee.isExternal())
        run(callee.front());
      return;
    }
    computed += secondsOf(op);
  }

  void begin(StartOp start) {
    const CollectiveCost cost = getCost(start.getCollective(), machine);
    const double share = 1.0 / double(getStepsPerRun(start.getCollective()));
    traveled = std::max(computed, traveled) + cost.seconds * share;
    thereAt[start.getHandle()] = traveled;
    if (!machine.hasCoreToSpare())
      computed += cost.busy * share;
  }

  /// Runs the longest branch, as often as it is taken, or a loop, as often as it goes round, if that is
  /// known.
  void runRegions(Operation &op) {
    const double before = computed, traveledBefore = traveled;
    double longest = 0;
    bool travels = false;
    for (Region &region : op.getRegions()) {
      computed = before;
      traveled = traveledBefore;
      for (Block &block : region)
        run(block);
      double times = 1;
      if (auto loop = dyn_cast<stablehlo::WhileOp>(op)) {
        std::optional<CountedLoop> counted = getCountedLoop(loop);
        times = counted ? double(counted->trips) : 1;
      } else if (!region.empty() && !region.front().empty()) {
        times = double(getStepsPerRun(&op)) / double(getStepsPerRun(&region.front().front()));
      }
      longest = std::max(longest, (computed - before) * times);
      travels |= traveled != traveledBefore;
    }
    computed = before + longest;
    // Transfers inside of a region end there; those that began before go on.
    traveled = travels ? std::max(traveledBefore, computed) : traveledBefore;
  }

  double secondsOf(Operation &op) const {
    if (isFree(&op))
      return 0;
    if (double flops = countFlops(&op); flops > 0)
      return flops / machine.flopsPerSecond();
    // Reductions read more than they write.
    const uint64_t bytes = std::max(getTensorBytes(op.getResultTypes()),
                                    op.getNumRegions() ? getTensorBytes(op.getOperandTypes()) : 0);
    return double(bytes) / machine.model().reduce_bytes_per_second;
  }

  const layers::Machine &machine;
  double computed = 0, traveled = 0; ///< until when ops, and collectives, are busy
  DenseMap<Value, double> thereAt;
};

} // namespace

double getStepSeconds(func::FuncOp step, const layers::Machine &machine) {
  Clock clock(machine);
  clock.run(step.front());
  return clock.seconds();
}

} // namespace cgx
