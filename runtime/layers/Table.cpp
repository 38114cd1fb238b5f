//===-- Table.cpp - Collectives and the layers in them --------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/Table.h"

#include <algorithm>
#include <array>

namespace cgx::layers {

template <typename Number, size_t count>
static std::optional<Number> find(const std::array<std::string_view, count> &names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? std::nullopt : std::optional(Number(found - names.begin()));
}

static constexpr std::array<std::string_view, CGX_ELEMENT_TYPE_COUNT> kTypes = {
    "f32", "f16", "bf16", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool"};
std::string_view nameOf(cgx_element_type type) { return kTypes[type]; }
std::optional<cgx_element_type> elementTypeNamed(std::string_view name) {
  return find<cgx_element_type>(kTypes, name);
}

static constexpr std::array<std::string_view, 5> kReductions = {"sum", "mean", "max", "min", "product"};
std::string_view nameOf(Reduction reduction) { return kReductions[size_t(reduction)]; }
std::optional<Reduction> reductionNamed(std::string_view name) { return find<Reduction>(kReductions, name); }

static constexpr std::array<std::string_view, 6> kCollectives = {"all_reduce", "all_gather", "reduce_scatter",
                                                                 "all_to_all", "broadcast",  "permute"};
std::string_view nameOf(cgx_collective_kind kind) { return kCollectives[kind]; }
std::optional<cgx_collective_kind> collectiveNamed(std::string_view name) {
  return find<cgx_collective_kind>(kCollectives, name);
}

std::string_view nameOf(cgx_algorithm algorithm) { return cgx_algorithm_name(algorithm); }
std::optional<cgx_algorithm> algorithmNamed(std::string_view name) {
  for (uint32_t algorithm = 0; algorithm < CGX_ALGORITHM_COUNT; ++algorithm)
    if (name == cgx_algorithm_name(algorithm))
      return cgx_algorithm(algorithm);
  return std::nullopt;
}

static constexpr std::array<std::string_view, 2> kLeaders = {"all", "one"};
std::string_view nameOf(cgx_leaders leaders) { return kLeaders[leaders]; }
std::optional<cgx_leaders> leadersNamed(std::string_view name) { return find<cgx_leaders>(kLeaders, name); }

static int64_t productOf(std::span<const int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

int64_t Layer::countOfLayers() const {
  return shape ? productOf(std::span(*shape).first(size_t(stacked))) : 1;
}

int64_t Operand::elements() const { return productOf(shape); }

int64_t Collective::largestGroup() const {
  size_t largest = 1;
  for (const std::vector<int64_t> &group : groups)
    largest = std::max(largest, group.size());
  return int64_t(largest);
}

std::string checkHierarchy(int64_t local, const Codec &intraHost) {
  if (local < 1) // (C1) of #cgx.hierarchy
    return "expected at least 1 rank per host, got " + std::to_string(local);
  if (intraHost.feedback || intraHost.returned || intraHost.changes) // (C2)
    return "expected a codec without error feedback and another way back inside of hosts, got " +
           assemblyOf(intraHost);
  if (intraHost.needsAllReduce()) // (C3)
    return "expected a codec of payloads inside of hosts, which reads nothing of an optimizer, got " +
           assemblyOf(intraHost);
  return "";
}

std::string checkAlgorithm(const Collective &collective) {
  if (!cgx_algorithm_sends_results(collective.algorithm))
    for (size_t i = 0; i < collective.operands.size(); ++i)
      if (const Codec &codec = collective.operands[i].codec;
          codec.returned && !codec.feedback) // (C10) of all_reduce
        return "operand " + std::to_string(i) + ": expected one codec with the algorithm " +
               std::string(nameOf(collective.algorithm)) + ", which sends nothing back, got " +
               assemblyOf(codec);
  if (collective.hierarchy)
    for (const std::vector<int64_t> &group : collective.groups)
      if (int64_t(group.size()) % collective.hierarchy->local != 0) // (C8)
        return "expected groups of hosts of " + std::to_string(collective.hierarchy->local) +
               " ranks, got a group of " + std::to_string(group.size());
  return "";
}

uint64_t wireBytesOf(const Collective &collective, const Operand &operand, const Codec &codec, int64_t rank) {
  cgx_collective described = {};
  described.kind = collective.kind;
  described.root = uint32_t(collective.root);
  described.schedule = scheduleOf(collective.algorithm, collective.hierarchy);
  auto position = size_t(rank);
  std::vector<cgx_pair> pairs;
  if (collective.kind == CGX_PERMUTE) { // its pairs are ranks, not positions
    for (auto [source, target] : collective.pairs) {
      pairs.push_back({uint32_t(source), uint32_t(target)});
      described.ranks = std::max(described.ranks, uint32_t(std::max(source, target) + 1));
    }
    described.pairs = pairs.data();
    described.pair_count = pairs.size();
  } else {
    bool isMember = collective.groups.empty(); // if no groups are given, each rank is one
    described.ranks = 1;
    for (const std::vector<int64_t> &group : collective.groups)
      if (const auto found = std::ranges::find(group, rank); found != group.end()) {
        isMember = true;
        described.ranks = uint32_t(group.size());
        position = size_t(found - group.begin());
      }
    if (!isMember || collective.decodesAgain)
      return 0;
  }
  const std::vector<uint64_t> shape(operand.shape.begin(), operand.shape.end());
  const cgx_codec general = codec.forwardCodec(), back = codec.returnCodec(),
                  there = cgx_codec_for_shape(&general, shape.data(), shape.size());
  return cgx_collective_wire_bytes(&described, &there, &back, operand.type, uint64_t(operand.elements()),
                                   uint32_t(position));
}

cgx_schedule scheduleOf(cgx_algorithm algorithm, const std::optional<Hierarchy> &hierarchy) {
  cgx_schedule schedule = {};
  schedule.algorithm = algorithm;
  if (hierarchy) {
    schedule.local = uint32_t(hierarchy->local);
    schedule.leaders = hierarchy->leaders;
    schedule.inside = hierarchy->intraHost.forwardCodec();
  }
  return schedule;
}

bool mayBeCompressed(const Collective &collective, const Operand &operand) {
  return operand.isDecided && operand.reason.empty() && operand.codec.isLossless() &&
         collective.acceptsLossyCodecs() &&
         (operand.type == CGX_F32 || operand.type == CGX_F16 || operand.type == CGX_BF16);
}

} // namespace cgx::layers
