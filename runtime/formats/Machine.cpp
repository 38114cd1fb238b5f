//===-- Machine.cpp - Machine files of cgx-bench ----------------*- C++ -*-===//
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
    if (fields.has("cores_per_rank"))
      machine.coresPerRank = fields.positive("cores_per_rank");
    if (fields.has("flops_per_second"))
      machine.flopsPerSecond = fields.positive("flops_per_second");
    machine.overlappedShare = fields.amountOr("overlapped_share", 0);
    if (machine.overlappedShare > 1)
      fields.reject("expected a share from 0 to 1 as 'overlapped_share', got " +
                    std::to_string(machine.overlappedShare));
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

static Json linkJson(const cgx_link &link) {
  return {{"latency_seconds", link.latency_seconds},
          {"message_seconds", link.message_seconds},
          {"bytes_per_second", link.bytes_per_second}};
}

std::string writeMachine(const Machine &machine) {
  Json codecs = Json::array();
  for (const MeasuredCodec &measured : machine.codecs)
    codecs.push_back({{"codec", parseJson(measured.codec.json)},
                      {"encode_bytes_per_second", measured.rates.encode_bytes_per_second},
                      {"decode_bytes_per_second", measured.rates.decode_bytes_per_second}});
  Json json = {{"cgx_machine", 1},
               {"transport", machine.transport},
               {"ranks", machine.ranks},
               {"local", machine.model.local},
               {"link", linkJson(machine.model.link)},
               {"inside", linkJson(machine.model.inside)},
               {"reduce_bytes_per_second", machine.model.reduce_bytes_per_second},
               {"codecs", std::move(codecs)}};
  if (machine.coresPerRank > 0)
    json["cores_per_rank"] = machine.coresPerRank;
  if (machine.flopsPerSecond > 0)
    json["flops_per_second"] = machine.flopsPerSecond;
  if (machine.overlappedShare > 0)
    json["overlapped_share"] = machine.overlappedShare;
  return json.dump(1) + "\n";
}

cgx_codec_rates ratesOf(const Machine &machine, const Codec &codec) {
  if (codec.family == "identity" || machine.codecs.empty())
    return {};
  const MeasuredCodec *ofFamily = nullptr, *slowest = &machine.codecs.front();
  for (const MeasuredCodec &measured : machine.codecs) {
    if (measured.codec.json == codec.json)
      return measured.rates;
    if (!ofFamily && measured.codec.family == codec.family)
      ofFamily = &measured;
    if (measured.rates.encode_bytes_per_second < slowest->rates.encode_bytes_per_second)
      slowest = &measured;
  }
  return (ofFamily ? ofFamily : slowest)->rates;
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
