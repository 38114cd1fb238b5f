//===-- Trace.cpp - Timeline of all ranks ---------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Trace.h"

#include "cgx/formats/Json.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

using namespace cgx::run;
using OrderedJson = nlohmann::ordered_json;

std::string cgx::run::writeTrace(const std::vector<Outcome> &outcomes) {
  OrderedJson events = OrderedJson::array();
  double first = std::numeric_limits<double>::infinity();
  for (const Outcome &outcome : outcomes)
    for (OrderedJson &event :
         cgx::formats::parseJson<OrderedJson>(outcome.trace, {.bytes = outcome.trace.size()})) {
      if (event.contains("ts"))
        first = std::min(first, event["ts"].get<double>());
      events.push_back(std::move(event));
    }
  for (OrderedJson &event : events)
    if (event.contains("ts"))
      event["ts"] = event["ts"].get<double>() - first;
  return OrderedJson({{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}}).dump() + "\n";
}
