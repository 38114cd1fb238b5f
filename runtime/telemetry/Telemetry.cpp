//===-- telemetry/Telemetry.cpp - Counters of bytes and times ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "telemetry/Telemetry.h"

#include <nlohmann/json.hpp>

namespace cgx {

using Json = nlohmann::ordered_json;

Telemetry::Telemetry(const Program &program) : collectives(program.collectives.size()) {
  for (size_t i = 0; i < collectives.size(); ++i) {
    CollectiveCounters &counters = collectives[i];
    counters.operands.resize(program.collectives[i].operands.size());
    for (Timer *timer :
         {&counters.encode, &counters.exchange, &counters.decode, &counters.total, &counters.wait})
      timer->collective = uint32_t(i);
  }
}

static double seconds(const Timer &timer) { return std::chrono::duration<double>(timer.time).count(); }

std::string Telemetry::toJson(const Program &program, uint32_t rank, uint64_t transportBytes) const {
  uint64_t wire = 0, raw = 0;
  Json list = Json::array();
  for (size_t i = 0; i < collectives.size(); ++i) {
    const CollectiveCounters &counters = collectives[i];
    Json operands = Json::array();
    for (size_t j = 0; j < counters.operands.size(); ++j) {
      const OperandCounters &operand = counters.operands[j];
      raw += operand.rawBytes;
      wire += operand.wireBytes;
      operands.push_back({{"layer", program.collectives[i].operands[j].layer},
                          {"raw_bytes", operand.rawBytes},
                          {"wire_bytes", operand.wireBytes}});
      if (program.collectives[i].operands[j].changes)
        operands.back()["first_visit_bytes"] = operand.firstBytes;
    }
    list.push_back({{"id", program.collectives[i].id},
                    {"kind", kindName(program.collectives[i].kind)},
                    {"runs", counters.runs},
                    {"operands", std::move(operands)},
                    {"seconds",
                     {{"encode", seconds(counters.encode)},
                      {"exchange", seconds(counters.exchange)},
                      {"decode", seconds(counters.decode)},
                      {"total", seconds(counters.total)},
                      {"wait", seconds(counters.wait)}}}});
  }
  Json json = {{"rank", rank},
               {"steps", steps},
               {"raw_bytes", raw},
               {"wire_bytes", wire},
               {"transport_bytes", transportBytes},
               {"profiling_seconds", seconds(profiling)},
               {"collectives", std::move(list)}};
  return json.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

} // namespace cgx
