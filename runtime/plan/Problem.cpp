//===-- plan/Problem.cpp - The optimization problem of a plan ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/plan/Problem.h"

#include "cgx/plan/Codec.h"
#include "cgx/plan/Error.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cgx::plan {

namespace {

/// Returns a candidate's cost for one rank's link: every rank sends its share of the bytes.
Choice makeChoice(const Candidate &candidate, const Link &link, double latency, uint32_t ranks,
                  double errorScale) {
  double transfer = candidate.wireBytes / ranks / link.bytesPerSecond;
  return {candidate.codec, candidate.squaredError * errorScale, candidate.wireBytes,
          latency + candidate.encodeSeconds + candidate.decodeSeconds + transfer};
}

bool dominates(const Choice &a, const Choice &b, bool timeMatters) {
  return a.error <= b.error && a.bytes <= b.bytes && (!timeMatters || a.seconds <= b.seconds);
}

std::vector<Choice> withoutDominated(const std::vector<Choice> &all, bool timeMatters) {
  std::vector<Choice> kept;
  for (size_t i = 0; i < all.size(); ++i) {
    bool isDominated = !std::isfinite(all[i].error);
    for (size_t j = 0; j < all.size() && !isDominated; ++j)
      // The first of two equal candidates stays.
      isDominated = j != i && dominates(all[j], all[i], timeMatters) &&
                    (!dominates(all[i], all[j], timeMatters) || j < i);
    if (!isDominated)
      kept.push_back(all[i]);
  }
  return kept;
}

Layer makeLayer(const LayerProfile &profile, const ProblemOptions &options, bool opensCollective,
                uint32_t ranks, double errorScale, bool &hasReference) {
  Layer layer;
  layer.name = profile.layer;
  layer.kind = profile.kind;
  layer.dtype = profile.dtype;
  layer.elements = profile.elements;
  layer.errorScale = errorScale;
  layer.norm = profile.gradientNorm;
  layer.previousNorm = profile.previousNorm;
  layer.readySeconds = profile.readySeconds;
  double latency = opensCollective ? options.link.latencySeconds : 0;
  const Choice *uncompressed = nullptr;
  for (const Candidate &candidate : profile.candidates)
    layer.all.push_back(makeChoice(candidate, options.link, latency, ranks, errorScale));
  std::stable_sort(layer.all.begin(), layer.all.end(),
                   [](const Choice &a, const Choice &b) { return a.bytes < b.bytes; });
  for (const Choice &choice : layer.all)
    if (choice.codec == kUncompressed)
      uncompressed = &choice;
  if (!uncompressed)
    throw Error("layer '" + layer.name + "' has no candidate 'identity': a layer may always stay exact");
  layer.rawBytes = uncompressed->bytes;
  layer.reference = *uncompressed;
  for (const Choice &choice : layer.all)
    if (choice.codec == options.referenceOf(layer.kind)) {
      hasReference = true;
      // If the gradient is not finite, no lossy codec can be a reference.
      if (std::isfinite(choice.error))
        layer.reference = choice;
    }
  bool timeMatters = options.objective == Objective::Time || std::isfinite(options.maxSeconds);
  layer.choices = withoutDominated(layer.all, timeMatters);
  return layer;
}

/// Returns a scale by kind: 1 for the first, and for others the factor that makes the error of their
/// reference equal to its. An error of 0 cannot be scaled, and a kind whose reference is uncompressed may
/// make no error.
std::map<std::string, double> errorScales(const Profile &profile, const ProblemOptions &options) {
  std::map<std::string, double> errors, scales;
  std::string first = profile.layers.front().kind;
  for (const LayerProfile &layer : profile.layers) {
    scales[layer.kind] = 1;
    for (const Candidate &candidate : layer.candidates)
      if (candidate.codec == options.referenceOf(layer.kind) && std::isfinite(candidate.squaredError))
        errors[layer.kind] += candidate.squaredError;
  }
  // Gradients are the first kind, whatever the order in a step, because reference and alpha referred to them
  // before there were kinds.
  if (errors.count("gradient"))
    first = "gradient";
  for (auto &[kind, scale] : scales)
    if (!options.references.empty() && errors[kind] > 0 && errors[first] > 0)
      scale = errors[first] / errors[kind];
  return scales;
}

void checkOptions(const Profile &profile, const ProblemOptions &options) {
  if (profile.layers.empty())
    throw Error("the profile has no layers: nothing is to be decided");
  if (!(options.alpha >= 0))
    throw Error("expected an alpha that is not negative, got " + std::to_string(options.alpha));
  if (!(options.link.bytesPerSecond > 0))
    throw Error("expected a bandwidth above 0");
  if (profile.ranks == 0)
    throw Error("expected a profile of at least one rank");
}

} // namespace

