//===-- Traffic.cpp - Bytes that a step sends -------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Traffic.h"

#include "cgx/wire.h"

#include <algorithm>
#include <utility>

using namespace cgx::run;

/// Returns the collective with the size of the rank's group, and the rank's position in it. A rank in no
/// group gets a group of its own.
static std::pair<cgx_collective, uint32_t> groupOf(const Collective &collective, uint32_t ranks,
                                                   uint32_t rank) {
  cgx_collective one = {.kind = collective.kind,
                        .ranks = ranks,
                        .root = collective.root,
                        .schedule = collective.schedule,
                        .pairs = collective.pairs.data(),
                        .pair_count = collective.pairs.size()};
  if (collective.kind == CGX_PERMUTE)
    return {one, rank};
  for (const std::vector<uint32_t> &group : collective.groups)
    if (auto member = std::find(group.begin(), group.end(), rank); member != group.end()) {
      one.ranks = static_cast<uint32_t>(group.size());
      return {one, static_cast<uint32_t>(member - group.begin())};
    }
  one.ranks = 1;
  return {one, 0};
}

uint64_t cgx::run::sendingRuns(const Collective &collective, uint32_t rank, uint64_t runs) {
  for (size_t pair = 0; pair < collective.sends.size(); ++pair)
    if (collective.pairs.at(pair).source == rank) {
      const std::string &digits = collective.sends[pair];
      const auto rest = digits.begin() + static_cast<std::ptrdiff_t>(runs % digits.size());
      return runs / digits.size() * static_cast<uint64_t>(std::count(digits.begin(), digits.end(), '1')) +
             static_cast<uint64_t>(std::count(digits.begin(), rest, '1'));
    }
  return runs;
}

Traffic cgx::run::traffic(const Collective &collective, const Operand &operand, uint32_t ranks,
                          uint32_t rank) {
  if (collective.decodesAgain)
    return {};
  const auto [one, position] = groupOf(collective, ranks, rank);
  const cgx_codec identity = {}, back = operand.back.value_or(operand.codec);
  auto bytes = [&, &one = one, position = position](const cgx_codec &there, const cgx_codec &back) {
    return cgx_collective_wire_bytes(&one, &there, &back, operand.type, operand.elements, position);
  };
  bool isExact = operand.codec.family == CGX_CODEC_IDENTITY && back.family == CGX_CODEC_IDENTITY;
  bool isInside = collective.schedule.local > 1 && !isExact;
  bool isFixed = cgx_payload_is_fixed(&operand.codec) && cgx_payload_is_fixed(&back) &&
                 (!isInside || cgx_payload_is_fixed(&collective.schedule.inside));
  return {bytes(identity, identity), bytes(operand.codec, back), !isFixed};
}
