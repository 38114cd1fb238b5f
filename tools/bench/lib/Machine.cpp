//===-- Machine.cpp - What was measured of a machine ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "Bench.h"
#include "cgx/manifest/codec_json.h"

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace cgx::bench {

using Json = nlohmann::json;

namespace {

[[noreturn]] void refuse(const std::string &what) { throw Error("machine: " + what); }

double positive(const Json &object, const char *name) {
  auto found = object.find(name);
  if (found == object.end() || !found->is_number() || !(found->get<double>() > 0))
    refuse(std::string("expected a number above 0 as '") + name + "'");
  return found->get<double>();
}

const Json &objectAt(const Json &object, const char *name) {
  auto found = object.find(name);
  if (found == object.end() || !found->is_object())
    refuse(std::string("expected an object as '") + name + "'");
  return *found;
}

cgx_link parseLink(const Json &machine, const char *name) {
  const Json &link = objectAt(machine, name);
  return {positive(link, "latency_seconds"), positive(link, "message_seconds"),
          positive(link, "bytes_per_second")};
}

Json linkJson(const cgx_link &link) {
  return {{"latency_seconds", link.latency_seconds},
          {"message_seconds", link.message_seconds},
          {"bytes_per_second", link.bytes_per_second}};
}

} // namespace

cgx_codec_rates Machine::ratesOf(const cgx_codec &codec) const {
  if (codec.family == CGX_CODEC_IDENTITY || codecs.empty())
    return {};
  const Json wanted = writeCodec(codec);
  const MeasuredCodec *ofFamily = nullptr, *slowest = &codecs.front();
  for (const MeasuredCodec &measured : codecs) {
    if (writeCodec(measured.codec) == wanted)
      return measured.rates;
    if (!ofFamily && measured.codec.family == codec.family)
      ofFamily = &measured;
    if (measured.rates.encode_bytes_per_second < slowest->rates.encode_bytes_per_second)
      slowest = &measured;
  }
  return (ofFamily ? ofFamily : slowest)->rates;
}

Machine Machine::parse(const std::string &text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("cgx_machine", Json()) != 1)
    refuse("expected 'cgx_machine' of version 1, as cgx-bench calibrate writes it");
  Machine machine;
  machine.transport = json.value("transport", "");
  machine.ranks = json.value("ranks", 0u);
  machine.model = {parseLink(json, "link"), parseLink(json, "inside"),
                   static_cast<uint64_t>(positive(json, "local")), positive(json, "reduce_bytes_per_second")};
  if (!json.contains("codecs") || !json["codecs"].is_array() || json["codecs"].empty())
    refuse("expected rates of at least one codec as 'codecs'");
  for (const Json &entry : json["codecs"]) {
    MeasuredCodec &measured = machine.codecs.emplace_back();
    if (std::string wrong = readCodec(objectAt(entry, "codec"), measured.codec); !wrong.empty())
      refuse("codec: " + wrong);
    measured.rates = {positive(entry, "encode_bytes_per_second"), positive(entry, "decode_bytes_per_second")};
  }
  return machine;
}

Machine Machine::load(const std::string &path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (!(text << file.rdbuf()))
    throw Error("cannot read '" + path + "'");
  return parse(std::move(text).str());
}

std::string Machine::toJson() const {
  Json list = Json::array();
  for (const MeasuredCodec &measured : codecs)
    list.push_back({{"codec", writeCodec(measured.codec)},
                    {"encode_bytes_per_second", measured.rates.encode_bytes_per_second},
                    {"decode_bytes_per_second", measured.rates.decode_bytes_per_second}});
  Json json = {{"cgx_machine", 1},
               {"transport", transport},
               {"ranks", ranks},
               {"local", model.local},
               {"link", linkJson(model.link)},
               {"inside", linkJson(model.inside)},
               {"reduce_bytes_per_second", model.reduce_bytes_per_second},
               {"codecs", list}};
  return json.dump(1) + "\n";
}

} // namespace cgx::bench
