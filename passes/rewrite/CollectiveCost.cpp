//===-- CollectiveCost.cpp - Seconds of a collective ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CollectiveCost.h"

#include "cgx/Passes/LayerTable.h"

namespace cgx {

using namespace mlir;

/// Returns the number of ranks of the largest group, which completes last.
static uint32_t countRanks(GroupsAttr groups) {
  size_t ranks = 0;
  for (DenseI64ArrayAttr row : groups.getRows())
    ranks = std::max<size_t>(ranks, row.size());
  return ranks;
}

/// Returns a permute whose ranks send to one each, or any other collective between the ranks of its largest
/// group; and the rank that sends the most.
static std::pair<cgx_collective, int64_t> describe(CollectiveOpInterface op, cgx_pair &pair) {
  cgx_collective collective = {};
  collective.kind = toLayerCollective(op).kind;
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

/// Returns the seconds of a collective between the hosts that the machine file describes.
static double getSeconds(const layers::Collective &collective, const std::vector<layers::Codec> &codecs,
                         const layers::Machine &machine) {
  if (collective.algorithm != CGX_ALGORITHM_AUTO)
    return layers::secondsOf(collective, codecs, collective.algorithm, collective.hierarchy, machine);
  std::optional<layers::Hierarchy> hosts;
  if (const uint64_t local = machine.model().local; local > 1)
    hosts = layers::Hierarchy{int64_t(local), {}, CGX_LEADERS_ALL};
  return layers::fastestOf(collective, codecs, hosts, machine).seconds;
}

CollectiveCost getCost(CollectiveOpInterface op, const layers::Machine &machine) {
  const layers::Collective collective = toLayerCollective(op);
  std::vector<layers::Codec> codecs = layers::codecsOf(collective);
  const bool isReduce = collective.kind == CGX_ALL_REDUCE;
  CollectiveCost cost;
  if (isReduce) {
    cost.seconds = getSeconds(collective, codecs, machine);
    std::vector<layers::Codec> exact = layers::uncompressedCodecsOf(collective);
    if (double seconds = getSeconds(collective, exact, machine);
        collective.algorithm == CGX_ALGORITHM_AUTO && seconds <= cost.seconds) {
      cost.seconds = seconds;
      codecs = exact;
    }
  }
  cgx_pass pass = {};
  for (const cgx_costed_operand &operand :
       layers::costedOperands(collective, codecs, /*hierarchy=*/{}, machine))
    cgx_add_to_pass(&pass, &machine.model(), &operand.codec, &operand.rates, operand.element_type,
                    double(operand.elements));
  if (!isReduce) {
    cgx_pair pair = {};
    auto [described, sender] = describe(op, pair);
    const double bytes = double(cast<CommunicationOpInterface>(op.getOperation()).getWireBytes(sender));
    cost.seconds = cgx_exchange_seconds(&machine.model(), &described, &pass, bytes);
  }
  cost.busy = std::min(cgx_busy_seconds(&pass), cost.seconds);
  return cost;
}

} // namespace cgx
