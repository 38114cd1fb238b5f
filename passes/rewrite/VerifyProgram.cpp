//===-- VerifyProgram.cpp - Checks that no single op can do ---------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Passes/StepRuns.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Cgx/CollectiveOperands.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"

#include <map>

namespace cgx {
#define GEN_PASS_DEF_VERIFYPROGRAMPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// (P2) The ids that were seen. An id belongs to one op per collective; in explicit form, to one op of each
/// step and operand.
class Ids {
public:
  LogicalResult add(CollectiveOpInterface op) { return add(op, op.getId(), /*operand=*/-1, /*step=*/"", ""); }

  LogicalResult add(PayloadOpInterface op) {
    auto compress = dyn_cast<CompressOp>(*op);
    StringRef phase = compress ? stringifyPhase(compress.getPhase()) : "";
    return add(op, op.getId(), op.getOperandNumber(), op->getName().stripDialect(), phase);
  }

private:
  LogicalResult add(Operation *op, int64_t id, int64_t operand, StringRef step, StringRef phase) {
    auto [first, isFirstOfId] = firstOfId.try_emplace(id, op);
    bool bothExplicit = isa<PayloadOpInterface>(op) && isa<PayloadOpInterface>(first->second);
    if (!isFirstOfId && !bothExplicit)
      return refuse(op, first->second) << "expected ids to be unique, got " << id << " again";
    auto [same, isFirstStep] = firstOfStep.try_emplace({{id, operand}, {step, phase}}, op);
    if (!isFirstStep)
      return refuse(op, same->second)
             << "expected one " << step << (phase.empty() ? "" : " of phase ") << phase << " for operand "
             << operand << " of collective " << id << ", got another";
    return success();
  }

  static InFlightDiagnostic refuse(Operation *op, Operation *other) {
    InFlightDiagnostic diagnostic = op->emitOpError();
    diagnostic.attachNote(other->getLoc()) << "the first is here";
    return diagnostic;
  }

  std::map<int64_t, Operation *> firstOfId;
  llvm::DenseMap<std::pair<std::pair<int64_t, int64_t>, std::pair<StringRef, StringRef>>, Operation *>
      firstOfStep;
};

/// Verifies (P3): groups contain each of `numRanks` ranks once. The attribute itself rules out duplicates.
LogicalResult verifyGroups(Operation *op, GroupsAttr groups, int64_t numRanks) {
  if (groups.getRows().empty())
    return success();
  for (DenseI64ArrayAttr row : groups.getRows())
    for (int64_t rank : row.asArrayRef())
      if (rank >= numRanks)
        return op->emitOpError() << "expected groups of ranks 0.." << numRanks - 1 << ", got rank " << rank;
  if (groups.getNumRanks() != numRanks)
    return op->emitOpError() << "expected groups that contain each of " << numRanks << " ranks, got "
                             << groups.getNumRanks() << " of them in " << groups;
  return success();
}

/// Verifies (P4).
LogicalResult verifyReasons(CollectiveOpInterface op) {
  for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i)
    if (StringRef reason = getExactReason(op, i); !reason.empty() && !op.getCodec(i).isExact())
      return op.emitOpError() << "operand " << i << ": expected an exact codec (" << reason << "), got "
                              << op.getCodec(i);
  return success();
}

/// Verifies (P7): the optimizer state that a collective's codecs read is bound to them, and nothing else.
LogicalResult verifyBound(CollectiveOpInterface op, ArrayRef<BindOptimizerStateOp> bound) {
  for (BindOptimizerStateOp one : bound) {
    int64_t operand = one.getOperandNumber();
    if (operand >= int64_t(op.getInputs().size()) || !op.getCodec(operand).readsKept(Kept::Parameter))
      return one.emitOpError() << "expected an operand of collective " << op.getId()
                               << " whose codec reads what an optimizer keeps, got operand " << operand;
    auto parameter = cast<RankedTensorType>(one.getParameter().getType());
    if (parameter.getNumElements() != op.getInputType(operand).getNumElements())
      return one.emitOpError() << "expected as many elements as operand " << operand << ", of type "
                               << op.getInputType(operand) << ", has, got " << parameter;
  }
  for (unsigned i = 0; i < op.getInputs().size(); ++i)
    for (Kept kept : {Kept::Parameter, Kept::FirstMoment, Kept::SecondMoment, Kept::LearningRate}) {
      unsigned count = llvm::count_if(
          bound, [&](BindOptimizerStateOp one) { return one.getOperandNumber() == i && one.getKept(kept); });
      unsigned expected = op.getCodec(i).readsKept(kept);
      if (count != expected)
        return op.emitOpError() << "operand " << i << ", layer '" << op.getLayer(i).getName()
                                << "': expected " << expected << " cgx.bind_optimizer_state of its "
                                << stringifyKept(kept) << ", got " << count;
    }
  return success();
}

