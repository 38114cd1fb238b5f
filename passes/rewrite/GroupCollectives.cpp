//===-- GroupCollectives.cpp - Fewer, larger exchanges --------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every exchange pays the latency of its messages, however small they are: a
// step with a hundred biases pays it a hundred times. All-reduces that do not
// depend on each other become one variadic all-reduce, whose message to a peer
// holds the payloads of all operands.
//
// Whether two collectives depend on each other is answered by their round: the
// number of collectives on the longest path that leads to them. Those of one
// round are independent of each other, and a block whose ops are ordered by round
// is still in topological order. Both take one scan, so the pass is linear.
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace cgx {
#define GEN_PASS_DEF_GROUPCOLLECTIVESPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

/// All-reduces that may become one: `ops` in program order, `bytes` of their operands.
struct Batch {
  SmallVector<AllReduceOp> ops;
  uint64_t bytes = 0;
};

/// What all-reduces of one batch have in common.
using BatchKey = std::tuple<unsigned, Reduction, Algorithm, Attribute>;

uint64_t operandBytes(AllReduceOp op) {
  uint64_t bytes = 0;
  for (Value input : op.getInputs()) {
    auto type = cast<RankedTensorType>(input.getType());
    bytes += type.getNumElements() * cgx_element_bytes(*getCodecElementType(type.getElementType()));
  }
  return bytes;
}

/// The rounds of the ops of a block: see the top of the file.
class Rounds {
public:
  explicit Rounds(Block &block) : block(block) {
    // Ops with effects keep their order, so each is at least in the round of the last.
    unsigned effectRound = 0;
    for (Operation &op : block) {
      unsigned round = roundOfOperands(op);
      if (!isMemoryEffectFree(&op)) {
        round = std::max(round, effectRound);
        effectRound = round;
      }
      rounds[&op] = round;
    }
  }

  unsigned of(Operation *op) const { return rounds.lookup(op); }

private:
  unsigned roundOfOperands(Operation &op) const {
    unsigned round = 0;
    op.walk([&](Operation *user) {
      for (Value operand : user->getOperands()) {
        Operation *definition = operand.getDefiningOp();
        if (definition && definition->getBlock() == &block)
          round = std::max(round, of(definition) + isa<AllReduceOp>(definition));
      }
    });
    return round;
  }

  Block &block;
  DenseMap<Operation *, unsigned> rounds;
};

/// The batches of a block, each of two ops or more.
SmallVector<Batch> findBatches(Block &block, const Rounds &rounds, uint64_t groupBytes) {
  llvm::MapVector<BatchKey, SmallVector<Batch>> open;
  for (auto op : block.getOps<AllReduceOp>()) {
    uint64_t bytes = operandBytes(op);
    if (bytes > groupBytes)
      continue;
    auto &batches = open[{rounds.of(op), op.getReduction(), op.getAlgorithm(), op.getGroups()}];
    if (batches.empty() || batches.back().bytes + bytes > groupBytes)
      batches.emplace_back();
    batches.back().ops.push_back(op);
    batches.back().bytes += bytes;
  }
  SmallVector<Batch> result;
  for (auto &[key, batches] : open)
    for (Batch &batch : batches)
      if (batch.ops.size() > 1)
        result.push_back(std::move(batch));
  return result;
}

/// Orders the ops of a block by round, keeping the order within a round.
void sortByRound(Block &block, const Rounds &rounds) {
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  llvm::stable_sort(ops, [&](Operation *a, Operation *b) { return rounds.of(a) < rounds.of(b); });
  for (Operation *op : ops)
    op->moveBefore(block.getTerminator());
}

/// The reasons for exactness of an op, one per operand, empty where the filter did not run.
void appendExactReasons(AllReduceOp op, OpBuilder &builder, SmallVectorImpl<Attribute> &reasons) {
  if (auto array = op->getAttrOfType<ArrayAttr>(kExactReasonAttrName))
    llvm::append_range(reasons, array);
  else
    reasons.append(op.getInputs().size(), builder.getStringAttr(""));
}

void merge(const Batch &batch) {
  AllReduceOp last = batch.ops.back();
  OpBuilder builder(last);
  SmallVector<Value> inputs;
  SmallVector<Attribute> codecs, layers, reasons;
  SmallVector<Location> locations;
  int64_t id = last.getId();
  bool filtered = false;
  for (AllReduceOp op : batch.ops) {
    llvm::append_range(inputs, op.getInputs());
    llvm::append_range(codecs, op.getCodecs());
    llvm::append_range(layers, op.getLayers());
    appendExactReasons(op, builder, reasons);
    locations.push_back(op.getLoc());
    id = std::min<int64_t>(id, op.getId());
    filtered |= op->hasAttr(kExactReasonAttrName);
  }
  auto merged = AllReduceOp::create(
      builder, builder.getFusedLoc(locations), ValueRange(inputs).getTypes(), inputs, last.getReduction(), id,
      last.getGroups(), builder.getArrayAttr(codecs), builder.getArrayAttr(layers), last.getAlgorithm());
  if (filtered)
    merged->setAttr(kExactReasonAttrName, builder.getArrayAttr(reasons));
  auto results = merged.getResults().begin();
  for (AllReduceOp op : batch.ops) {
    for (Value result : op.getResults())
      result.replaceAllUsesWith(*results++);
    op.erase();
  }
}

struct GroupCollectives : impl::GroupCollectivesPassBase<GroupCollectives> {
  using GroupCollectivesPassBase::GroupCollectivesPassBase;

  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) {
      if (!block->getOps<AllReduceOp>().empty() && block->mightHaveTerminator())
        blocks.push_back(block);
    });
    for (Block *block : blocks) {
      Rounds rounds(*block);
      SmallVector<Batch> batches = findBatches(*block, rounds, groupBytes);
      if (batches.empty())
        continue;
      sortByRound(*block, rounds);
      for (const Batch &batch : batches)
        merge(batch);
    }
  }
};

} // namespace
} // namespace cgx
