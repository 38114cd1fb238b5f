//===-- manifest/ScheduleJson.cpp - Algorithms as JSON -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/formats/ScheduleJson.h"

#include "cgx/formats/CodecJson.h"

#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

namespace cgx {

using Json = nlohmann::json;

namespace {

// By number.
constexpr std::array<const char *, CGX_ALGORITHM_COUNT> kAlgorithms = {
#define CGX_ALGORITHM_NAME(ID, number, name, ...) #name,
    CGX_ALGORITHMS(CGX_ALGORITHM_NAME)
#undef CGX_ALGORITHM_NAME
};
constexpr std::array<const char *, 2> kLeaders = {"all", "one"};

std::string readName(const Json &object, const char *field, std::span<const char *const> names,
                     uint32_t &number) {
  if (!object.contains(field))
    return "";
  const Json &value = object[field];
  std::string known;
  for (number = 0; number < names.size(); ++number) {
    if (value == names[number])
      return "";
    known += std::string(known.empty() ? "" : ", ") + names[number];
  }
  number = 0;
  return "expected one of " + known + " as '" + field + "', got " +
         value.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

std::string readHierarchy(const Json &hierarchy, cgx_schedule &schedule) {
  if (!hierarchy.is_object() || !hierarchy.contains("local") || !hierarchy["local"].is_number_unsigned())
    return "expected a number of ranks as 'local' in 'hierarchy'";
  uint64_t local = hierarchy["local"].get<uint64_t>();
  if (local < 1 || local > std::numeric_limits<uint32_t>::max())
    return "expected at least 1 rank per host, and a 32-bit number, got " + std::to_string(local);
  schedule.local = uint32_t(local);
  if (std::string wrong = readName(hierarchy, "leaders", kLeaders, schedule.leaders); !wrong.empty())
    return wrong;
  if (!hierarchy.contains("inside"))
    return "";
  const Json &inside = hierarchy["inside"];
  if (std::string wrong = readCodec(inside, schedule.inside); !wrong.empty())
    return "inside of hosts: " + wrong;
  if (!cgx_codec_has_payloads(&schedule.inside) || inside.contains("back"))
    return "expected a codec of payloads, the same both ways, inside of hosts";
  if (cgx_codec_needs(&schedule.inside, CGX_KEPT_PARAMETER))
    return "expected a codec that reads nothing of an optimizer inside of hosts";
  return inside.contains("error_feedback") ? "expected no error feedback inside of hosts" : "";
}

} // namespace

std::string readKind(const Json &collective, uint32_t &kind) {
  return collective.contains("kind") ? readName(collective, "kind", kCollectiveKinds, kind)
                                     : "expected a 'kind' of collective";
}

std::string readSchedule(const Json &collective, cgx_schedule &schedule) {
  if (std::string wrong = readName(collective, "algorithm", kAlgorithms, schedule.algorithm); !wrong.empty())
    return wrong;
  bool hasHierarchy = collective.contains("hierarchy");
  if (hasHierarchy != bool(cgx_algorithm_has_hosts(schedule.algorithm)))
    return std::string("expected ") + (hasHierarchy ? "no" : "a") + " 'hierarchy' with the algorithm " +
           cgx_algorithm_name(schedule.algorithm);
  return hasHierarchy ? readHierarchy(collective["hierarchy"], schedule) : "";
}

void writeSchedule(const cgx_schedule &schedule, Json &collective) {
  collective["algorithm"] = cgx_algorithm_name(schedule.algorithm);
  if (cgx_algorithm_has_hosts(schedule.algorithm))
    collective["hierarchy"] = {{"local", schedule.local},
                               {"leaders", kLeaders[schedule.leaders]},
                               {"inside", writeCodec(schedule.inside)}};
}

} // namespace cgx
