//===-- CarrySampleIds.cpp - Sends sample ids with activations ------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both ends must know to which samples the changes belong. The ids are sent beside the activation, four bytes
// a sample, so that a receiver need not be told by the compiler what the sender's schedule was: in GPipe a
// stage takes either its own microbatch or the one that arrived, and its ids are those of the one that it
// takes.
//
//===----------------------------------------------------------------------===//

#include "SampleRows.h"

#include "cgx/Passes/Rewrite.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"

namespace cgx {
#define GEN_PASS_DEF_CARRYSAMPLEIDSPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

/// Returns an argument's path in the tree, its keys joined by '/': of `batch['ids']`, "ids".
std::string keysOf(StringRef name) {
  std::string keys;
  bool isKey = false;
  for (char c : name) {
    if (c == '[' || c == '.') {
      isKey = true;
      keys += keys.empty() ? "" : "/";
    } else if (isKey && c != ']' && c != '\'' && c != '"') {
      keys += c;
    }
  }
  return keys.empty() ? name.str() : keys;
}

/// Returns whether changes of samples are sent. Gathered parts have no sample ids.
bool sendsChanges(CollectiveOpInterface op) {
  return !isa<AllGatherOp>(op) && llvm::any_of(op.getCodecs(), llvm::IsaPred<DeltaAttr>);
}

struct CarrySampleIds : impl::CarrySampleIdsPassBase<CarrySampleIds> {
  using CarrySampleIdsPassBase::CarrySampleIdsPassBase;

  void runOnOperation() override {
    SmallVector<PermuteOp> permutes;
    bool isWrong = false;
    getOperation().walk([&](CollectiveOpInterface op) {
      if (!sendsChanges(op) || (op.getInputs().size() > 1 && isIds(op)))
        return;
      auto permute = dyn_cast<PermuteOp>(op.getOperation());
      if (permute && permute.getInputs().size() == 1 && !op.isStarted()) {
        permutes.push_back(permute);
        return;
      }
      op.emitOpError() << "expected changes (delta) of the one operand of a permute";
      isWrong = true;
    });
    if (isWrong || (!permutes.empty() && failed(carry(permutes))))
      signalPassFailure();
  }

private:
  /// Returns whether the collective got its ids before.
  static bool isIds(CollectiveOpInterface op) {
    return op.getInputType(op.getInputs().size() - 1).getElementType().isInteger(32);
  }

  LogicalResult carry(ArrayRef<PermuteOp> permutes) {
    auto step = getOperation().lookupSymbol<FunctionOpInterface>("main");
    if (!step)
      return PermuteOp(permutes.front())
          .emitOpError("sends changes (delta): expected a step @main, found none");
    FailureOr<unsigned> argument = findIds(step, permutes.front());
    if (failed(argument))
      return failure();
    SampleRows rows(step, *argument);
    for (PermuteOp op : permutes) {
      FailureOr<SampleRows::Dims> dims = rows.dimsOf(op.getInputs().front());
      if (failed(dims))
        return noteOf(op);
      if (*dims != SampleRows::Dims{0})
        return op.emitOpError()
               << "sends changes (delta): expected the first dimension, and no other, to count "
                  "samples of the batch, "
               << (dims->empty() ? "found none that does" : "got others") << " in "
               << op.getInputs().front().getType();
    }
    rows.carryThroughLoops();
    for (PermuteOp op : permutes)
      if (failed(addIds(op, rows)))
        return noteOf(op);
    return rows.connectLoops();
  }

  static LogicalResult noteOf(PermuteOp op) {
    mlir::emitRemark(op.getLoc()) << "the activation is sent here; without delta it needs no ids";
    return failure();
  }

  /// Returns the argument that has the ids: of the name that was given, or of one that says so.
  FailureOr<unsigned> findIds(FunctionOpInterface step, PermuteOp op) {
    SmallVector<std::string> integers;
    SmallVector<unsigned> found;
    for (unsigned i = 0; i < step.getNumArguments(); ++i) {
      auto type = dyn_cast<RankedTensorType>(step.getArgumentTypes()[i]);
      auto name = step.getArgAttrOfType<StringAttr>(i, kNameAttrName);
      if (!type || type.getRank() != 1 || !type.getElementType().isSignlessInteger(32) || !name)
        continue;
      std::string keys = keysOf(name.getValue());
      integers.push_back(keys);
      StringRef leaf =
          StringRef(keys).rsplit('/').second.empty() ? StringRef(keys) : StringRef(keys).rsplit('/').second;
      if (ids.empty() ? llvm::is_contained({"id", "ids", "sample_id", "sample_ids"}, leaf)
                      : keys == ids || name.getValue() == ids)
        found.push_back(i);
    }
    if (found.size() == 1)
      return found.front();
    InFlightDiagnostic error = op.emitOpError();
    error << "sends changes (delta) of samples: expected one argument of the step, "
          << (ids.empty() ? std::string("called ids or sample_ids,") : "'" + ids + "',")
          << " with the number of each sample of the batch in i32, found "
          << (found.empty() ? "none" : "several") << "; i32 vectors are "
          << (integers.empty() ? std::string("none") : llvm::join(integers, ", "))
          << ". Add batch['ids'] to the data, numpy.arange(samples), jit the step with keep_unused=True, or "
             "name it, "
             "sample-ids=";
    return failure();
  }

  static LogicalResult addIds(PermuteOp op, SampleRows &rows) {
    OpBuilder builder(op);
    Value input = op.getInputs().front();
    FailureOr<Value> ids = rows.idsOf(input, {0}, builder);
    if (failed(ids))
      return failure();
    LayerAttr layer = cast<CollectiveOpInterface>(op.getOperation()).getLayer(0);
    auto idsLayer =
        LayerAttr::get(op.getContext(), layer.getName().empty() ? "ids" : layer.getName().str() + "/ids",
                       LayerKind::Other, DenseI64ArrayAttr());
    OperationState state(op.getLoc(), op->getName());
    state.addOperands({input, *ids});
    state.addTypes({op->getResult(0).getType(), ids->getType()});
    state.addAttributes(op->getAttrs());
    auto made = cast<CollectiveOpInterface>(builder.create(state));
    auto append = [&](ArrayAttr all, Attribute last) {
      SmallVector<Attribute> longer(all.begin(), all.end());
      longer.push_back(last);
      return builder.getArrayAttr(longer);
    };
    made.setLayersAttr(append(op.getLayers(), idsLayer));
    made.setCodecsAttr(append(op.getCodecs(), getIdentityCodec(op.getContext())));
    if (ArrayAttr reasons = op.getExactReasonsAttr())
      made.setExactReasonsAttr(append(reasons, builder.getStringAttr("ids of samples")));
    if (DenseI64ArrayAttr origins = op.getOriginsAttr()) {
      SmallVector<int64_t> longer(origins.asArrayRef());
      longer.append({static_cast<int64_t>(op.getId()), 1});
      made.setOriginsAttr(builder.getDenseI64ArrayAttr(longer));
    }
    rows.setIds(made->getResult(0), {0}, made->getResult(1));
    op->getResult(0).replaceAllUsesWith(made->getResult(0));
    op->erase();
    return success();
  }
};

} // namespace
} // namespace cgx
