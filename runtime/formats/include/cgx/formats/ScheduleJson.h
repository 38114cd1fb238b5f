//===-- cgx/formats/ScheduleJson.h - Algorithms as JSON --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Who sends what to whom, as the entries of a manifest have it: "kind", the "algorithm" of an all-reduce, and
// "hierarchy" where that is the one of hosts.
#ifndef CGX_FORMATS_SCHEDULEJSON_H
#define CGX_FORMATS_SCHEDULEJSON_H

#include "cgx/wire.h"

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace cgx {

/// By cgx_collective_kind.
inline constexpr std::array<const char *, CGX_COLLECTIVE_KIND_COUNT> kCollectiveKinds = {
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "permute"};

/// Reads the kind of a collective's entry. Returns what is wrong, or "".
std::string readKind(const nlohmann::json &collective, uint32_t &kind);

/// Reads the algorithm of a collective's entry; without one, CGX_ALGORITHM_AUTO. Returns what is wrong, or
/// "". That groups are of whole hosts is for the caller to check.
std::string readSchedule(const nlohmann::json &collective, cgx_schedule &schedule);

/// Adds it to the entry of a collective.
void writeSchedule(const cgx_schedule &schedule, nlohmann::json &collective);

} // namespace cgx

#endif // CGX_FORMATS_SCHEDULEJSON_H
