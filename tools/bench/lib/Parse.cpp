//===-- Parse.cpp - Parsing codecs and sizes --------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/formats/Parse.h"
#include "Bench.h"
#include "cgx/codec_table.h"
#include "cgx/formats/CodecJson.h"
#include "cgx/formats/ScheduleJson.h"

#include <nlohmann/json.hpp>

namespace cgx::bench {

using Json = nlohmann::json;

Variant parseCodec(const std::string &text) {
  Variant variant;
  const Json label = readCodecLabel(text);
  try {
    cgx::formats::parseCodec(label); // throws for a name that is no codec's
  } catch (const cgx::formats::Error &error) {
    throw Error("--codec '" + text + "': " + error.what());
  }
  if (std::string wrong = readCodec(label, variant.codec); !wrong.empty())
    throw Error("--codec '" + text + "': " + wrong);
  variant.name = describeCodec(variant.codec);
  return variant;
}

cgx_schedule parseAlgorithm(const std::string &name, uint32_t local) {
  Json entry = {{"algorithm", name}};
  if (name == "hierarchical")
    entry["hierarchy"] = {{"local", local}};
  cgx_schedule schedule{};
  if (std::string wrong = readSchedule(entry, schedule); !wrong.empty())
    throw Error("--algorithm: " + wrong);
  return schedule;
}

uint64_t parseSize(const std::string &text) {
  size_t end = 0;
  double value = 0;
  try {
    value = std::stod(text, &end);
  } catch (const std::exception &) {
    end = 0;
  }
  std::string unit = text.substr(end);
  double factor = unit.empty() || unit == "B"    ? 1
                  : unit == "K" || unit == "KiB" ? 1024
                  : unit == "M" || unit == "MiB" ? 1024.0 * 1024
                  : unit == "G" || unit == "GiB" ? 1024.0 * 1024 * 1024
                                                 : 0;
  if (end == 0 || factor == 0 || !(value * factor >= 4) || value * factor > 8e9)
    throw Error("expected a size from 4 bytes to 8e9, such as 4KiB or 64MiB, got '" + text + "'");
  return static_cast<uint64_t>(value * factor);
}

} // namespace cgx::bench
