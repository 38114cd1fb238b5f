//===-- Machine.cpp - What cgx-bench measured of a machine -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/formats/Machine.h"

#include "cgx/formats/Parse.h"

#include <limits>

namespace cgx::formats {

using Json = nlohmann::json;

static Json parseMachine(std::string_view text) {
  return parseSchema(text, "cgx_machine", 1, "cgx-bench calibrate");
}

static cgx_link parseLink(const Fields &machine, const char *name) {
  Fields link = machine.object(name);
  return {link.positive("latency_seconds"), link.positive("message_seconds"),
          link.positive("bytes_per_second")};
}

static MeasuredCodec parseMeasured(const Json &entry, size_t position) {
  Fields fields(entry, "codec at position " + std::to_string(position));
  MeasuredCodec measured;
  measured.rates = {fields.positive("encode_bytes_per_second"), fields.positive("decode_bytes_per_second")};
  try {
    measured.codec = parseCodec(fields.at("codec"));
  } catch (const Error &error) {
    fields.reject(error.what());
  }
  return measured;
}

std::string readMachine(std::string_view text, Machine &machine) {
  try {
    Json json = parseMachine(text);
    Fields fields(json, "machine");
    machine = {};
    if (fields.has("transport"))
      machine.transport = fields.text("transport");
    uint64_t ranks = fields.has("ranks") ? fields.count("ranks") : 0;
    if (ranks > std::numeric_limits<uint32_t>::max())
      fields.reject("expected a 32-bit number as 'ranks', got " + std::to_string(ranks));
    machine.ranks = uint32_t(ranks);
    machine.model = {parseLink(fields, "link"), parseLink(fields, "inside"), fields.count("local"),
                     fields.positive("reduce_bytes_per_second")};
    if (machine.model.local < 1)
      fields.reject("expected at least 1 rank per host as 'local', got 0");
    for (const Json &entry : fields.list("codecs"))
      machine.codecs.push_back(parseMeasured(entry, machine.codecs.size()));
    if (machine.codecs.empty())
      fields.reject("expected rates of at least one codec as 'codecs'");
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

std::string readMachineLink(std::string_view text, double &bytesPerSecond, double &latencySeconds) {
  try {
    Json json = parseMachine(text);
    Fields link = Fields(json, "machine").object("link");
    bytesPerSecond = link.positive("bytes_per_second");
    latencySeconds = link.positive("latency_seconds");
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

} // namespace cgx::formats
