//===-- WarnOfLostResiduals.cpp - Warns of errors that are not corrected --===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With error feedback, for gradients x_t,
//
//   sum of the applied updates + residual = x_1 + ... + x_t
//
// as long as the step applies every result of the collective, in the same units. Neither holds for
//
//   where(isfinite(g), w - rate * g, w)     a step that is left out loses its result, and with it the
//                                           residual that was added to it
//   w - rate * (g / scale)                  a residual is in units of the scale of its own step
//
//===----------------------------------------------------------------------===//

#include "LossScales.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace cgx {
#define GEN_PASS_DEF_WARNOFLOSTRESIDUALSPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

bool isFloats(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

/// One side of a choice between regions or values by a number of the step.
struct TakenSide {
  Value condition;
  unsigned side; ///< of a select: 0 is where the condition holds; of a branch: the region
};

/// The floating-point values that are computed from the results of collectives with error feedback, where a
/// choice takes one side.
class Applied {
public:
  Applied(FunctionOpInterface step, const TakenSide *choice) : choice(choice) {
    visit(step.getFunctionBody().front());
  }

  bool contains(Value value) const { return made.contains(value); }

private:
  void visit(Block &block) {
    for (Operation &op : block)
      visit(op);
  }

  void add(Value value) {
    if (isFloats(value))
      made.insert(value);
  }

  void visit(Operation &op) {
    if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
      for (auto [i, result] : llvm::enumerate(collective.getResultTensors()))
        if (isa<ErrorFeedbackAttr>(collective.getCodec(i)) || contains(collective.getInputs()[i]))
          add(result);
      return;
    }
    if (auto select = dyn_cast<stablehlo::SelectOp>(op)) {
      const bool isChosen = choice && getBroadcastNumber(select->getOperand(0)) == choice->condition;
      if (isChosen ? contains(select->getOperand(1 + choice->side))
                   : contains(select->getOperand(1)) || contains(select->getOperand(2)))
        add(select->getResult(0));
      return;
    }
    if (isa<stablehlo::IfOp, stablehlo::CaseOp>(op)) {
      const bool isChosen = choice && op.getOperand(0) == choice->condition;
      for (auto [number, region] : llvm::enumerate(op.getRegions())) {
        visit(region.front());
        if (isChosen && number != choice->side)
          continue;
        for (auto [value, result] : llvm::zip(region.front().getTerminator()->getOperands(), op.getResults()))
          if (contains(value))
            add(result);
      }
      return;
    }
    // A loop may use them in any way.
    bool hasAny = llvm::any_of(op.getOperands(), [&](Value operand) { return contains(operand); });
    for (Region &region : op.getRegions())
      for (Block &block : region)
        hasAny |=
            block
                .walk([&](Operation *nested) {
                  auto collective = dyn_cast<CollectiveOpInterface>(nested);
                  return WalkResult(failure(
                      (collective &&
                       llvm::any_of(collective.getCodecs(),
                                    [](Attribute codec) { return isa<ErrorFeedbackAttr>(codec); })) ||
                      llvm::any_of(nested->getOperands(), [&](Value operand) { return contains(operand); })));
                })
                .wasInterrupted();
    if (hasAny)
      for (Value result : op.getResults())
        add(result);
  }

  const TakenSide *choice;
  llvm::DenseSet<Value> made;
};

struct WarnOfLostResiduals : impl::WarnOfLostResidualsPassBase<WarnOfLostResiduals> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    step = dyn_cast_or_null<FunctionOpInterface>(SymbolTable::lookupSymbolIn(getOperation(), "main"));
    if (!step || step.isExternal() || !step.getFunctionBody().hasOneBlock())
      return;
    fed.clear();
    getOperation().walk([&](CollectiveOpInterface op) {
      for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i)
        if (isa<ErrorFeedbackAttr>(op.getCodec(i)))
          fed.push_back({op, i});
    });
    if (fed.empty())
      return; // the common case costs one walk
    warnOfDroppedSteps();
    warnOfScales();
  }