void ProblemOptions::setReference(std::string_view text) {
  auto [kind, label] = splitKind(text);
  (kind.empty() ? reference : references[kind]) = parseCodecLabel(label);
}

Problem Problem::make(const Profile &profile, const ProblemOptions &options) {
  checkOptions(profile, options);
  std::vector<size_t> order(profile.layers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return profile.layers[a].position < profile.layers[b].position;
  });
  Problem problem;
  problem.objective = options.objective;
  problem.maxSeconds = options.maxSeconds;
  const std::map<std::string, double> scales = errorScales(profile, options);
  for (const auto &[kind, codec] : options.references)
    if (!scales.count(kind))
      throw Error("the reference of " + kind + "s is " + codecLabel(codec) +
                  ", but the profile has no layer of that kind");
  // At least one layer of each kind must have its reference.
  std::map<std::string, bool> hasReference;
  for (const LayerProfile &layer : profile.layers)
    hasReference[layer.kind] = options.referenceOf(layer.kind) == kUncompressed;
  std::optional<int64_t> collective;
  for (size_t index : order) {
    const LayerProfile &layer = profile.layers[index];
    bool opens = collective != layer.collective;
    collective = layer.collective;
    problem.layers.push_back(
        makeLayer(layer, options, opens, profile.ranks, scales.at(layer.kind), hasReference[layer.kind]));
  }
  bool isAny = false;
  for (const auto &[kind, has] : hasReference) {
    isAny |= has;
    if (!has && options.references.count(kind))
      throw Error("the reference " + codecLabel(options.referenceOf(kind)) + " is no candidate of any " +
                  kind);
  }
  if (!isAny)
    throw Error("the reference " + codecLabel(options.reference) + " is no candidate of any layer");
  double end = 0;
  for (const Layer &layer : problem.layers) {
    problem.reference.error += layer.reference.error;
    problem.reference.bytes += layer.reference.bytes;
    end = finish(end, layer.readySeconds, layer.reference.seconds);
  }
  problem.reference.seconds = end;
  problem.errorBound = options.alpha * problem.reference.error;
  return problem;
}

Cost Problem::cost(const Assignment &assignment) const {
  Cost cost;
  for (size_t i = 0; i < layers.size(); ++i) {
    const Choice &choice = layers[i].choices[assignment[i]];
    cost.error += choice.error;
    cost.bytes += choice.bytes;
    cost.seconds = finish(cost.seconds, layers[i].readySeconds, choice.seconds);
  }
  return cost;
}

size_t Problem::indexOf(size_t layer, const Choice &choice) const {
  const std::vector<Choice> &choices = layers[layer].choices;
  for (size_t i = 0; i < choices.size(); ++i)
    if (choices[i].codec == choice.codec)
      return i;
  for (size_t i = 0; i < choices.size(); ++i)
    if (dominates(choices[i], choice, timeMatters()))
      return i;
  // Only a choice of infinite error is dominated by nothing.
  return safest()[layer];
}

Assignment Problem::referenceAssignment() const {
  Assignment assignment(layers.size());
  for (size_t i = 0; i < layers.size(); ++i)
    assignment[i] = indexOf(i, layers[i].reference);
  return assignment;
}

Assignment Problem::safest() const {
  Assignment assignment(layers.size());
  for (size_t i = 0; i < layers.size(); ++i) {
    const std::vector<Choice> &choices = layers[i].choices;
    auto least = std::min_element(choices.begin(), choices.end(),
                                  [](const Choice &a, const Choice &b) { return a.error < b.error; });
    assignment[i] = size_t(least - choices.begin());
  }
  return assignment;
}

} // namespace cgx::plan
