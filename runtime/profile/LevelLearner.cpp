//===-- profile/LevelLearner.cpp - Levels learned from what is sent -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "profile/LevelLearner.h"

#include "Agreement.h"
#include "cgx/arithmetic/elements.h"
#include "cgx/arithmetic/levels.h"
#include "cgx/codec_table.h"
#include "cgx/formats/CodecJson.h"
#include "cgx/formats/Json.h"
#include "cgx/plan/Codec.h"
#include "profile/LevelFit.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace cgx {

/// The phase of the exchange of counts.
static constexpr uint16_t kCounted = 2;

Result<LevelRequest> LevelRequest::parse(const std::string &json) {
  LevelRequest request;
  try {
    const nlohmann::json read = formats::parseJson(json);
    for (const auto &[name, value] : read.items()) {
      if (name == "steps")
        request.steps = value.get<std::vector<uint64_t>>();
      else if (name == "kinds")
        request.kinds = value.get<std::vector<std::string>>();
      else if (name == "codec")
        request.codec = value.dump();
      else
        return Status::error(CGX_INVALID_ARGUMENT, "levels: expected steps, kinds or codec, got '", name,
                             "'");
    }
  } catch (const nlohmann::json::exception &error) {
    return Status::error(CGX_INVALID_ARGUMENT, "levels: ", error.what());
  } catch (const formats::Error &error) {
    return Status::error(CGX_INVALID_ARGUMENT, "levels: ", error.what());
  }
  if (request.steps.empty())
    return Status(CGX_INVALID_ARGUMENT, "levels: expected steps to learn them at");
  return request;
}

static bool isWanted(const LevelRequest &request, const OperandInfo &info) {
  if (request.kinds.empty())
    return info.kind == "weight" || info.kind == "gradient";
  return std::find(request.kinds.begin(), request.kinds.end(), info.kind) != request.kinds.end();
}

/// Returns the layer's codec with learned levels and the other requested parameters.
static Result<cgx_codec> codecWithLevels(const OperandInfo &info, const LevelRequest &request) {
  const std::string place = concat("layer '", info.layer, "' (", info.kind, "): ");
  if (info.codec.family != CGX_CODEC_QUANTIZE)
    return Status::error(CGX_INVALID_ARGUMENT, place, "only quantize has levels to learn, and its codec is ",
                         describeCodec(info.codec), ": name the kinds to learn levels for");
  nlohmann::json json = writeCodec(info.codec);
  json["levels"] = "learned";
  // A random shift would move evenly spaced levels; for other levels, nearest has the smallest error.
  if (info.codec.rounding == CGX_ROUND_RANDOM_SHIFT)
    json["rounding"] = "nearest";
  json.update(formats::parseJson(request.codec));
  Result<cgx_codec> codec = parseCodec(json.dump());
  if (std::string wrong = codec.ok() ? info.reject(*codec) : codec.status().message(); !wrong.empty()) {
    const char *hint =
        json.value("rounding", "") == "random_shift" ? " (rounding=nearest, or stochastic)" : "";
    return Status::error(CGX_INVALID_ARGUMENT, place, "learned levels: ", wrong, hint);
  }
  if (codec->levels != CGX_LEVELS_LEARNED)
    return Status::error(CGX_INVALID_ARGUMENT, place, "expected levels learned, got ", describeCodec(*codec));
  if (codec->rotate != CGX_ROTATE_NONE)
    return Status::error(CGX_INVALID_ARGUMENT, place,
                         "levels are learned of elements that are not rotated: expected rotate none");
  return codec;
}

Result<LevelLearner> LevelLearner::make(const CodecTable &codecs,
                                        const std::vector<ProfiledOperand> &profiled,
                                        const LevelRequest &request) {
  LevelLearner learner(codecs, request.steps);
  std::set<std::string> found;
  for (const ProfiledOperand &place : profiled) {
    const OperandInfo &info = learner.infoOf(place);
    if (!isWanted(request, info))
      continue;
    if (info.isLossless() && info.codec.family == CGX_CODEC_IDENTITY)
      continue; // an uncompressed layer stays uncompressed
    Result<cgx_codec> codec = codecWithLevels(info, request);
    if (!codec.ok())
      return codec.status();
    found.insert(info.kind);
    learner.operands.push_back({place, *codec, std::vector<double>(levelFitPlaces(*codec)), 0});
  }
  for (const std::string &kind : request.kinds)
    if (!found.contains(kind))
      return Status::error(CGX_INVALID_ARGUMENT, "levels: no layer of kind ", kind,
                           " of the program is sent by a codec that plans may change");
  if (found.empty())
    return Status(CGX_INVALID_ARGUMENT,
                  "levels: no weight and no gradient of the program is sent by a codec that "
                  "plans may change");
  return learner;
}

