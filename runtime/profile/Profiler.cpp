//===-- profile/Profiler.cpp - Measures codecs on what a step sends -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "profile/Profiler.h"

#include "Agreement.h"
#include "cgx/formats/Json.h"
#include "cgx/kernels/codecs.h"
#include "cgx/plan/Codec.h"
#include "cgx/plan/Error.h"
#include "cgx/wire.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

namespace cgx {

/// The random numbers of trials are different from those of the program.
static constexpr uint32_t kTrialPhase = 2;
/// The phase of the exchange of measurements.
static constexpr uint16_t kMeasured = 0;

static constexpr const char *kDefaultCandidates[] = {"quantize bits=2..8 bucket=128",
                                                     "quantize bits=2..8 bucket=512"};

Result<std::vector<CodecCandidate>> parseCandidates(const char *optionsJson) {
  std::vector<CodecCandidate> candidates;
  try {
    nlohmann::json options = formats::parseJson(optionsJson ? optionsJson : "{}");
    auto texts = options.value(
        "candidates", std::vector<std::string>(std::begin(kDefaultCandidates), std::end(kDefaultCandidates)));
    std::set<std::pair<std::string, std::string>> known;
    for (const std::string &text : texts) {
      auto [kind, label] = plan::splitKind(text);
      for (const std::string &json : plan::expandCodecLabel(label)) {
        Result<cgx_codec> codec = parseCodec(json);
        if (!codec.ok())
          return Status::error(CGX_INVALID_ARGUMENT, "candidate '", text, "': ", codec.status().message());
        if (std::string wrong = checkCodec(*codec, CGX_F32); !wrong.empty())
          return Status::error(CGX_INVALID_ARGUMENT, "candidate '", text, "': ", wrong);
        if (cgx_codec_needs(&*codec, CGX_KEPT_PARAMETER))
          return Status::error(CGX_INVALID_ARGUMENT, "candidate '", text,
                               "': profiles do not see what the optimizer keeps, on which its bytes depend");
        // The uncompressed codec is always a candidate, so it is added only for a kind, which then has
        // candidates of its own.
        if ((json != plan::kUncompressed || !kind.empty()) && known.insert({kind, json}).second)
          candidates.push_back({json, *codec, kind});
      }
    }
  } catch (const plan::Error &error) {
    return Status(CGX_INVALID_ARGUMENT, error.what());
  } catch (const nlohmann::json::exception &error) {
    return Status::error(CGX_INVALID_ARGUMENT, "options of a profile: ", error.what());
  }
  return candidates;
}

std::vector<const CodecCandidate *> candidatesFor(const std::vector<CodecCandidate> &candidates,
                                                  const OperandInfo &info) {
  const bool hasOwn = std::any_of(candidates.begin(), candidates.end(), [&](const CodecCandidate &candidate) {
    return candidate.kind == info.kind;
  });
  std::vector<const CodecCandidate *> chosen;
  for (const CodecCandidate &candidate : candidates)
    if (candidate.kind == (hasOwn ? info.kind : "") && candidate.text != plan::kUncompressed &&
        info.reject(candidate.codec).empty())
      chosen.push_back(&candidate);
  return chosen;
}

std::vector<ProfiledOperand> findProfiledOperands(const Program &program) {
  std::vector<ProfiledOperand> profiled;
  std::set<std::pair<std::string, std::string>> names;
  for (size_t i = 0; i < program.collectives.size(); ++i)
    for (size_t j = 0; j < program.collectives[i].operands.size(); ++j) {
      const OperandInfo &operand = program.collectives[i].operands[j];
      if (operand.isPlannable() && names.insert({operand.layer, operand.kind}).second)
        profiled.push_back({i, j});
    }
  return profiled;
}

double wireBytesOfAll(const CollectiveInfo &info, const OperandInfo &operand, const cgx_codec &codec,
                      uint32_t everybody, double runs) {
  double bytes = 0;
  const auto addGroup = [&](uint32_t ranks, uint64_t run) {
    const cgx_collective collective = info.inGroupOf(ranks, run);
    for (uint32_t position = 0; position < ranks; ++position)
      bytes += double(
          cgx_collective_wire_bytes(&collective, &codec, &codec, operand.type, operand.elements, position));
  };
  // Not all pairs take part in each run; after the last run the list begins again.
  const uint64_t differentRuns = std::max<uint64_t>(info.pairsOfRuns.size(), 1);
  for (uint64_t run = 0; run < differentRuns; ++run) {
    if (info.kind == CollectiveKind::Permute)
      addGroup(everybody, run);
    for (const std::vector<uint32_t> &group : info.groups)
      addGroup(uint32_t(group.size()), run);
  }
  return runs == 0 ? bytes : bytes * runs / double(differentRuns);
}

/// The part of an operand on which this rank tries codecs: its chunk. The gradients of ranks are samples of
/// one distribution, so the chunks of all ranks represent a whole gradient at the cost of a chunk; and
/// collectives encode chunks.
struct Share {
  uint64_t ranks = 1, begin = 0, end = 0;
};

static Share shareOf(const CollectiveInfo &info, const OperandInfo &operand, uint32_t rank) {
  Share share{.end = operand.elements};
  for (const std::vector<uint32_t> &group : info.groups)
    for (uint64_t position = 0; position < group.size(); ++position)
      if (group[position] == rank) {
        share.ranks = group.size();
        share.begin = cgx_chunk_begin(&operand.codec, operand.elements, share.ranks, position);
        share.end = cgx_chunk_begin(&operand.codec, operand.elements, share.ranks, position + 1);
      }
  return share;
}

Profiler::Profiler(const CodecTable &codecs, std::vector<ProfiledOperand> profiled,
                   std::vector<CodecCandidate> candidates)
    : codecs(codecs), candidates(std::move(candidates)), ready(codecs.program().collectives.size()),
      readyInStep(ready.size()) {
  for (const ProfiledOperand &place : profiled)
    operands.push_back({place, {}, std::nullopt, 0});
}

void Profiler::begin(uint64_t first, const std::vector<std::optional<double>> &previousNorms) {
  for (size_t i = 0; i < operands.size(); ++i) {
    operands[i].previousNorm = previousNorms[i];
    operands[i].sum.assign(infoOf(operands[i]).elements, 0.0f);
    operands[i].runs = 0;
  }
  std::fill(ready.begin(), ready.end(), 0.0);
  firstStep = first;
  steps = 0;
  stepSeconds = computeSeconds = profilingSeconds = 0;
  active = true;
}

static double secondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void Profiler::beginStep() {
  stepBegan = workBegan = Clock::now();
  inStep = computed = 0;
  std::fill(readyInStep.begin(), readyInStep.end(), std::numeric_limits<double>::infinity());
}

void Profiler::endStep() {
  computed += secondsSince(workBegan);
  computeSeconds += computed;
  stepSeconds += secondsSince(stepBegan) - inStep;
  profilingSeconds += inStep;
  for (size_t i = 0; i < ready.size(); ++i)
    if (std::isfinite(readyInStep[i]))
      ready[i] += readyInStep[i];
  ++steps;
}

void Profiler::enterCollective(size_t collective) {
  computed += secondsSince(workBegan);
  // A collective of several calls is ready at its first call.
  readyInStep[collective] = std::min(readyInStep[collective], computed);
}

void Profiler::leaveCollective() { workBegan = Clock::now(); }

void Profiler::observe(size_t collective, size_t operand, const std::byte *input) {
  Clock::time_point begin = Clock::now();
  for (Accumulated &entry : operands)
    if (entry.place.collective == collective && entry.place.operand == operand) {
      const OperandInfo &info = infoOf(entry);
      const cgx_codec uncompressed{};
      // A payload of codec identity is the elements themselves.
      (void)decodeAccumulate(uncompressed, info.type, input, info.elements * cgx_element_bytes(info.type),
                             info.elements, entry.sum.data());
      ++entry.runs;
    }
  inStep += secondsSince(begin);
}

uint32_t Profiler::largestFactorRank(const OperandInfo &info) const {
  uint32_t most = 0;
  for (const CodecCandidate *candidate : candidatesFor(candidates, info))
    if (!cgx_codec_has_payloads(&candidate->codec))
      most = std::max(most, candidate->codec.rank);
  return most;
}

Trial::Outcome Profiler::tryCandidate(const CodecCandidate &candidate, const Accumulated &entry,
                                      uint32_t rank, RandomKey key) {
  // Lowrank is measured on each rank's whole matrix, not on a chunk.
  if (!cgx_codec_has_payloads(&candidate.codec))
    return factorTrial.outcome(candidate.codec.rank);
  const OperandInfo &info = infoOf(entry);
  Share share = shareOf(codecs.program().collectives[entry.place.collective], info, rank);
  Trial::Outcome outcome = trial.run(candidate.codec, info.type,
                                     std::span(entry.sum).subspan(share.begin, share.end - share.begin), key);
  double ranks = double(share.ranks);
  outcome.squaredError *= ranks;
  // A rank encodes its contribution and a chunk of the result; it decodes all contributions to a chunk, and
  // the result.
  outcome.encodeSeconds *= ranks + 1;
  outcome.decodeSeconds *= ranks * 2;
  return outcome;
}

/// Returns for each operand its norm, how often it ran, the error, seconds and share of filled bytes of each
/// candidate, and when it was ready; then the seconds of a step and of profiling.
std::vector<double> Profiler::measure(uint64_t seed, uint64_t step, uint32_t rank) {
  Clock::time_point begin = Clock::now();
  double count = double(std::max<uint64_t>(steps, 1));
  std::vector<double> measured;
  for (Accumulated &entry : operands) {
    const OperandInfo &info = infoOf(entry);
    double square = 0;
    for (float &value : entry.sum) {
      value = steps == 0 ? 0 : value / float(steps);
      square += double(value) * double(value);
    }
    measured.push_back(std::sqrt(square));
    measured.push_back(double(entry.runs) / count);
    RandomKey key = makeRandomKey(seed, step, info.layerId, rank, kTrialPhase);
    if (uint32_t most = largestFactorRank(info))
      factorTrial.run(entry.sum, cgx_matrix_rows(info.shape.data(), info.shape.size()), most, key);
    for (const CodecCandidate *candidate : candidatesFor(candidates, info)) {
      Trial::Outcome outcome = tryCandidate(*candidate, entry, rank, key);
      measured.push_back(outcome.squaredError);
      measured.push_back(outcome.encodeSeconds);
      measured.push_back(outcome.decodeSeconds);
      measured.push_back(outcome.filled);
    }
    measured.push_back(ready[entry.place.collective] / count);
  }
  measured.push_back(stepSeconds / count);
  measured.push_back(computeSeconds / count);
  measured.push_back(profilingSeconds + secondsSince(begin));
  return measured;
}

/// Averages over the ranks, summed in their order, so that all ranks get equal bits.
plan::Profile Profiler::assemble(const std::vector<std::vector<double>> &all) {
  size_t at = 0;
  auto next = [&] {
    double sum = 0;
    for (const std::vector<double> &rank : all)
      sum += rank[at];
    ++at;
    return std::isnan(sum) ? std::numeric_limits<double>::infinity() : sum / double(all.size());
  };
  const Program &program = codecs.program();
  plan::Profile profile;
  profile.program = program.hash;
  profile.ranks = program.ranks;
  profile.firstStep = firstStep;
  profile.steps = steps;
  for (Accumulated &entry : operands) {
    const CollectiveInfo &collective = program.collectives[entry.place.collective];
    const OperandInfo &info = infoOf(entry);
    plan::LayerProfile layer;
    layer.layer = info.layer;
    layer.kind = info.kind;
    layer.dtype = elementTypeName(info.type);
    layer.elements = info.elements;
    layer.collective = collective.id;
    layer.position = profile.layers.size();
    layer.gradientNorm = next();
    const double runs = next(), times = runs == 0 ? 1 : runs;
    layer.previousNorm = entry.previousNorm;
    const cgx_codec uncompressed{};
    layer.candidates.push_back({plan::kUncompressed, 0,
                                wireBytesOfAll(collective, info, uncompressed, program.ranks, runs), 0, 0,
                                0});
    for (const CodecCandidate *candidate : candidatesFor(candidates, info)) {
      cgx_codec codec = cgx_codec_for_shape(&candidate->codec, info.shape.data(), info.shape.size());
      double error = next(), encode = next(), decode = next(), filled = next();
      // An infinity of one rank need not be in the chunk that it tried.
      if (!std::isfinite(layer.gradientNorm))
        error = std::numeric_limits<double>::infinity();
      layer.candidates.push_back({candidate->text, error,
                                  filled * wireBytesOfAll(collective, info, codec, program.ranks, runs),
                                  encode * times, 0, decode * times});
    }
    layer.readySeconds = next();
    profile.layers.push_back(std::move(layer));
  }
  profile.stepSeconds = next();
  profile.computeSeconds = next();
  profile.profilingSeconds = next();
  return profile;
}

Result<plan::Profile> Profiler::finish(Transport &transport, std::chrono::milliseconds timeout, uint64_t seed,
                                       uint64_t step) {
  active = false;
  Result<std::vector<std::vector<double>>> all =
      gatherNumbers(transport, timeout, step, kMeasured, measure(seed, step, transport.rank()));
  if (!all.ok())
    return all.status();
  return assemble(*all);
}

} // namespace cgx
