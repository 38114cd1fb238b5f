//===-- ChooseAlgorithms.cpp - Which messages an all-reduce is made of ----===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodecText.h"
#include "CollectiveCost.h"

#include "cgx/Dialect/Cgx/CollectiveOperands.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/FormatVariadic.h"

namespace cgx {
#define GEN_PASS_DEF_CHOOSEALGORITHMSPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

struct ChooseAlgorithms : impl::ChooseAlgorithmsPassBase<ChooseAlgorithms> {
  using ChooseAlgorithmsPassBase::ChooseAlgorithmsPassBase;

  void runOnOperation() override {
    if (failed(readOptions()))
      return signalPassFailure();
    WalkResult result = getOperation().walk([&](AllReduceOp op) { return WalkResult(visit(op)); });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult readOptions() {
    auto emitError = [&] { return mlir::emitError(getOperation().getLoc()); };
    std::optional<Algorithm> named = symbolizeAlgorithm(algorithm);
    if (!named)
      return emitError() << "expected algorithm to be auto, scatter_reduce_allgather, ring, tree, "
                            "hierarchical or one_shot, got "
                         << algorithm;
    wanted = AllReduceChoice{*named, {}};
    if (!machineFile.empty()) {
      FailureOr<MachineFile> read = MachineFile::read(getOperation(), machineFile);
      if (failed(read))
        return failure();
      machine = *read;
      if (local == 0 && machine->machine().local > 1)
        local = static_cast<int64_t>(machine->machine().local);
    }
    if (local == 0)
      return *named != Algorithm::Hierarchical
                 ? success()
                 : emitError() << "expected local, the ranks of a host, with the algorithm hierarchical";
    std::string reason;
    CodecAttrInterface codec = parseCodecText(&getContext(), inside, reason);
    if (!codec)
      return emitError() << "inside of hosts: " << reason;
    std::optional<Leaders> which = symbolizeLeaders(leaders);
    if (!which)
      return emitError() << "expected leaders to be all or one, got " << leaders;
    hierarchy = HierarchyAttr::getChecked(emitError, &getContext(), local.getValue(), codec, *which);
    if (!hierarchy)
      return failure();
    if (*named == Algorithm::Hierarchical)
      wanted->hierarchy = hierarchy;
    return success();
  }

  LogicalResult visit(AllReduceOp op) {
    if (op.getGroups().isTrivial() || op.getAlgorithm() != Algorithm::Auto)
      return success();
    if (wanted->algorithm != Algorithm::Auto)
      return set(op, *wanted);
    if (machine)
      choose(op);
    else if (isShort(op))
      op.setAlgorithm(Algorithm::OneShot);
    return success();
  }

  /// Whether all of it is exact, and stays it, and takes no longer than a message does.
  static bool isShort(AllReduceOp op) {
    uint64_t bytes = 0;
    for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i) {
      if (op.getCodec(i) != getIdentityCodec(op.getContext()) || mayBeCompressed(op, i))
        return false;
      RankedTensorType type = op.getInputType(i);
      bytes += type.getNumElements() * cgx_element_bytes(*getCodecElementType(type.getElementType()));
    }
    return llvm::all_of(op.getGroups().getRows(), [&](DenseI64ArrayAttr row) {
      return row.size() < 2 || cgx_is_for_one_shot(row.size(), bytes);
    });
  }

  LogicalResult set(AllReduceOp op, const AllReduceChoice &choice) {
    op.setAlgorithm(choice.algorithm);
    if (choice.hierarchy)
      op.setHierarchyAttr(choice.hierarchy);
    return op.verify();
  }

  void choose(AllReduceOp op) {
    AllReduceChoice compressed = getFastest(op, getCodecs(op), hierarchy, *machine),
                    uncompressed = getFastest(op, getExactCodecs(op), hierarchy, *machine);
    bool staysExact = uncompressed.seconds <= compressed.seconds;
    if (staysExact)
      leaveExact(op, compressed.seconds, uncompressed.seconds);
    // Candidates were made so that they fit.
    (void)set(op, staysExact ? uncompressed : compressed);
  }

  void leaveExact(CollectiveOpInterface op, double compressed, double uncompressed) {
    Builder builder(&getContext());
    SmallVector<Attribute> codecs, reasons;
    std::string reason = llvm::formatv("{0:f3} ms exact, {1:f3} ms compressed, by the cost model",
                                       uncompressed * 1e3, compressed * 1e3);
    for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i) {
      StringRef kept = getExactReason(op, i);
      codecs.push_back(getIdentityCodec(&getContext()));
      reasons.push_back(builder.getStringAttr(op.getCodec(i).isExact() ? kept : StringRef(reason)));
    }
    op.setCodecsAttr(builder.getArrayAttr(codecs));
    op.setExactReasonsAttr(builder.getArrayAttr(reasons));
  }

  std::optional<AllReduceChoice> wanted;
  std::optional<MachineFile> machine;
  HierarchyAttr hierarchy; ///< where hosts have several ranks
};

} // namespace
} // namespace cgx
