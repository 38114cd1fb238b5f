//===-- profile/Adaptation.cpp - Codecs that change while a program runs -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "profile/Adaptation.h"

#include "Agreement.h"
#include "cgx/kernels/codecs.h"
#include "cgx/plan/Codec.h"
#include "cgx/plan/Error.h"
#include "cgx/plan/Request.h"
#include "status/Digest.h"

#include <algorithm>

namespace cgx {

/// The phase in which ranks compare plans.
static constexpr uint16_t kComparison = 1;
/// Before a text of rank 0: a plan, or why there is none.
static constexpr char kIsPlan = '+', kIsError = '-';

Status Adaptation::checkUsable(const CodecCandidate &candidate) const {
  bool isTaken = std::any_of(profiled.begin(), profiled.end(), [&](const ProfiledOperand &entry) {
    return infoOf(entry).refuse(candidate.codec).empty();
  });
  if (isTaken || cgx_codec_has_payloads(&candidate.codec))
    return Status();
  return Status::error(CGX_INVALID_ARGUMENT, "candidate 'lowrank rank=", candidate.codec.rank,
                       "': no layer of the program takes it: ", infoOf(profiled[0]).refuse(candidate.codec));
}

Status Adaptation::begin(const char *optionsJson, uint64_t firstStep) {
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

Result<std::string> Adaptation::adapt(const StepBoundary &boundary, const char *requestJson) {
  Result<plan::Profile> profile = end(boundary);
  if (!profile.ok())
    return profile.status();
  std::string text;
  if (boundary.transport.rank() == 0) {
    Result<std::string> solved = solve(*profile, requestJson);
    text = solved.ok() ? kIsPlan + *solved : kIsError + solved.status().message();
  }
  Result<std::string> told = broadcastText(boundary.transport, boundary.timeout, boundary.step, text);
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
  // Equal plans first: a rank that refuses its own would leave the others waiting.
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
    if (std::string wrong = operand.refuse(*codec); !wrong.empty())
      return Status::error(CGX_INVALID_ARGUMENT, "layer '", layer.layer, "': ", wrong);
    changes.push_back({place->collective, place->operand, *codec});
    if (layer.gradientNorm)
      plannedNorms[size_t(place - profiled.begin())] = layer.gradientNorm;
  }
  norms = std::move(plannedNorms);
  codecs.adopt(changes);
  return Status();
}

} // namespace cgx
