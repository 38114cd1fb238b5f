//===-- plan/Profile.cpp - Measurements of layers ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/plan/Profile.h"

#include "Fields.h"

#include <set>

namespace cgx::plan {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

static Candidate parseCandidate(const Json &json, const std::string &place) {
  Fields fields(json, place);
  Candidate candidate;
  candidate.codec = codecOf(fields, "codec");
  candidate.squaredError = fields.amount("squared_error");
  candidate.wireBytes = fields.amount("wire_bytes");
  if (!std::isfinite(candidate.wireBytes))
    throw Error(place + ": expected a number as 'wire_bytes', got null");
  candidate.encodeSeconds = fields.amountOr("encode_seconds", 0);
  candidate.exchangeSeconds = fields.amountOr("exchange_seconds", 0);
  candidate.decodeSeconds = fields.amountOr("decode_seconds", 0);
  return candidate;
}

static LayerProfile parseLayer(const Json &json, size_t index) {
  Fields fields(json, "layer at position " + std::to_string(index));
  LayerProfile layer;
  layer.layer = fields.text("layer");
  Fields named(json, "layer '" + layer.layer + "'");
  layer.kind = named.text("kind");
  layer.dtype = named.text("dtype");
  layer.elements = named.count("elements");
  layer.collective = int64_t(named.count("collective"));
  layer.position = named.count("position");
  layer.readySeconds = named.amountOr("ready_seconds", 0);
  layer.gradientNorm = named.amount("gradient_norm");
  if (named.has("previous_gradient_norm"))
    layer.previousNorm = named.amount("previous_gradient_norm");
  std::set<std::string> codecs;
  for (const Json &candidate : named.list("candidates")) {
    std::string place = "layer '" + layer.layer + "', candidate " + std::to_string(codecs.size());
    layer.candidates.push_back(parseCandidate(candidate, place));
    if (!codecs.insert(layer.candidates.back().codec).second)
      throw Error(place + ": " + codecLabel(layer.candidates.back().codec) + " is there twice");
  }
  return layer;
}

Profile Profile::parse(std::string_view text) {
  Json json = formats::parseSchema(text, "cgx_profile", 1);
  Fields fields(json, "profile");
  Profile profile;
  profile.program = fields.text("program");
  profile.ranks = uint32_t(fields.count("ranks"));
  profile.firstStep = fields.count("first_step");
  profile.steps = fields.count("steps");
  profile.stepSeconds = fields.amountOr("step_seconds", 0);
  profile.computeSeconds = fields.amountOr("compute_seconds", 0);
  profile.profilingSeconds = fields.amountOr("profiling_seconds", 0);
  std::set<std::pair<std::string, std::string>> names;
  for (const Json &layer : fields.list("layers")) {
    profile.layers.push_back(parseLayer(layer, profile.layers.size()));
    if (!names.insert({profile.layers.back().layer, profile.layers.back().kind}).second)
      throw Error("layer '" + profile.layers.back().layer + "' is there twice with kind " +
                  profile.layers.back().kind);
  }
  return profile;
}

std::string Profile::toJson() const {
  OrderedJson list = OrderedJson::array();
  for (const LayerProfile &layer : layers) {
    OrderedJson candidates = OrderedJson::array();
    for (const Candidate &candidate : layer.candidates)
      candidates.push_back({{"codec", formats::parseJson<OrderedJson>(candidate.codec)},
                            {"squared_error", candidate.squaredError},
                            {"wire_bytes", candidate.wireBytes},
                            {"encode_seconds", candidate.encodeSeconds},
                            {"exchange_seconds", candidate.exchangeSeconds},
                            {"decode_seconds", candidate.decodeSeconds}});
    OrderedJson entry = {{"layer", layer.layer},
                         {"kind", layer.kind},
                         {"dtype", layer.dtype},
                         {"elements", layer.elements},
                         {"collective", layer.collective},
                         {"position", layer.position},
                         {"ready_seconds", layer.readySeconds},
                         {"gradient_norm", layer.gradientNorm}};
    if (layer.previousNorm)
      entry["previous_gradient_norm"] = *layer.previousNorm;
    entry["candidates"] = std::move(candidates);
    list.push_back(std::move(entry));
  }
  OrderedJson json = {{"cgx_profile", 1},
                      {"program", program},
                      {"ranks", ranks},
                      {"first_step", firstStep},
                      {"steps", steps},
                      {"step_seconds", stepSeconds},
                      {"compute_seconds", computeSeconds},
                      {"profiling_seconds", profilingSeconds},
                      {"layers", std::move(list)}};
  return json.dump(1) + "\n";
}

} // namespace cgx::plan
