//===-- test/fuzz/FormatsFuzz.cpp - Any text as each kind of document -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bytes.h"

#include "cgx/formats/Machine.h"
#include "cgx/formats/Parse.h"
#include "cgx/plan/Codec.h"
#include "cgx/run/Error.h"
#include "cgx/run/Manifest.h"

#include <iterator>

/// Stops if a rejection has no reason.
static void expectReason(const std::string &reason) {
  if (reason.empty())
    __builtin_trap();
}

/// Parses with the common reader of all formats, and stops unless it accepts what the library accepts, except
/// for depth, length and repeated names.
static bool parse(std::string_view text) {
  try {
    const nlohmann::json json = cgx::formats::parseJson(text);
    if (json != nlohmann::json::parse(text) || cgx::formats::valueText(json).empty())
      __builtin_trap();
    return true;
  } catch (const cgx::formats::Error &error) {
    expectReason(error.what());
    return false;
  }
}

/// Reads a codec, and stops unless its printed form is a codec that prints equally.
static void readCodec(std::string_view text) {
  try {
    const cgx::formats::Codec codec = cgx::formats::parseCodecText(text);
    if (cgx::formats::parseCodecText(codec.json) != codec)
      __builtin_trap();
    (void)cgx::plan::shortCodecLabel(codec.json);
  } catch (const cgx::formats::Error &error) {
    expectReason(error.what());
  }
}

static void readPlan(std::string_view text) {
  std::vector<cgx::formats::PlannedLayer> layers;
  (void)cgx::formats::readPlan(text, layers);
}

static void readMachine(std::string_view text) {
  cgx::formats::Machine machine;
  if (cgx::formats::readMachine(text, machine).empty() &&
      (machine.codecs.empty() || machine.model.local == 0))
    __builtin_trap();
}

static void readMachineLink(std::string_view text) {
  double bytes = 0, latency = 0;
  if (cgx::formats::readMachineLink(text, bytes, latency).empty() && !(bytes > 0 && latency > 0))
    __builtin_trap();
}

static void readManifest(std::string_view text) {
  try {
    (void)cgx::run::Manifest::parse(text);
  } catch (const cgx::run::Error &error) {
    expectReason(error.what());
  }
}

static void readLabel(std::string_view text) {
  try {
    (void)cgx::plan::parseCodecLabel(text);
  } catch (const cgx::formats::Error &error) {
    expectReason(error.what());
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  constexpr void (*readers[])(std::string_view) = {readCodec, readPlan, readMachine, readMachineLink,
                                                   readManifest};
  std::string_view text = Bytes(data, size).text();
  readLabel(text);
  if (parse(text)) {
    for (auto *read : readers)
      read(text);
  } else {
    // Every reader begins with parse() of the whole text, so it is enough if each of them gets a part of the
    // rejected inputs.
    readers[size % std::size(readers)](text);
  }
  return 0;
}
