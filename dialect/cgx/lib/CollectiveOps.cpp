//===-- CollectiveOps.cpp - wire bytes and folders of the collectives -----===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/wire.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace cgx;

//===----------------------------------------------------------------------===//
// Wire bytes
//===----------------------------------------------------------------------===//

namespace {

template <typename Op> uint64_t sumOverOperands(Op op, int64_t rank) {
  uint64_t bytes = 0;
  for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i)
    bytes += op.getOperandWireBytes(i, rank);
  return bytes;
}

/// Returns the bytes that `rank` sends for an operand, according to the runtime's schedule (cgx/schedule.h).
template <typename Op>
uint64_t wireBytes(Op op, cgx_collective_kind kind, CodecAttrInterface codec, unsigned operand,
                   int64_t rank) {
  cgx_collective collective = {};
  collective.kind = kind;
  SmallVector<cgx_pair> pairs;
  uint64_t position = rank;
  if constexpr (requires { op.getPairs(); }) { // of ranks, not of positions
    for (auto [source, target] : op.getPairs()) {
      pairs.push_back({static_cast<uint32_t>(source), static_cast<uint32_t>(target)});
      collective.ranks = std::max<uint32_t>(collective.ranks, std::max(source, target) + 1);
    }
    collective.pairs = pairs.data();
    collective.pair_count = pairs.size();
  } else {
    auto membership = op.getGroups().getMembership(rank);
    if (!membership)
      return 0;
    collective.ranks = membership->group.size();
    position = membership->position;
  }
  if constexpr (requires { op.getSchedule(); })
    collective.schedule = op.getSchedule();
  if constexpr (requires { op.getRoot(); })
    collective.root = op.getRoot();
  RankedTensorType type = op.getInputType(operand);
  SmallVector<uint64_t> shape(type.getShape());
  cgx_codec general = codec.getCodec(), back = codec.getBackCodec(),
            there = cgx_codec_for_shape(&general, shape.data(), shape.size());
  return cgx_collective_wire_bytes(&collective, &there, &back, *getCodecElementType(type.getElementType()),
                                   type.getNumElements(), position);
}

} // namespace

uint64_t AllReduceOp::getOperandWireBytesAs(CodecAttrInterface codec, unsigned operand, int64_t rank) {
  return wireBytes(*this, CGX_ALL_REDUCE, codec, operand, rank);
}
uint64_t AllGatherOp::getOperandWireBytesAs(CodecAttrInterface codec, unsigned operand, int64_t rank) {
  return getDecodesAgain() ? 0 : wireBytes(*this, CGX_ALL_GATHER, codec, operand, rank);
}
uint64_t ReduceScatterOp::getOperandWireBytesAs(CodecAttrInterface codec, unsigned operand, int64_t rank) {
  return wireBytes(*this, CGX_REDUCE_SCATTER, codec, operand, rank);
}
uint64_t AllToAllOp::getOperandWireBytesAs(CodecAttrInterface codec, unsigned operand, int64_t rank) {
  return wireBytes(*this, CGX_ALL_TO_ALL, codec, operand, rank);
}
uint64_t BroadcastOp::getOperandWireBytesAs(CodecAttrInterface codec, unsigned operand, int64_t rank) {
  return wireBytes(*this, CGX_BROADCAST, codec, operand, rank);
}
uint64_t PermuteOp::getOperandWireBytesAs(CodecAttrInterface codec, unsigned operand, int64_t rank) {
  return wireBytes(*this, CGX_PERMUTE, codec, operand, rank);
}

uint64_t AllReduceOp::getWireBytes(int64_t rank) { return sumOverOperands(*this, rank); }
uint64_t AllGatherOp::getWireBytes(int64_t rank) { return sumOverOperands(*this, rank); }
uint64_t ReduceScatterOp::getWireBytes(int64_t rank) { return sumOverOperands(*this, rank); }
uint64_t AllToAllOp::getWireBytes(int64_t rank) { return sumOverOperands(*this, rank); }
uint64_t BroadcastOp::getWireBytes(int64_t rank) { return sumOverOperands(*this, rank); }
uint64_t PermuteOp::getWireBytes(int64_t rank) { return sumOverOperands(*this, rank); }

