//===-- PlannedCodecs.cpp - The codecs of a plan --------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/PlannedCodecs.h"

#include "cgx/formats/Plan.h"
#include "cgx/formats/TextFile.h"
#include "cgx/layers/CodecWords.h"

namespace cgx::layers {

PlannedCodecs::Key PlannedCodecs::keyOf(const Layer &layer) {
  return {layer.name, std::string(nameOf(layer.kind))};
}

std::optional<PlannedCodecs> PlannedCodecs::read(const std::string &path, Diagnostics &diagnostics) {
  const auto reject = [&](const std::string &why) {
    diagnostics.fail("plan '" + path + "': " + why);
    return std::nullopt;
  };
  std::string text;
  if (std::string wrong = formats::readTextFile(path, text); !wrong.empty())
    return reject("cannot read it: " + wrong);
  std::vector<formats::PlannedLayer> layers;
  if (std::string wrong = formats::readPlan(text, layers); !wrong.empty())
    return reject(wrong);
  PlannedCodecs codecs;
  codecs.path = path;
  for (const formats::PlannedLayer &layer : layers) {
    std::string reason;
    std::optional<Codec> codec = parseCodec(layer.codec, reason);
    if (!codec)
      return reject("layer '" + layer.layer + "': " + reason);
    codecs.entries[{layer.layer, layer.kind}] = {layer.dtype, static_cast<int64_t>(layer.elements), *codec};
  }
  return codecs;
}

bool PlannedCodecs::checkFits(const Table &table, Diagnostics &diagnostics) const {
  std::vector<std::string> differences;
  std::set<Key> seen;
  for (const Collective &collective : table.collectives)
    for (const Operand &operand : collective.operands) {
      const Key key = keyOf(operand.layer);
      seen.insert(key);
      const auto entry = entries.find(key);
      const std::string place = "layer '" + key.first + "' (" + key.second + ")";
      if (entry == entries.end()) {
        if (operand.reason.empty())
          differences.push_back(place + " is not in the plan");
        continue;
      }
      const std::string dtype(nameOf(operand.type));
      if (entry->second.elements != operand.elements() || entry->second.dtype != dtype)
        differences.push_back(place + " was " + std::to_string(entry->second.elements) + " elements of " +
                              entry->second.dtype + ", is " + std::to_string(operand.elements()) + " of " +
                              dtype);
    }
  for (const auto &[key, entry] : entries)
    if (!seen.count(key))
      differences.push_back("layer '" + key.first + "' (" + key.second + ") is not in the module");
  if (differences.empty())
    return true;
  return diagnostics.fail("plan '" + path + "' was made for another program: " +
                              std::to_string(differences.size()) + " differences",
                          differences);
}

bool PlannedCodecs::namesLayersOf(const Layer &stack) const {
  const Key key = keyOf(stack);
  return !entries.count(key) && entries.count({key.first + "[0]", key.second});
}

std::set<Kind> PlannedCodecs::compressedKinds() const {
  std::set<Kind> kinds;
  for (const auto &[key, entry] : entries)
    if (std::optional<Kind> kind = kindNamed(key.second); kind && !entry.codec.isUncompressed())
      kinds.insert(*kind);
  return kinds;
}

std::optional<Codec> PlannedCodecs::find(const Layer &layer) const {
  const auto entry = entries.find(keyOf(layer));
  return entry == entries.end() ? std::nullopt : std::optional(entry->second.codec);
}

} // namespace cgx::layers