void LevelLearner::beginStep(uint64_t step) {
  learning = steps.contains(step);
  observed = 0;
  for (Learned &entry : operands)
    if (learning) {
      std::fill(entry.counts.begin(), entry.counts.end(), 0.0);
      entry.runs = 0;
    }
}

/// Returns the scale by which an encoder divides a bucket; not finite if an element is not.
static BucketScale scaleOf(const cgx_codec &codec, std::span<const float> bucket) {
  if (!std::all_of(bucket.begin(), bucket.end(), [](float x) { return isFinite(x); }))
    return notFiniteScale();
  const auto [least, most] = std::minmax_element(bucket.begin(), bucket.end());
  return makeBucketScale(*least, *most, /*bits=*/1, codec.scale);
}

/// The error of a level grows with the square of its bucket's range, and so does the weight of an element.
static void count(const cgx_codec &codec, std::span<const float> bucket, std::vector<double> &counts) {
  const BucketScale scale = scaleOf(codec, bucket);
  if (!isFiniteScale(scale) || scale.unit == 0.0f)
    return;
  const double weight = double(scale.unit) * double(scale.unit);
  for (float x : bucket) {
    const auto place = size_t(double(shareOfRange(scale, x)) * double(counts.size()));
    counts[std::min(place, counts.size() - 1)] += weight;
  }
}

void LevelLearner::observe(size_t collective, size_t operand, const std::byte *input) {
  for (Learned &entry : operands) {
    if (!learning || entry.place.collective != collective || entry.place.operand != operand)
      continue;
    const OperandInfo &info = infoOf(entry.place);
    std::vector<float> bucket;
    for (uint64_t begin = 0; begin < info.elements; begin += bucket.size()) {
      bucket.resize(std::min<uint64_t>(entry.codec.bucket, info.elements - begin));
      for (size_t i = 0; i < bucket.size(); ++i)
        bucket[i] = loadElement(sourceOf(info.type), input, begin + i);
      count(entry.codec, bucket, entry.counts);
    }
    observed += info.elements;
    ++entry.runs;
  }
}

plan::Plan LevelLearner::assemble(const std::vector<std::vector<double>> &all) const {
  const Program &program = codecs->program();
  plan::Plan plan;
  plan.program = program.hash;
  plan.solver = "learned levels";
  plan.objective = "bytes";
  size_t at = 0;
  for (const Learned &entry : operands) {
    const CollectiveInfo &collective = program.collectives[entry.place.collective];
    const OperandInfo &info = infoOf(entry.place);
    std::vector<double> counts(entry.counts.size());
    for (double &sum : counts) {
      for (const std::vector<double> &rank : all)
        sum += rank[at];
      ++at;
    }
    cgx_codec even = entry.codec;
    even.levels = CGX_LEVELS_UNIFORM;
    plan::PlannedLayer layer;
    layer.layer = info.layer;
    layer.kind = info.kind;
    layer.dtype = elementTypeName(info.type);
    layer.elements = info.elements;
    layer.codec = plan::canonicalCodec(writeCodec(entry.codec).dump());
    layer.levels = fitLevels(entry.codec, counts);
    layer.squaredError = levelError(entry.codec, layer.levels, counts);
    layer.wireBytes = wireBytesOfAll(collective, info, entry.codec, program.ranks, double(entry.runs));
    layer.rawBytes = wireBytesOfAll(collective, info, cgx_codec{}, program.ranks, double(entry.runs));
    plan.planned.error += layer.squaredError;
    plan.planned.bytes += layer.wireBytes;
    plan.ofReference.error += levelError(even, evenLevels(even), counts);
    plan.ofReference.bytes += wireBytesOfAll(collective, info, even, program.ranks, double(entry.runs));
    if (plan.layers.empty())
      plan.reference = plan::canonicalCodec(writeCodec(even).dump());
    plan.layers.push_back(std::move(layer));
  }
  plan.errorBound = plan.ofReference.error;
  return plan;
}

Result<plan::Plan> LevelLearner::finish(Transport &transport, std::chrono::milliseconds timeout,
                                        uint64_t step) {
  learning = false;
  std::vector<double> own;
  for (const Learned &entry : operands)
    own.insert(own.end(), entry.counts.begin(), entry.counts.end());
  own.push_back(double(observed));
  Result<std::vector<std::vector<double>>> all = gatherNumbers(transport, timeout, step, kCounted, own);
  if (!all.ok())
    return all.status();
  const bool isSeen =
      std::any_of(all->begin(), all->end(), [](const std::vector<double> &rank) { return rank.back() > 0; });
  if (!isSeen && transport.ranks() > 1) // a single rank sends nothing, so even levels are as good as others
    return Status::error(CGX_INVALID_ARGUMENT, "step ", step,
                         ": no element was seen to learn levels of: what lies on a GPU is not");
  return transport.rank() == 0 ? assemble(*all) : plan::Plan();
}

} // namespace cgx
