//===-- CollectiveCost.cpp - Seconds of a collective ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CollectiveCost.h"

#include "cgx/cost.h"

#include "llvm/ADT/TypeSwitch.h"

namespace cgx {

using namespace mlir;

static SmallVector<cgx_costed_operand> getOperands(CollectiveOpInterface op,
                                                   ArrayRef<CodecAttrInterface> codecs,
                                                   HierarchyAttr hierarchy, const MachineFile &machine) {
  SmallVector<cgx_costed_operand> operands;
  for (auto [i, codec] : llvm::enumerate(codecs)) {
    RankedTensorType type = op.getInputType(i);
    operands.push_back({codec.getCodec(), machine.ratesOf(codec),
                        hierarchy ? machine.ratesOf(hierarchy.getInside()) : cgx_codec_rates{},
                        static_cast<uint32_t>(*getCodecElementType(type.getElementType())),
                        static_cast<uint64_t>(type.getNumElements())});
  }
  return operands;
}

/// Of the largest group, which ends last.
static uint32_t countRanks(GroupsAttr groups) {
  size_t ranks = 0;
  for (DenseI64ArrayAttr row : groups.getRows())
    ranks = std::max<size_t>(ranks, row.size());
  return ranks;
}

static double getSeconds(AllReduceOp op, ArrayRef<CodecAttrInterface> codecs, Algorithm algorithm,
                         HierarchyAttr hierarchy, const MachineFile &machine) {
  SmallVector<cgx_costed_operand> operands = getOperands(op, codecs, hierarchy, machine);
  cgx_schedule schedule = detail::getSchedule(algorithm, hierarchy ? std::optional(hierarchy) : std::nullopt);
  return cgx_all_reduce_seconds(&machine.machine(), &schedule, operands.data(), operands.size(),
                                countRanks(op.getGroups()));
}

AllReduceChoice getFastest(AllReduceOp op, ArrayRef<CodecAttrInterface> codecs, HierarchyAttr hierarchy,
                           const MachineFile &machine) {
  SmallVector<AllReduceChoice> candidates = {
      {Algorithm::ScatterReduceAllGather, {}}, {Algorithm::Ring, {}}, {Algorithm::Tree, {}}};
  if (llvm::none_of(codecs, [](CodecAttrInterface codec) { return isa<TwoWayAttr>(codec); }))
    candidates.push_back({Algorithm::OneShot, {}});
  bool hasHosts = hierarchy && hierarchy.getLocal() > 1 &&
                  llvm::all_of(op.getGroups().getRows(), [&](DenseI64ArrayAttr row) {
                    return row.size() > hierarchy.getLocal() && row.size() % hierarchy.getLocal() == 0;
                  });
  if (hasHosts)
    candidates.push_back({Algorithm::Hierarchical, hierarchy});
  for (AllReduceChoice &choice : candidates)
    choice.seconds = getSeconds(op, codecs, choice.algorithm, choice.hierarchy, machine);
  return *llvm::min_element(
      candidates, [](const AllReduceChoice &a, const AllReduceChoice &b) { return a.seconds < b.seconds; });
}

SmallVector<CodecAttrInterface> getCodecs(CollectiveOpInterface op) {
  SmallVector<CodecAttrInterface> codecs;
  for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i)
    codecs.push_back(op.getCodec(i));
  return codecs;
}

SmallVector<CodecAttrInterface> getExactCodecs(CollectiveOpInterface op) {
  return SmallVector<CodecAttrInterface>(op.getInputs().size(), getIdentityCodec(op->getContext()));
}

static cgx_collective_kind getKind(CollectiveOpInterface op) {
  return llvm::TypeSwitch<Operation *, cgx_collective_kind>(op)
      .Case([](AllGatherOp) { return CGX_ALL_GATHER; })
      .Case([](ReduceScatterOp) { return CGX_REDUCE_SCATTER; })
      .Case([](AllToAllOp) { return CGX_ALL_TO_ALL; })
      .Case([](BroadcastOp) { return CGX_BROADCAST; })
      .Case([](PermuteOp) { return CGX_PERMUTE; })
      .Default([](Operation *) { return CGX_ALL_REDUCE; });
}

/// A permute whose ranks send to one each, or any other collective between the ranks of its largest group;
/// and the rank that sends the most.
static std::pair<cgx_collective, int64_t> describe(CollectiveOpInterface op, cgx_pair &pair) {
  cgx_collective collective = {};
  collective.kind = getKind(op);
  if (auto permute = dyn_cast<PermuteOp>(op.getOperation())) {
    auto pairs = permute.getPairs();
    auto between = llvm::find_if(pairs, [](auto one) { return one.first != one.second; });
    if (between == pairs.end())
      return {collective, 0};
    pair = {0, 1};
    collective.ranks = 2;
    collective.pairs = &pair;
    collective.pair_count = 1;
    return {collective, (*between).first};
  }
  GroupsAttr groups = cast<CommunicationOpInterface>(op.getOperation()).getGroups();
  collective.ranks = countRanks(groups);
  auto root = isa<BroadcastOp>(op) ? cast<BroadcastOp>(op.getOperation()).getRoot() : 0;
  collective.root = root;
  for (DenseI64ArrayAttr row : groups.getRows())
    if (uint32_t(row.size()) == collective.ranks)
      return {collective, row[root]};
  return {collective, 0};
}

/// Between the hosts that the machine file describes.
static double getSeconds(AllReduceOp op, ArrayRef<CodecAttrInterface> codecs, const MachineFile &machine) {
  if (op.getAlgorithm() != Algorithm::Auto)
    return getSeconds(op, codecs, op.getAlgorithm(), op.getHierarchy().value_or(HierarchyAttr()), machine);
  HierarchyAttr hosts;
  if (const uint64_t local = machine.machine().local; local > 1)
    hosts =
        HierarchyAttr::get(op.getContext(), int64_t(local), getIdentityCodec(op.getContext()), Leaders::All);
  return getFastest(op, codecs, hosts, machine).seconds;
}

CollectiveCost getCost(CollectiveOpInterface op, const MachineFile &machine) {
  SmallVector<CodecAttrInterface> codecs = getCodecs(op);
  auto reduce = dyn_cast<AllReduceOp>(op.getOperation());
  CollectiveCost cost;
  if (reduce) {
    cost.seconds = getSeconds(reduce, codecs, machine);
    SmallVector<CodecAttrInterface> exact = getExactCodecs(op);
    if (double seconds = getSeconds(reduce, exact, machine);
        reduce.getAlgorithm() == Algorithm::Auto && seconds <= cost.seconds) {
      cost.seconds = seconds;
      codecs = exact;
    }
  }
  cgx_pass pass = {};
  for (const cgx_costed_operand &operand : getOperands(op, codecs, /*hierarchy=*/{}, machine))
    cgx_add_to_pass(&pass, &machine.machine(), &operand.codec, &operand.rates, operand.element_type,
                    double(operand.elements));
  if (!reduce) {
    cgx_pair pair = {};
    auto [collective, sender] = describe(op, pair);
    const double bytes = double(cast<CommunicationOpInterface>(op.getOperation()).getWireBytes(sender));
    cost.seconds = cgx_exchange_seconds(&machine.machine(), &collective, &pass, bytes);
  }
  cost.busy = std::min(cgx_busy_seconds(&pass), cost.seconds);
  return cost;
}

} // namespace cgx
