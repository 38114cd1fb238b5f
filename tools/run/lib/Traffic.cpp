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

using namespace cgx::run;

std::optional<Traffic> cgx::run::traffic(const Collective &collective, const Operand &operand,
                                         uint32_t rank) {
  if (collective.kind != "all_reduce")
    return std::nullopt;
  const cgx_codec identity = {}, back = operand.back.value_or(operand.codec);
  for (const std::vector<uint32_t> &group : collective.groups) {
    auto member = std::find(group.begin(), group.end(), rank);
    if (member == group.end())
      continue;
    auto position = static_cast<uint64_t>(member - group.begin());
    auto bytes = [&](const cgx_codec &there, const cgx_codec &back) {
      return cgx_scheduled_two_way_wire_bytes(&collective.schedule, &there, &back, operand.type,
                                              operand.elements, group.size(), position);
    };
    bool isExact = operand.codec.family == CGX_CODEC_IDENTITY && back.family == CGX_CODEC_IDENTITY;
    bool isInside = collective.schedule.local > 1 && !isExact;
    bool isFixed = cgx_payload_is_fixed(&operand.codec) && cgx_payload_is_fixed(&back) &&
                   (!isInside || cgx_payload_is_fixed(&collective.schedule.inside));
    return Traffic{bytes(identity, identity), bytes(operand.codec, back), !isFixed};
  }
  return Traffic{};
}
