//===-- profile/Adaptation.cpp - Codecs that change while a program runs -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "profile/Adaptation.h"

#include "Agreement.h"
#include "cgx/codec_table.h"
#include "cgx/formats/Json.h"
#include "cgx/formats/Parse.h"
#include "cgx/kernels/codecs.h"
#include "cgx/plan/Codec.h"
#include "cgx/plan/Error.h"
#include "cgx/plan/Request.h"
#include "status/Digest.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace cgx {

/// The phase of the messages in which ranks compare plans.
static constexpr uint16_t kComparison = 1;
/// The first character of a text from rank 0, followed by a plan or by an error.
static constexpr char kIsPlan = '+', kIsError = '-';

Status Adaptation::checkUsable(const CodecCandidate &candidate) const {
  bool isTaken = std::any_of(profiled.begin(), profiled.end(), [&](const ProfiledOperand &entry) {
    return infoOf(entry).reject(candidate.codec).empty();
  });
  if (isTaken || cgx_codec_has_payloads(&candidate.codec))
    return Status();
  return Status::error(CGX_INVALID_ARGUMENT, "candidate 'lowrank rank=", candidate.codec.rank,
                       "': no layer of the program takes it: ", infoOf(profiled[0]).reject(candidate.codec));
}

Status Adaptation::beginLevels(const std::string &requestJson) {
  Result<LevelRequest> request = LevelRequest::parse(requestJson);
  if (!request.ok())
    return request.status();
  Result<LevelLearner> made = LevelLearner::make(codecs, profiled, *request);
  if (made.ok())
    learner.emplace(std::move(*made));
  return made.status();
}

/// Returns the JSON of the request for learned levels in the options; "" if there is none.
static Result<std::string> levelsOf(const char *optionsJson) {
  try {
    const nlohmann::json options = formats::parseJson(optionsJson ? optionsJson : "{}");
    return options.contains("levels") ? options["levels"].dump() : std::string();
  } catch (const formats::Error &error) {
    return Status::error(CGX_INVALID_ARGUMENT, "options of a profile: ", error.what());
  }
}

Status Adaptation::begin(const char *optionsJson, uint64_t firstStep) {
  Result<std::string> levels = levelsOf(optionsJson);
  if (!levels.ok() || !levels->empty())
    return levels.ok() ? beginLevels(*levels) : levels.status();
  if (active())
    return Status(CGX_INVALID_ARGUMENT, "a profile begins while another is measured");
  if (profiled.empty())
    return Status(CGX_INVALID_ARGUMENT,
                  "no layer of the program may be compressed, so there is nothing to profile: compile it "
                  "with cgx-opt --cgx-instrument or --cgx-compress");
  if (!profiler) {
    Result<std::vector<CodecCandidate>> candidates = parseCandidates(optionsJson);
    if (!candidates.ok())
      return candidates.status();
    for (const CodecCandidate &candidate : *candidates)
      if (Status status = checkUsable(candidate); !status.ok())
        return status;
    profiler = std::make_unique<Profiler>(codecs, profiled, std::move(*candidates));
  }
  profiler->begin(firstStep, norms);
  return Status();
}

Result<plan::Profile> Adaptation::end(const StepBoundary &boundary) {
  if (!active())
    return Status(CGX_INVALID_ARGUMENT, "a profile ends that has not begun");
  Result<plan::Profile> profile =
      profiler->finish(boundary.transport, boundary.timeout, boundary.seed, boundary.step);
  for (size_t i = 0; profile.ok() && i < norms.size(); ++i)
    norms[i] = profile->layers[i].gradientNorm;
  return profile;
}

Result<std::string> Adaptation::solve(const plan::Profile &profile, const char *requestJson) const {
  try {
    return plan::Request::parse(requestJson ? requestJson : "{}").solve(profile).toJson();
  } catch (const plan::Error &error) {
    return Status(CGX_INVALID_ARGUMENT, error.what());
  }
}

/// Adds the layers of earlier plans that this plan leaves out, because a plan replaces all earlier ones.
static void addWhatHolds(const std::vector<plan::PlannedLayer> &before, plan::Plan &plan) {
  for (const plan::PlannedLayer &layer : before)
    if (std::none_of(plan.layers.begin(), plan.layers.end(), [&](const plan::PlannedLayer &other) {
          return other.layer == layer.layer && other.kind == layer.kind;
        }))
      plan.layers.push_back(layer);
}

Result<std::string> Adaptation::makePlan(const StepBoundary &boundary, const char *requestJson) {
  if (LevelLearner *levels = learning()) {
    Result<plan::Plan> plan = levels->finish(boundary.transport, boundary.timeout, boundary.step);
    if (!plan.ok() || boundary.transport.rank() != 0)
      return plan.ok() ? Result<std::string>(std::string()) : plan.status();
    addWhatHolds(inForce, *plan);
    return kIsPlan + plan->toJson();
  }
  Result<plan::Profile> profile = end(boundary);
  if (!profile.ok() || boundary.transport.rank() != 0)
    return profile.ok() ? Result<std::string>(std::string()) : profile.status();
  Result<std::string> solved = solve(*profile, requestJson);
  return solved.ok() ? kIsPlan + *solved : kIsError + solved.status().message();
}

