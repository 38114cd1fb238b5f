//===-- ReuseGathers.cpp - One gather of a value serves all its uses ------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fully sharded training gathers weights for the forward pass, forgets them, and gathers them
// again for the backward pass. Where memory allows, what was gathered is kept instead.
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

namespace {

using namespace mlir;

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

  /// Bytes that a rank keeps from the first use to the last.
  uint64_t getHeldBytes() const { return getTensorBytes(AllGatherOp(ops.front())->getResultTypes()); }
};

SmallVector<Gathers> findGathers(Block &block) {
  SmallVector<Gathers> all;
  for (auto op : block.getOps<AllGatherOp>()) {
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
    int64_t before = getReuses(kept);
    for (AllGatherOp op : ArrayRef(gathers.ops).drop_front()) {
      before += getReuses(op);
      op->replaceAllUsesWith(kept->getResults());
      op->erase();
    }
    kept->setAttr(kReusesAttrName,
                  Builder(&getContext()).getI64IntegerAttr(before + int64_t(gathers.ops.size()) - 1));
  }
};

} // namespace
} // namespace cgx
