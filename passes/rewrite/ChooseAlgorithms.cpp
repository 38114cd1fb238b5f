//===-- ChooseAlgorithms.cpp - Which messages an all-reduce is made of ----===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodecText.h"
#include "MachineFile.h"

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

/// An algorithm as attributes of an all-reduce.
struct Choice {
  Algorithm algorithm;
  HierarchyAttr hierarchy;
  double seconds = 0;
};

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
      return emitError() << "expected algorithm to be auto, scatter_reduce_allgather, ring, tree or "
                            "hierarchical, got "
                         << algorithm;
    wanted = Choice{*named, {}};
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
    return success();
  }

  LogicalResult set(AllReduceOp op, const Choice &choice) {
    op.setAlgorithm(choice.algorithm);
    if (choice.hierarchy)
      op.setHierarchyAttr(choice.hierarchy);
    return op.verify();
  }

  SmallVector<Choice> candidates(GroupsAttr groups) const {
    SmallVector<Choice> all = {
        {Algorithm::ScatterReduceAllGather, {}}, {Algorithm::Ring, {}}, {Algorithm::Tree, {}}};
    bool hasHosts =
        hierarchy && hierarchy.getLocal() > 1 && llvm::all_of(groups.getRows(), [&](DenseI64ArrayAttr row) {
          return row.size() > hierarchy.getLocal() && row.size() % hierarchy.getLocal() == 0;
        });
    if (hasHosts)
      all.push_back({Algorithm::Hierarchical, hierarchy});
    return all;
  }

  /// The fastest algorithm with these codecs.
  Choice fastest(CollectiveOpInterface op, ArrayRef<CodecAttrInterface> codecs) const {
    SmallVector<cgx_costed_operand> operands;
    for (unsigned i = 0; i < codecs.size(); ++i) {
      RankedTensorType type = op.getInputType(i);
      operands.push_back({codecs[i].getCodec(), machine->ratesOf(codecs[i]),
                          hierarchy ? machine->ratesOf(hierarchy.getInside()) : cgx_codec_rates{},
                          static_cast<uint32_t>(*getCodecElementType(type.getElementType())),
                          static_cast<uint64_t>(type.getNumElements())});
    }
    size_t ranks = 0; // the largest group ends last
    for (DenseI64ArrayAttr row : op.getGroups().getRows())
      ranks = std::max<size_t>(ranks, row.size());
    Choice best{Algorithm::ScatterReduceAllGather, {}, std::numeric_limits<double>::infinity()};
    for (Choice choice : candidates(op.getGroups())) {
      cgx_schedule schedule = detail::getSchedule(
          choice.algorithm, choice.hierarchy ? std::optional(choice.hierarchy) : std::nullopt);
      choice.seconds =
          cgx_all_reduce_seconds(&machine->machine(), &schedule, operands.data(), operands.size(), ranks);
      if (choice.seconds < best.seconds)
        best = choice;
    }
    return best;
  }

  void choose(AllReduceOp op) {
    SmallVector<CodecAttrInterface> given, exact;
    for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i) {
      given.push_back(op.getCodec(i));
      exact.push_back(getIdentityCodec(&getContext()));
    }
    Choice compressed = fastest(op, given), uncompressed = fastest(op, exact);
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

  std::optional<Choice> wanted;
  std::optional<MachineFile> machine;
  HierarchyAttr hierarchy; ///< where hosts have several ranks
};

} // namespace
} // namespace cgx
