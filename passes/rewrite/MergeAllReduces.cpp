//===-- MergeAllReduces.cpp - One exchange for many operands --------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MergeAllReduces.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace cgx {

Rounds::Rounds(Block &block) : block(block) {
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

unsigned Rounds::roundOfOperands(Operation &op) const {
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

MergeKey getMergeKey(AllReduceOp op, const Rounds &rounds) {
  return {rounds.of(op), op.getReduction(), op.getAlgorithm(), op.getGroups(), op.getHierarchyAttr()};
}

uint64_t getOperandBytes(AllReduceOp op) {
  uint64_t bytes = 0;
  for (Value input : op.getInputs()) {
    auto type = cast<RankedTensorType>(input.getType());
    bytes += type.getNumElements() * cgx_element_bytes(*getCodecElementType(type.getElementType()));
  }
  return bytes;
}

/// Appends the reasons why operands of an op stay uncompressed, one per operand, empty where the filter did
/// not run.
static void appendExactReasons(AllReduceOp op, OpBuilder &builder, SmallVectorImpl<Attribute> &reasons) {
  if (ArrayAttr array = op.getExactReasonsAttr())
    llvm::append_range(reasons, array);
  else
    reasons.append(op.getInputs().size(), builder.getStringAttr(""));
}

AllReduceOp merge(ArrayRef<AllReduceOp> ops) {
  AllReduceOp last = ops.back();
  OpBuilder builder(last);
  SmallVector<Value> inputs;
  SmallVector<Attribute> codecs, layers, reasons;
  SmallVector<int64_t> origins;
  SmallVector<Location> locations;
  int64_t id = last.getId();
  bool filtered = false;
  for (AllReduceOp op : ops) {
    llvm::append_range(inputs, op.getInputs());
    llvm::append_range(codecs, op.getCodecs());
    llvm::append_range(layers, op.getLayers());
    appendExactReasons(op, builder, reasons);
    for (Origin origin : getOrigins(op))
      origins.append({origin.first, origin.second});
    locations.push_back(op.getLoc());
    id = std::min<int64_t>(id, op.getId());
    filtered |= op.getExactReasonsAttr() != nullptr;
  }
  auto merged = AllReduceOp::create(
      builder, builder.getFusedLoc(locations), ValueRange(inputs).getTypes(), inputs, last.getReduction(), id,
      last.getGroups(), builder.getArrayAttr(codecs), builder.getArrayAttr(layers), last.getAlgorithm(),
      last.getHierarchyAttr(), filtered ? builder.getArrayAttr(reasons) : ArrayAttr(),
      builder.getDenseI64ArrayAttr(origins));
  auto results = merged.getResults().begin();
  for (AllReduceOp op : ops) {
    for (Value result : op.getResults())
      result.replaceAllUsesWith(*results++);
    op.erase();
  }
  return merged;
}

} // namespace cgx
