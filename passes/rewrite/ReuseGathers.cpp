//===-- ReuseGathers.cpp - One gather of a value serves all its uses ------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fully sharded training gathers weights for the forward pass, forgets them, and gathers them
// again for the backward pass. Where memory allows, what was gathered is kept instead: the payloads, to be
// decoded again, where they are shorter, and else the value.
//
//===----------------------------------------------------------------------===//

#include "ReuseGathers.h"

#include "MemorySize.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace cgx {
#define GEN_PASS_DEF_REUSEGATHERSPASS
#include "cgx/Passes/RewritePasses.h.inc"

using namespace mlir;

uint64_t getKeptPayloadBytes(CollectiveOpInterface op, unsigned operand) {
  RankedTensorType type = op.getInputType(operand);
  return op.getGroups().getLargestSize() *
         op.getCodec(operand).getPayloadBytes(type.getElementType(), type.getNumElements());
}

namespace {

/// The value that a barrier only orders.
Value throughBarriers(Value value) {
  while (auto barrier = value.getDefiningOp<stablehlo::OptimizationBarrierOp>())
    value = barrier->getOperand(cast<OpResult>(value).getResultNumber());
  return value;
}

/// Whether two values are the same bits: one value, behind barriers, through equal reshapes and conversions.
bool isSame(Value a, Value b) {
  a = throughBarriers(a);
  b = throughBarriers(b);
  if (a == b)
    return true;
  Operation *left = a.getDefiningOp(), *right = b.getDefiningOp();
  if (!left || !right || !isa<stablehlo::ReshapeOp, stablehlo::ConvertOp, stablehlo::TransposeOp>(left))
    return false;
  return left->getName() == right->getName() && left->getAttrDictionary() == right->getAttrDictionary() &&
         a.getType() == b.getType() && isSame(left->getOperand(0), right->getOperand(0));
}

bool isSame(AllGatherOp a, AllGatherOp b) {
  return a.getGroups() == b.getGroups() && a.getDim() == b.getDim() &&
         a.getCodecsAttr() == b.getCodecsAttr() && a->getResultTypes() == b->getResultTypes() &&
         a.getInputs().size() == b.getInputs().size() &&
         llvm::all_of(llvm::zip_equal(a.getInputs(), b.getInputs()),
                      [](auto pair) { return isSame(std::get<0>(pair), std::get<1>(pair)); });
}

/// Gathers of one value, in program order.
struct Gathers {
  SmallVector<AllGatherOp> ops;

  /// Bytes that need not leave the ranks, all of them together.
  uint64_t getSavedBytes(int64_t ranks) const {
    uint64_t bytes = 0;
    AllGatherOp op = ops.front();
    for (int64_t rank = 0; rank < ranks; ++rank)
      bytes += op.getWireBytes(rank);
    return bytes * (ops.size() - 1);
  }

  /// Whether payloads are kept. Those of changes say nothing without the messages.
  bool keepsPayloads() const {
    AllGatherOp op = ops.front();
    return !op.getGroups().isTrivial() && getPayloadBytes() < getValueBytes() &&
           llvm::none_of(op.getCodecs(), llvm::IsaPred<DeltaAttr>);
  }

  /// Bytes that a rank keeps from the first use to the last.
  uint64_t getHeldBytes() const { return keepsPayloads() ? getPayloadBytes() : getValueBytes(); }

private:
  uint64_t getValueBytes() const { return getTensorBytes(AllGatherOp(ops.front())->getResultTypes()); }
  uint64_t getPayloadBytes() const {
    uint64_t bytes = 0;
    AllGatherOp op = ops.front();
    for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i)
      bytes += getKeptPayloadBytes(op, i);
    return bytes;
  }
};

SmallVector<Gathers> findGathers(Block &block) {
  SmallVector<Gathers> all;
  for (auto op : block.getOps<AllGatherOp>()) {
    if (op.getDecodesAgain())
      continue;
    auto known = llvm::find_if(all, [&](const Gathers &gathers) { return isSame(gathers.ops.front(), op); });
    (known == all.end() ? all.emplace_back() : *known).ops.push_back(op);
  }
  llvm::erase_if(all, [](const Gathers &gathers) { return gathers.ops.size() == 1; });
  return all;
}

struct ReuseGathers : impl::ReuseGathersPassBase<ReuseGathers> {
  using ReuseGathersPassBase::ReuseGathersPassBase;

  void runOnOperation() override {
    std::optional<uint64_t> budget = parseMemorySize(memory);
    if (!budget) {
      mlir::emitError(getOperation().getLoc())
          << "expected the memory for gathered values to be a size such as 64MiB, or all, got " << memory;
      return signalPassFailure();
    }
    int64_t ranks = 1;
    if (auto given = getOperation()->getAttrOfType<IntegerAttr>(kNumRanksAttrName))
      ranks = given.getInt();
    SmallVector<Gathers> all;
    getOperation().walk([&](Block *block) { all.append(findGathers(*block)); });
    // What saves most for its bytes first; of equals the one that is gathered last, which is kept for the
    // shortest.
    std::reverse(all.begin(), all.end());
    llvm::stable_sort(all, [&](const Gathers &a, const Gathers &b) {
      return double(a.getSavedBytes(ranks)) * double(b.getHeldBytes()) >
             double(b.getSavedBytes(ranks)) * double(a.getHeldBytes());
    });
    uint64_t left = *budget;
    for (const Gathers &gathers : all) {
      if (gathers.getHeldBytes() > left)
        continue;
      left -= gathers.getHeldBytes();
      reuse(gathers);
    }
  }

private:
  void reuse(const Gathers &gathers) {
    AllGatherOp kept = gathers.ops.front();
    if (gathers.keepsPayloads())
      return decodeAgain(gathers, kept);
    int64_t before = getReuses(kept);
    for (AllGatherOp op : ArrayRef(gathers.ops).drop_front()) {
      before += getReuses(op);
      op->replaceAllUsesWith(kept->getResults());
      op->erase();
    }
    kept->setAttr(kReusesAttrName,
                  Builder(&getContext()).getI64IntegerAttr(before + int64_t(gathers.ops.size()) - 1));
  }

  /// The later ones stay, for their results, and encode nothing.
  void decodeAgain(const Gathers &gathers, AllGatherOp kept) {
    Builder builder(&getContext());
    const size_t operands = kept.getInputs().size();
    const SmallVector<Attribute> codecs(operands, getIdentityCodec(&getContext())),
        reasons(operands, builder.getStringAttr("decodes kept payloads again"));
    for (AllGatherOp op : ArrayRef(gathers.ops).drop_front()) {
      op.setDecodesAgain(kept.getId());
      op.setCodecsAttr(builder.getArrayAttr(codecs));
      op.setExactReasonsAttr(builder.getArrayAttr(reasons));
    }
    kept.setKeepsPayloads(true);
    kept->setAttr(kReusesAttrName,
                  builder.getI64IntegerAttr(getReuses(kept) + int64_t(gathers.ops.size()) - 1));
  }
};

} // namespace
} // namespace cgx