/// Verifies (P8): rows of which changes are sent have ids, and a gather has messages for each of its runs.
LogicalResult verifyChanges(CollectiveOpInterface op) {
  for (unsigned i = 0; i < op.getInputs().size(); ++i) {
    if (!isa<DeltaAttr>(op.getCodec(i)))
      continue;
    if (isa<AllGatherOp>(op)) {
      auto samples = uint64_t(cast<DeltaAttr>(op.getCodec(i)).getSamples());
      if (std::optional<uint64_t> runs = getRunsPerStep(op); samples != runs)
        return op.emitOpError() << "operand " << i << ", layer '" << op.getLayer(i).getName()
                                << "': expected changes (delta) with samples = " << runs.value_or(0)
                                << ", how often the gather runs in a step, got " << samples;
      continue;
    }
    unsigned last = op.getInputs().size() - 1;
    RankedTensorType rows = op.getInputType(i), ids = op.getInputType(last);
    if (!isa<PermuteOp>(op) || ids.getRank() != 1 || rows.getRank() < 2 ||
        !ids.getElementType().isSignlessInteger(32) || ids.getDimSize(0) != rows.getDimSize(0) ||
        !op.getCodec(last).isRaw())
      return op.emitOpError()
             << "operand " << i << ", layer '" << op.getLayer(i).getName()
             << "': expected changes (delta) in a permute with the ids of its rows as the last "
                "operand, exact and in i32, got "
             << ids << " beside " << rows;
  }
  return success();
}

/// Verifies (P9): payloads are decoded again after the gather that keeps them, as often as it runs.
LogicalResult verifyDecodedAgain(AllGatherOp op) {
  std::optional<int64_t> id = op ? op.getDecodesAgain() : std::nullopt;
  if (!id)
    return success();
  auto keepsThem = [&](CollectiveOpInterface collective) {
    auto first = dyn_cast_or_null<AllGatherOp>(collective.getOperation());
    return first && first.getId() == *id && first.getKeepsPayloads() && first.getGroups() == op.getGroups() &&
           first.getDim() == op.getDim() && first->getOperandTypes() == op->getOperandTypes() &&
           llvm::none_of(first.getCodecs(), llvm::IsaPred<DeltaAttr>);
  };
  for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode())
    if (keepsThem(getIssued(before)))
      return success();
  return op.emitOpError()
         << "decodes the payloads of gather " << *id
         << " again, expected it before, in the same block, with keeps_payloads, without changes "
            "(delta), and with the same groups, dimension and types of operands";
}

//===----------------------------------------------------------------------===//
// The signature
//===----------------------------------------------------------------------===//

/// The attributes of one argument or result.
struct PlacedValue {
  FunctionOpInterface function;
  StringRef what;
  unsigned number;
  Type type;
  DictionaryAttr attributes;

  InFlightDiagnostic emitError() const { return function->emitOpError() << what << " " << number << ": "; }
};

/// Verifies (P5).
LogicalResult verifyPlacement(const PlacedValue &value, MeshAttr mesh) {
  if (!value.attributes)
    return success();
  auto sharding = value.attributes.getAs<ShardingAttr>(kShardingAttrName);
  auto globalType = value.attributes.getAs<TypeAttr>(kGlobalTypeAttrName);
  auto global = globalType ? dyn_cast<RankedTensorType>(globalType.getValue()) : RankedTensorType();
  if (!sharding)
    return success();
  SmallVector<int64_t> shape;
  if (global)
    shape.assign(global.getShape().begin(), global.getShape().end());
  if (global && shape.size() != sharding.getDimensions().size())
    return value.emitError() << "expected a sharding of " << shape.size() << " dimensions, as " << global
                             << " has, got " << sharding;
  for (auto [dimension, axes] : llvm::enumerate(sharding.getDimensions()))
    for (StringRef axis : axes.getAsValueRange<StringAttr>()) {
      std::optional<int64_t> size = mesh ? mesh.getAxisSize(axis) : std::nullopt;
      if (!size)
        return value.emitError() << "expected the axes of " << kMeshAttrName << " in its sharding, got \""
                                 << axis << "\"";
      if (!global)
        continue;
      if (shape[dimension] % *size != 0)
        return value.emitError() << "expected dimension " << dimension << " of " << global
                                 << " to be a multiple of the axes that split it, got " << sharding
                                 << " over " << mesh;
      shape[dimension] /= *size;
    }
  if (global && global.clone(shape) != value.type)
    return value.emitError() << "expected the local type " << global.clone(shape) << " of global type "
                             << global << " with sharding " << sharding << ", got " << value.type;
  return success();
}

