//===-- telemetry/Trace.cpp - Spans of time of one rank ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "telemetry/Trace.h"

#include "status/Status.h"

#include <nlohmann/json.hpp>

namespace cgx {

using Json = nlohmann::ordered_json;

static const char *nameOf(Activity activity) {
  static constexpr std::array<const char *, 7> names = {"step",     "compute", "collective", "encode",
                                                        "exchange", "decode",  "wait"};
  return names[size_t(activity)];
}

/// Returns the event that names a process or thread.
static Json metadata(const char *what, uint32_t rank, uint32_t thread, const std::string &name) {
  return {{"ph", "M"}, {"name", what}, {"pid", rank}, {"tid", thread}, {"args", {{"name", name}}}};
}

/// Returns the properties of a collective that its spans carry besides their times.
static Json describe(const CollectiveInfo &collective) {
  Json layers = Json::array();
  for (const OperandInfo &operand : collective.operands)
    layers.push_back(operand.layer);
  return {{"collective", collective.id}, {"kind", kindName(collective.kind)}, {"layers", std::move(layers)}};
}

std::string Trace::toJson(const Program &program, uint32_t rank) const {
  auto microseconds = [](auto duration) {
    return std::chrono::duration<double, std::micro>(duration).count();
  };
  Json events =
      Json::array({metadata("process_name", rank, 0, concat("rank ", rank)),
                   metadata("thread_name", rank, 0, "step"), metadata("thread_name", rank, 1, "progress")});
  double origin = microseconds(beganAt.time_since_epoch());
  std::vector<Json> descriptions;
  for (const CollectiveInfo &collective : program.collectives)
    descriptions.push_back(describe(collective));
  for (uint32_t thread = 0; thread < 2; ++thread) {
    const Timeline &line = thread == 0 ? step : progress;
    for (const Timeline::Span &span : line.spans) {
      bool named = span.collective != Timeline::kNone;
      std::string name = nameOf(span.activity);
      if (span.activity == Activity::Collective)
        name = concat(kindName(program.collectives[span.collective].kind), " ",
                      program.collectives[span.collective].id);
      Json event = {{"ph", "X"},
                    {"name", std::move(name)},
                    {"cat", nameOf(span.activity)},
                    {"pid", rank},
                    {"tid", thread},
                    {"ts", origin + microseconds(span.begin - began)},
                    {"dur", microseconds(span.end - span.begin)}};
      if (named)
        event["args"] = descriptions[span.collective];
      events.push_back(std::move(event));
    }
    if (line.dropped != 0)
      events.push_back({{"ph", "i"},
                        {"s", "p"},
                        {"name", concat(line.dropped, " later spans were not kept")},
                        {"pid", rank},
                        {"tid", thread},
                        {"ts", origin + microseconds(line.spans.back().end - began)}});
  }
  return events.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

} // namespace cgx
