//===-- Plan.cpp - The codecs that a plan file names -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/formats/Parse.h"

#include <set>

namespace cgx::formats {

static PlannedLayer parseLayer(const nlohmann::json &entry, size_t position) {
  Fields fields(entry, "layer at position " + std::to_string(position));
  PlannedLayer layer;
  layer.layer = fields.text("layer");
  layer.kind = fields.text("kind");
  layer.dtype = fields.text("dtype");
  layer.elements = fields.count("elements");
  try {
    layer.codec = parseCodec(fields.at("codec"));
  } catch (const Error &error) {
    fields.reject(error.what());
  }
  return layer;
}

std::vector<PlannedLayer> parsePlannedLayers(const Fields &plan) {
  std::vector<PlannedLayer> layers;
  std::set<std::pair<std::string, std::string>> names;
  for (const nlohmann::json &entry : plan.list("layers")) {
    const PlannedLayer &layer = layers.emplace_back(parseLayer(entry, layers.size()));
    if (!names.insert({layer.layer, layer.kind}).second)
      throw Error("layer '" + layer.layer + "' is there twice with kind " + layer.kind);
  }
  if (layers.empty())
    throw Error("expected at least one layer in 'layers'");
  return layers;
}

std::string readPlan(std::string_view text, std::vector<PlannedLayer> &layers) {
  try {
    nlohmann::json json = parseSchema(text, "cgx_plan", 1, "cgx-plan solve");
    layers = parsePlannedLayers(Fields(json, "plan"));
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

} // namespace cgx::formats