LogicalResult verifyPlacements(FunctionOpInterface main, MeshAttr mesh) {
  for (auto [number, type] : llvm::enumerate(main.getArgumentTypes()))
    if (failed(
            verifyPlacement({main, "argument", unsigned(number), type, main.getArgAttrDict(number)}, mesh)))
      return failure();
  for (auto [number, type] : llvm::enumerate(main.getResultTypes()))
    if (failed(
            verifyPlacement({main, "result", unsigned(number), type, main.getResultAttrDict(number)}, mesh)))
      return failure();
  return success();
}

/// Verifies (P6).
LogicalResult verifyFeeds(FunctionOpInterface main) {
  std::map<int64_t, unsigned> fedBy;
  for (auto [number, type] : llvm::enumerate(main.getResultTypes())) {
    auto feeds = main.getResultAttrOfType<IntegerAttr>(number, kFeedsAttrName);
    if (!feeds)
      continue;
    Type argument = main.getArgumentTypes()[feeds.getInt()];
    if (argument != type)
      return main->emitOpError() << "result " << number << ": expected " << argument
                                 << ", the type of argument " << feeds.getInt() << " that it feeds, got "
                                 << type;
    auto [first, isFirst] = fedBy.try_emplace(feeds.getInt(), number);
    if (!isFirst)
      return main->emitOpError() << "expected argument " << feeds.getInt() << " to be fed once, got results "
                                 << first->second << " and " << number;
  }
  return success();
}

struct VerifyProgram : impl::VerifyProgramPassBase<VerifyProgram> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    ModuleOp module = getOperation();
    if (failed(verifyCollectives(module)))
      return signalPassFailure();
    auto main = dyn_cast_or_null<FunctionOpInterface>(SymbolTable::lookupSymbolIn(module, "main"));
    if (main && (failed(verifyPlacements(main, module->getAttrOfType<MeshAttr>(kMeshAttrName))) ||
                 failed(verifyFeeds(main))))
      signalPassFailure();
  }

private:
  LogicalResult verifyCollectives(ModuleOp module) {
    auto numRanks = module->getAttrOfType<IntegerAttr>(kNumRanksAttrName);
    Ids ids;
    llvm::DenseSet<GroupsAttr> verified;
    std::map<int64_t, SmallVector<BindOptimizerStateOp>> bound;
    module.walk([&](BindOptimizerStateOp op) { bound[op.getId()].push_back(op); });
    WalkResult result = module.walk([&](Operation *op) {
      if (auto communication = dyn_cast<CommunicationOpInterface>(op)) {
        if (!numRanks) { // (P1)
          module.emitOpError() << "expected " << kNumRanksAttrName << ", as the module has collectives";
          return WalkResult::interrupt();
        }
        if (verified.insert(communication.getGroups()).second &&
            failed(verifyGroups(op, communication.getGroups(), numRanks.getInt())))
          return WalkResult::interrupt();
      }
      if (auto collective = dyn_cast<CollectiveOpInterface>(op))
        return WalkResult(success(succeeded(ids.add(collective)) && succeeded(verifyReasons(collective)) &&
                                  succeeded(verifyChanges(collective)) &&
                                  succeeded(verifyDecodedAgain(dyn_cast<AllGatherOp>(op))) &&
                                  succeeded(verifyBound(collective, take(bound, collective.getId())))));
      if (auto payload = dyn_cast<PayloadOpInterface>(op))
        return WalkResult(ids.add(payload));
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    for (auto &[id, ops] : bound)
      if (!ops.empty())
        return ops.front().emitOpError() << "expected a collective of id " << id << ", found none";
    return success();
  }

  static SmallVector<BindOptimizerStateOp> take(std::map<int64_t, SmallVector<BindOptimizerStateOp>> &bound,
                                                int64_t id) {
    auto found = bound.find(id);
    return found == bound.end() ? SmallVector<BindOptimizerStateOp>() : std::exchange(found->second, {});
  }
};

} // namespace
} // namespace cgx