Result<std::string> Adaptation::adapt(const StepBoundary &boundary, const char *requestJson) {
  Result<std::string> made = makePlan(boundary, requestJson);
  if (!made.ok())
    return made.status();
  Result<std::string> told = broadcastText(boundary.transport, boundary.timeout, boundary.step, *made);
  if (!told.ok())
    return told.status();
  if (told->empty() || told->front() != kIsPlan)
    return Status(CGX_INVALID_ARGUMENT,
                  "rank 0 found no plan: " + told->substr(std::min<size_t>(told->size(), 1)));
  std::string planJson = told->substr(1);
  if (Status status = apply(planJson); !status.ok())
    return status;
  return planJson;
}

Status Adaptation::adopt(const StepBoundary &boundary, const std::string &planJson) {
  // Plans are compared before they are applied: a rank that rejected its own would leave the others waiting.
  const std::vector<uint64_t> digest = {digestOf(planJson)};
  Result<std::vector<std::vector<uint64_t>>> all =
      gatherNumbers(boundary.transport, boundary.timeout, boundary.step, kComparison, digest);
  if (!all.ok())
    return all.status();
  for (uint32_t rank = 0; rank < all->size(); ++rank)
    if ((*all)[rank][0] != (*all)[0][0])
      return Status::error(CGX_MISMATCH, "rank ", rank, " adopts another plan than rank 0");
  return apply(planJson);
}

/// Returns what is wrong with the levels of a layer; "" if nothing.
static std::string checkLevels(const plan::PlannedLayer &layer, const cgx_codec &codec) {
  const std::vector<float> &levels = layer.levels;
  if (levels.empty())
    return "";
  if (codec.family != CGX_CODEC_QUANTIZE || codec.levels != CGX_LEVELS_LEARNED)
    return "expected no list of levels with " + describeCodec(codec);
  if (levels.size() != size_t(1) << codec.bits)
    return concat("expected ", size_t(1) << codec.bits, " levels of ", codec.bits, " bits, got ",
                  levels.size());
  // A comparison in this form rejects NaN, too.
  const bool isAscending = std::adjacent_find(levels.begin(), levels.end(),
                                              [](float a, float b) { return !(a <= b); }) == levels.end();
  return isAscending && levels.front() == 0.0f && levels.back() == 1.0f
             ? ""
             : "expected levels ascending from 0 to 1";
}

Status Adaptation::apply(const std::string &planJson) {
  plan::Plan plan;
  try {
    plan = plan::Plan::parse(planJson);
  } catch (const plan::Error &error) {
    return Status(CGX_INVALID_ARGUMENT, error.what());
  }
  std::vector<PlannedCodec> changes;
  std::vector<std::optional<double>> plannedNorms = norms;
  for (const plan::PlannedLayer &layer : plan.layers) {
    auto place = std::find_if(profiled.begin(), profiled.end(), [&](const ProfiledOperand &entry) {
      const OperandInfo &operand = infoOf(entry);
      return operand.layer == layer.layer && operand.kind == layer.kind;
    });
    if (place == profiled.end())
      return Status::error(CGX_INVALID_ARGUMENT, "the plan has layer '", layer.layer, "' (", layer.kind,
                           "), which the program does not compress");
    const OperandInfo &operand = infoOf(*place);
    if (operand.elements != layer.elements || elementTypeName(operand.type) != layer.dtype)
      return Status::error(CGX_INVALID_ARGUMENT, "the plan's layer '", layer.layer, "' has ", layer.elements,
                           " elements of ", layer.dtype, ", the program's ", operand.elements, " of ",
                           elementTypeName(operand.type));
    Result<cgx_codec> codec = parseCodec(layer.codec);
    if (!codec.ok())
      return codec.status().within("layer '" + layer.layer + "'");
    *codec = cgx_codec_for_shape(&*codec, operand.shape.data(), operand.shape.size());
    if (std::string wrong = operand.reject(*codec); !wrong.empty())
      return Status::error(CGX_INVALID_ARGUMENT, "layer '", layer.layer, "': ", wrong);
    // The program decides about residuals, so a plan with other error feedback is an error instead of being
    // ignored.
    if (!operand.errorFeedback && !formats::parseCodecText(layer.codec).errorFeedback.empty())
      return Status::error(CGX_INVALID_ARGUMENT, "layer '", layer.layer,
                           "': its codec has error feedback, and the program was compiled without");
    if (std::string wrong = checkLevels(layer, *codec); !wrong.empty())
      return Status::error(CGX_INVALID_ARGUMENT, "layer '", layer.layer, "': ", wrong);
    std::shared_ptr<const std::vector<float>> levels;
    if (!layer.levels.empty())
      levels = std::make_shared<const std::vector<float>>(layer.levels);
    changes.push_back({place->collective, place->operand, *codec, std::move(levels)});
    if (layer.gradientNorm)
      plannedNorms[size_t(place - profiled.begin())] = layer.gradientNorm;
  }
  norms = std::move(plannedNorms);
  addWhatHolds(inForce, plan);
  inForce = std::move(plan.layers);
  codecs.adopt(changes);
  return Status();
}

} // namespace cgx