private:
  std::string describeLayers(size_t count) {
    auto [op, operand] = fed.front();
    std::string text = "layer '" + op.getLayer(operand).getName().str() + "'";
    return count == 1 ? text : text + " and " + std::to_string(count - 1) + " more";
  }

  //===--------------------------------------------------------------------===//
  // Steps that are left out
  //===--------------------------------------------------------------------===//

  /// Returns whether a tensor that the step hands on is made of the results.
  bool isApplied(const TakenSide *choice) {
    Applied applied(step, choice);
    Operation *terminator = step.getFunctionBody().front().getTerminator();
    bool hasState = llvm::any_of(llvm::seq(step.getNumResults()), [&](unsigned i) {
      return step.getResultAttr(i, kFeedsAttrName) != nullptr;
    });
    for (auto [i, value] : llvm::enumerate(terminator->getOperands()))
      if (applied.contains(value) && (!hasState || step.getResultAttr(i, kFeedsAttrName)) &&
          cast<RankedTensorType>(value.getType()).getRank() > 0)
        return true;
    return false;
  }

  /// Returns whether a collective with error feedback runs on this side of a choice. Where none runs, as in a
  /// step of local training, residuals stay unchanged.
  bool anyRuns(const TakenSide &choice) {
    return llvm::any_of(fed, [&](const auto &operand) {
      for (Region *region = operand.first->getParentRegion(); region; region = region->getParentRegion()) {
        Operation *parent = region->getParentOp();
        if (isa_and_nonnull<stablehlo::IfOp, stablehlo::CaseOp>(parent) &&
            parent->getOperand(0) == choice.condition && region->getRegionNumber() != choice.side)
          return false;
      }
      return true;
    });
  }

  void warnOfDroppedSteps() {
    Applied all(step, /*choice=*/nullptr);
    if (!isApplied(nullptr))
      return;
    // Conditions by which some result is left out somewhere, with the side on which it is.
    llvm::SetVector<std::pair<Value, unsigned>> choices;
    getOperation().walk([&](Operation *op) {
      if (auto select = dyn_cast<stablehlo::SelectOp>(op)) {
        Value condition = getBroadcastNumber(select->getOperand(0));
        const bool first = all.contains(select->getOperand(1)), second = all.contains(select->getOperand(2));
        if (condition && first != second && !matchPattern(condition, m_Constant()))
          choices.insert({condition, first ? 1 : 0});
      } else if (isa<stablehlo::IfOp, stablehlo::CaseOp>(op) &&
                 !matchPattern(op->getOperand(0), m_Constant()) &&
                 !op->getParentOfType<stablehlo::WhileOp>()) {
        for (unsigned side = 0; side < op->getNumRegions(); ++side)
          if (llvm::any_of(op->getRegion(side).front().getTerminator()->getOperands(),
                           [&](Value value) { return isFloats(value) && !all.contains(value); }))
            choices.insert({op->getOperand(0), side});
      }
    });
    constexpr size_t most = 8; // of which each costs a walk
    for (auto [condition, side] : ArrayRef(choices.getArrayRef()).take_front(most)) {
      const TakenSide choice = {condition, side};
      if (!anyRuns(choice) || isApplied(&choice))
        continue;
      InFlightDiagnostic warning = mlir::emitWarning(getOperation().getLoc());
      warning << describeLayers(fed.size())
              << ": error feedback does not make up for what steps lose that are left out: where a condition "
                 "says so, nothing of the gradients reaches the state, but residuals have moved on; what was "
                 "applied and the residual are then less than the sum of the gradients, by what the left-out "
                 "step was given of earlier ones";
      warning.attachNote(condition.getLoc()) << "the condition is computed here";
      return;
    }
  }

  //===--------------------------------------------------------------------===//
  // Units that change
  //===--------------------------------------------------------------------===//

  void warnOfScales() {
    SmallVector<std::pair<CollectiveOpInterface, unsigned>> scaled;
    std::optional<unsigned> first;
    LossScales scales(step);
    for (auto [op, operand] : fed)
      if (std::optional<LossScale> scale = op.isStarted() ? std::nullopt : scales.find(op, operand)) {
        scaled.push_back({op, operand});
        first = first ? first : scale->argument;
      }
    if (!first)
      return;
    fed = scaled;
    auto name = step.getArgAttrOfType<StringAttr>(*first, kNameAttrName);
    mlir::emitWarning(getOperation().getLoc())
        << describeLayers(fed.size())
        << ": error feedback keeps what encoding lost in units of the scale that the gradients have when "
           "they travel, argument "
        << *first << " ('" << (name ? name.getValue() : "")
        << "'), which changes from step to step: what is made up for is then too large or too small; divide "
           "gradients by the scale before they are reduced, or leave the scale as it is";
  }

  FunctionOpInterface step;
  SmallVector<std::pair<CollectiveOpInterface, unsigned>> fed; ///< operands with error feedback
};

} // namespace
} // namespace cgx
