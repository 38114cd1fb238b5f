//===-- plan/Plan.cpp - Plans as JSON -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/plan/Plan.h"

#include "Fields.h"

namespace cgx::plan {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

static Cost parseCost(const Json &json, const char *place) {
  Fields fields(json, place);
  return {fields.amount("squared_error"), fields.amount("wire_bytes"), fields.amountOr("seconds", 0)};
}

static OrderedJson costJson(const Cost &cost) {
  return {{"squared_error", cost.error}, {"wire_bytes", cost.bytes}, {"seconds", cost.seconds}};
}

Plan Plan::parse(std::string_view text) {
  Json json = formats::parseSchema(text, "cgx_plan", 1, "cgx-plan solve");
  Fields fields(json, "plan");
  Plan plan;
  plan.program = fields.text("program");
  plan.solver = fields.text("solver");
  plan.proven = fields.at("proven") == true;
  plan.objective = fields.text("objective");
  plan.reference = codecOf(fields, "reference");
  plan.alpha = fields.amount("alpha");
  plan.errorBound = fields.amount("squared_error_bound");
  plan.planned = parseCost(fields.at("planned"), "planned");
  plan.ofReference = parseCost(fields.at("of_reference"), "of_reference");
  const Json &entries = fields.list("layers");
  for (formats::PlannedLayer &layer : formats::parsePlannedLayers(fields)) {
    Fields measured(entries[plan.layers.size()], "layer '" + layer.layer + "'");
    PlannedLayer &added = plan.layers.emplace_back();
    added = {std::move(layer.layer),
             std::move(layer.kind),
             std::move(layer.dtype),
             layer.elements,
             std::move(layer.codec.json),
             measured.amount("squared_error"),
             measured.amount("wire_bytes"),
             measured.amount("raw_bytes"),
             {}};
    if (measured.has("gradient_norm"))
      added.gradientNorm = measured.amount("gradient_norm");
    for (const Json &level : measured.has("levels") ? measured.list("levels") : Json::array())
      added.levels.push_back(level.is_number() ? level.get<float>() : -1.0f);
  }
  return plan;
}

std::string Plan::toJson() const {
  OrderedJson list = OrderedJson::array();
  for (const PlannedLayer &layer : layers) {
    list.push_back({{"layer", layer.layer},
                    {"kind", layer.kind},
                    {"dtype", layer.dtype},
                    {"elements", layer.elements},
                    {"codec", formats::parseJson<OrderedJson>(layer.codec)},
                    {"squared_error", layer.squaredError},
                    {"wire_bytes", layer.wireBytes},
                    {"raw_bytes", layer.rawBytes}});
    if (layer.gradientNorm)
      list.back()["gradient_norm"] = *layer.gradientNorm;
    if (!layer.levels.empty())
      list.back()["levels"] = std::vector<double>(layer.levels.begin(), layer.levels.end());
  }
  OrderedJson json = {{"cgx_plan", 1},
                      {"program", program},
                      {"solver", solver},
                      {"proven", proven},
                      {"objective", objective},
                      {"reference", formats::parseJson<OrderedJson>(reference)},
                      {"alpha", alpha},
                      {"squared_error_bound", errorBound},
                      {"planned", costJson(planned)},
                      {"of_reference", costJson(ofReference)},
                      {"layers", std::move(list)}};
  return json.dump(1) + "\n";
}

Plan makePlan(const Profile &profile, const ProblemOptions &options, const Problem &problem,
              const Solver &solver, const Solution &solution) {
  Plan plan;
  plan.program = profile.program;
  plan.solver = solver.name;
  plan.proven = solution.proven;
  plan.objective = options.objective == Objective::Bytes ? "bytes" : "time";
  plan.reference = options.reference;
  plan.alpha = options.alpha;
  plan.errorBound = problem.errorBound;
  plan.planned = problem.cost(solution.assignment);
  plan.ofReference = problem.reference;
  for (size_t i = 0; i < problem.layers.size(); ++i) {
    const Layer &layer = problem.layers[i];
    const Choice &choice = layer.choices[solution.assignment[i]];
    plan.layers.push_back({layer.name, layer.kind, layer.dtype, layer.elements, choice.codec,
                           choice.error / layer.errorScale, choice.bytes, layer.rawBytes, layer.norm});
  }
  return plan;
}

} // namespace cgx::plan