SmallVector<std::pair<int64_t, int64_t>> PermuteOp::getPairs() {
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  auto values = getSourceTargetPairs().getValues<int64_t>();
  for (auto it = values.begin(); it != values.end();) {
    int64_t source = *it++;
    pairs.emplace_back(source, *it++);
  }
  return pairs;
}

uint64_t PermuteOp::getSendingRuns(int64_t rank, uint64_t runs) {
  if (!getSends())
    return runs;
  for (auto [pair, digits] : llvm::zip_equal(getPairs(), getSends().getAsValueRange<StringAttr>()))
    if (pair.first == rank) {
      const uint64_t rest = runs % digits.size();
      return runs / digits.size() * digits.count('1') + digits.take_front(rest).count('1');
    }
  return runs; // of which it sends nothing in any
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

void cgx::detail::getCollectiveEffects(Operation *op,
                                       SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (cast<CollectiveOpInterface>(op).isStarted())
    effects.emplace_back(MemoryEffects::Write::get(), PendingResource::get());
  auto gather = dyn_cast<AllGatherOp>(op);
  if (gather && gather.getKeepsPayloads())
    effects.emplace_back(MemoryEffects::Write::get(), KeptPayloadsResource::get());
  if (gather && gather.getDecodesAgain())
    effects.emplace_back(MemoryEffects::Read::get(), KeptPayloadsResource::get());
}

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

// Pattern: collective(x) over groups of one rank -> x
// A group of one rank sends nothing, so that nothing is encoded: this holds for every codec. What is started
// stays, for its wait.
template <typename Op> static LogicalResult foldTrivialGroups(Op op, SmallVectorImpl<OpFoldResult> &results) {
  if (!op.getGroups().isTrivial() || op.getInputs().empty() || op.isStarted())
    return failure();
  llvm::append_range(results, op.getInputs());
  return success();
}

LogicalResult AllReduceOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  return foldTrivialGroups(*this, results);
}
LogicalResult AllGatherOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  return foldTrivialGroups(*this, results);
}
LogicalResult ReduceScatterOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  return foldTrivialGroups(*this, results);
}
LogicalResult AllToAllOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  return foldTrivialGroups(*this, results);
}
LogicalResult BroadcastOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  return foldTrivialGroups(*this, results);
}

// Pattern: permute(x) where every rank sends to itself -> x
LogicalResult PermuteOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  llvm::SmallSetVector<int64_t, 8> toItself;
  for (auto [source, target] : getPairs()) {
    if (source != target)
      return failure();
    toItself.insert(source);
  }
  // Ranks that are no target get zeros: all ranks must be among the pairs.
  for (DenseI64ArrayAttr row : getGroups().getRows())
    for (int64_t rank : row.asArrayRef())
      if (!toItself.contains(rank))
        return failure();
  if (toItself.empty() || isStarted())
    return failure();
  llvm::append_range(results, getInputs());
  return success();
}

//===----------------------------------------------------------------------===//
// Starts and waits
//===----------------------------------------------------------------------===//

Operation *cgx::detail::getIssuer(Operation *collective) {
  Operation *parent = collective->getParentOp();
  return isa_and_nonnull<StartOp>(parent) ? parent : collective;
}

ResultRange cgx::detail::getResultTensors(Operation *collective) {
  auto start = dyn_cast<StartOp>(getIssuer(collective));
  return start ? (*start.getHandle().user_begin())->getResults() : collective->getResults();
}

CollectiveOpInterface cgx::getIssued(Operation *op) {
  auto start = dyn_cast<StartOp>(op);
  return start ? start.getCollective() : dyn_cast<CollectiveOpInterface>(op);
}

CollectiveOpInterface StartOp::getCollective() { return cast<CollectiveOpInterface>(getBody()->front()); }
CollectiveOpInterface WaitOp::getCollective() { return getHandle().getDefiningOp<StartOp>().getCollective(); }
