//===-- Machine.cpp - What was measured of a machine ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "Bench.h"
#include "cgx/formats/Json.h"
#include "cgx/formats/Machine.h"
#include "cgx/formats/TextFile.h"
#include "cgx/manifest/codec_json.h"

#include <cstring>
#include <nlohmann/json.hpp>

namespace cgx::bench {

using Json = nlohmann::json;

namespace {

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
  formats::Machine read;
  if (std::string wrong = formats::readMachine(text, read); !wrong.empty())
    throw Error(wrong);
  Machine machine = {read.model, read.transport, read.ranks, {}};
  for (const formats::MeasuredCodec &entry : read.codecs) {
    MeasuredCodec &measured = machine.codecs.emplace_back();
    measured.rates = entry.rates;
    if (std::string wrong = readCodec(formats::parseJson(entry.codec.json), measured.codec); !wrong.empty())
      throw Error("codec " + entry.codec.json + ": " + wrong);
  }
  return machine;
}

Machine Machine::load(const std::string &path) {
  std::string text;
  if (std::string wrong = formats::readTextFile(path, text); !wrong.empty())
    throw Error("cannot read '" + path + "': " + wrong);
  try {
    return parse(text);
  } catch (const Error &error) {
    throw Error("machine '" + path + "': " + error.what());
  }
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
