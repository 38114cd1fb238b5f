//===-- OutcomeStream.cpp - Sending outcomes between processes --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/OutcomeStream.h"

#include "cgx/formats/Json.h"
#include "cgx/formats/Numbers.h"
#include "cgx/run/Error.h"
#include "cgx/run/FileSystem.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace cgx::run;
using Json = nlohmann::json;
using cgx::formats::wholeNumber, cgx::formats::wholeNumbers;

// An outcome is sent as the length of a header, the header as JSON, then the data that it describes: the
// metrics as f64 (JSON text cannot hold NaN and infinity), the blocks, the codec tensors, and the boundaries,
// which are outcomes without boundaries of their own. The header is JSON and not CBOR because the library
// reads deeply nested JSON text without deep recursion.

static Json describeCodecState(const Outcome &outcome) {
  Json tensors = Json::array();
  for (const CodecTensor &tensor : outcome.codecState)
    tensors.push_back(
        {{"name", tensor.name}, {"type", uint32_t(tensor.type)}, {"bytes", tensor.bytes.size()}});
  return tensors;
}

static Json describePlans(const Outcome &outcome) {
  Json plans = Json::array();
  for (const AdoptedPlan &plan : outcome.plans)
    plans.push_back({{"step", plan.step}, {"json", plan.json}});
  return plans;
}

static Json describeEvaluations(const Outcome &outcome) {
  Json evaluations = Json::array();
  for (const Measured &measured : outcome.evaluations) {
    std::vector<uint64_t> bits; // the bits, because JSON has no NaN
    for (double value : measured.values)
      bits.push_back(std::bit_cast<uint64_t>(value));
    evaluations.push_back({{"steps", measured.steps}, {"values", bits}});
  }
  return evaluations;
}

std::vector<std::byte> cgx::run::packOutcome(uint32_t rank, const Outcome &outcome) {
  std::vector<uint64_t> blockBytes, scalarCounts;
  for (const std::vector<std::byte> &block : outcome.blocks)
    blockBytes.push_back(block.size());
  for (const std::vector<double> &series : outcome.scalars)
    scalarCounts.push_back(series.size());
  std::vector<std::vector<std::byte>> boundaries;
  std::vector<uint64_t> boundaryBytes;
  for (const Outcome &boundary : outcome.boundaries)
    boundaryBytes.push_back(boundaries.emplace_back(packOutcome(rank, boundary)).size());
  const Json json = {{"rank", rank},
                     {"error", outcome.error},
                     {"steps", outcome.steps},
                     {"stop_signal", outcome.stopSignal},
                     {"not_finite", outcome.notFinite},
                     {"seconds", outcome.seconds},
                     {"telemetry", outcome.telemetry},
                     {"trace", outcome.trace},
                     {"scalars", scalarCounts},
                     {"evaluations", describeEvaluations(outcome)},
                     {"hashes", outcome.hashes},
                     {"plans", describePlans(outcome)},
                     {"profile", outcome.profile},
                     {"blocks", blockBytes},
                     {"codec_state", describeCodecState(outcome)},
                     {"boundaries", boundaryBytes}};
  const std::string header = json.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
  std::vector<std::byte> bytes;
  auto add = [&](std::span<const std::byte> piece) { bytes.insert(bytes.end(), piece.begin(), piece.end()); };
  const uint64_t length = header.size();
  add(std::as_bytes(std::span(&length, 1)));
  add(std::as_bytes(std::span(header)));
  for (const std::vector<double> &series : outcome.scalars)
    add(std::as_bytes(std::span(series)));
  for (const std::vector<std::byte> &block : outcome.blocks)
    add(block);
  for (const CodecTensor &tensor : outcome.codecState)
    add(tensor.bytes);
  for (const std::vector<std::byte> &boundary : boundaries)
    add(boundary);
  return bytes;
}

bool cgx::run::sendOutcome(int fd, uint32_t rank, const Outcome &outcome) {
  return writeAll(fd, packOutcome(rank, outcome));
}

bool OutcomeReader::read(int fd) {
  constexpr size_t piece = size_t{1} << 16;
  size_t size = bytes_.size();
  bytes_.resize(size + piece);
  ssize_t got;
  do
    got = ::read(fd, bytes_.data() + size, piece);
  while (got < 0 && errno == EINTR);
  bytes_.resize(size + static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return got > 0;
}

namespace {

/// A reader of the data after a header, which returns one part after the other.
class Pieces {
public:
  explicit Pieces(std::span<const std::byte> bytes) : rest(bytes) {}

  template <typename T> std::vector<T> take(uint64_t count) {
    if (count > rest.size() / sizeof(T))
      throw Error("ends before what its header promises");
    std::vector<T> taken(count);
    if (count != 0)
      std::memcpy(taken.data(), rest.data(), count * sizeof(T));
    rest = rest.subspan(count * sizeof(T));
    return taken;
  }

  void expectEnd() const {
    if (!rest.empty())
      throw Error("has " + std::to_string(rest.size()) + " bytes too many");
  }

private:
  std::span<const std::byte> rest;
};

std::pair<uint32_t, Outcome> parse(std::span<const std::byte> bytes, bool mayHaveBoundaries = true) {
  uint64_t length = 0;
  if (bytes.size() < sizeof length)
    throw Error("has no header");
  std::memcpy(&length, bytes.data(), sizeof length);
  bytes = bytes.subspan(sizeof length);
  if (length > bytes.size())
    throw Error("ends in its header");
  const auto *header = reinterpret_cast<const char *>(bytes.data());
  const Json json = cgx::formats::parseJson({header, length}, {.bytes = length});
  Pieces pieces(bytes.subspan(length));
  Outcome outcome;
  outcome.error = json.at("error").get<std::string>();
  outcome.steps = wholeNumber<uint64_t>(json.at("steps"));
  outcome.stopSignal =
      json.contains("stop_signal") ? int(wholeNumber<uint64_t>(json["stop_signal"]) & 0x7f) : 0;
  outcome.notFinite = wholeNumbers<uint32_t>(json.value("not_finite", Json::array()));
  outcome.seconds = json.at("seconds").get<double>();
  outcome.telemetry = json.at("telemetry").get<std::string>();
  outcome.trace = json.at("trace").get<std::string>();
  for (const Json &entry : json.value("evaluations", Json::array())) {
    Measured &measured = outcome.evaluations.emplace_back();
    measured.steps = wholeNumber<uint64_t>(entry.at("steps"));
    for (const Json &bits : entry.at("values"))
      measured.values.push_back(std::bit_cast<double>(wholeNumber<uint64_t>(bits)));
  }
  outcome.hashes = wholeNumbers<uint64_t>(json.at("hashes"));
  outcome.profile = json.at("profile").get<std::string>();
  for (const Json &plan : json.at("plans"))
    outcome.plans.push_back({wholeNumber<uint64_t>(plan.at("step")), plan.at("json").get<std::string>()});
  for (const Json &count : json.at("scalars"))
    outcome.scalars.push_back(pieces.take<double>(wholeNumber<uint64_t>(count)));
  for (const Json &size : json.at("blocks"))
    outcome.blocks.push_back(pieces.take<std::byte>(wholeNumber<uint64_t>(size)));
  for (const Json &tensor : json.at("codec_state")) {
    const auto type = wholeNumber<uint64_t>(tensor.at("type"));
    if (type >= CGX_ELEMENT_TYPE_COUNT)
      throw Error("has a codec tensor of type " + std::to_string(type));
    outcome.codecState.push_back({tensor.at("name").get<std::string>(), ElementType(type),
                                  pieces.take<std::byte>(wholeNumber<uint64_t>(tensor.at("bytes")))});
  }
  const std::vector<uint64_t> boundaries = wholeNumbers<uint64_t>(json.value("boundaries", Json::array()));
  if (!mayHaveBoundaries && !boundaries.empty())
    throw Error("has a boundary within a boundary");
  for (uint64_t size : boundaries)
    outcome.boundaries.push_back(parse(pieces.take<std::byte>(size), /*mayHaveBoundaries=*/false).second);
  pieces.expectEnd();
  const auto rank = wholeNumber<uint64_t>(json.at("rank"));
  if (rank > UINT32_MAX)
    throw Error("is of rank " + std::to_string(rank));
  return {uint32_t(rank), std::move(outcome)};
}

void expect(uint64_t expected, uint64_t got, const char *what) {
  if (got != expected)
    throw Error("expected " + std::to_string(expected) + " " + what + ", got " + std::to_string(got));
}

/// Checks that a JSON document within the outcome can be parsed, if there is one.
void checkDocument(const std::string &text) {
  if (!text.empty())
    (void)cgx::formats::parseJson(text, {.bytes = text.size()});
}

void checkSteps(const Job &job, const Outcome &outcome) {
  if (outcome.steps > job.steps)
    throw Error("expected at most " + std::to_string(job.steps) + " steps, got " +
                std::to_string(outcome.steps));
}

void checkBlocks(const Job &job, const Outcome &outcome, bool mayBeEmpty) {
  expect(job.stateArguments.size(), outcome.blocks.size(), "blocks");
  for (size_t i = 0; i < outcome.blocks.size(); ++i)
    if (!outcome.blocks[i].empty() || !mayBeEmpty)
      expect(job.manifest.arguments[job.stateArguments[i]].bytes(), outcome.blocks[i].size(),
             "bytes in a block");
}

void checkPlans(const Job &job, const Outcome &outcome) {
  const uint64_t end = job.firstStep + outcome.steps;
  for (const AdoptedPlan &plan : outcome.plans) {
    checkDocument(plan.json);
    if (plan.step < job.firstStep || plan.step > end)
      throw Error("has a plan of step " + std::to_string(plan.step));
  }
}

void checkCodecState(uint32_t rank, const Outcome &outcome) {
  for (const CodecTensor &tensor : outcome.codecState)
    if (!isCodecState(tensor.name, rank) || tensor.bytes.size() % cgx_element_bytes(tensor.type) != 0)
      throw Error("has a codec tensor '" + tensor.name + "' of " + std::to_string(tensor.bytes.size()) +
                  " bytes");
}

/// Throws Error if the outcome is not that of a rank of the job that did its steps.
void check(const Job &job, uint32_t rank, const Outcome &outcome) {
  if (rank >= job.manifest.ranks)
    throw Error("is of rank " + std::to_string(rank) + " of " + std::to_string(job.manifest.ranks));
  for (const Outcome &boundary : outcome.boundaries) {
    checkSteps(job, boundary);
    checkBlocks(job, boundary, /*mayBeEmpty=*/false);
    checkPlans(job, boundary);
    checkCodecState(rank, boundary);
  }
  if (!outcome.error.empty())
    return; // the rest of a failed rank's outcome is not used
  checkDocument(outcome.telemetry);
  checkDocument(outcome.trace);
  checkDocument(outcome.profile);
  expect(job.stateArguments.size(), outcome.hashes.size(), "digests");
  checkBlocks(job, outcome, /*mayBeEmpty=*/true);
  expect(rank == 0 ? job.scalars.all.size() : 0, outcome.scalars.size(), "metrics");
  for (const std::vector<double> &series : outcome.scalars)
    expect(outcome.steps, series.size(), "values of a metric");
  checkSteps(job, outcome);
  for (const Measured &measured : outcome.evaluations) {
    expect(job.evaluation ? job.evaluation->scalars.all.size() : 0, measured.values.size(), "measures");
    if (measured.steps > outcome.steps)
      throw Error("has an evaluation after " + std::to_string(measured.steps) + " steps");
  }
  for (uint32_t argument : outcome.notFinite)
    if (argument >= job.stateArguments.size())
      throw Error("has a state argument " + std::to_string(argument));
  checkPlans(job, outcome);
  checkCodecState(rank, outcome);
}

} // namespace

std::pair<uint32_t, Outcome> OutcomeReader::take(const Job &job) const {
  try {
    std::pair<uint32_t, Outcome> taken = parse(bytes_);
    check(job, taken.first, taken.second);
    return taken;
  } catch (const cgx::formats::Error &error) {
    throw Error(std::string("is malformed: ") + error.what());
  } catch (const Json::exception &error) {
    throw Error(std::string("is malformed: ") + error.what());
  }
}

namespace {

/// The state of gatherOutcomes on rank 0.
struct Collection {
  const Job &job;
  std::vector<Outcome> &outcomes;
};

void takeOutcome(void *user, uint32_t rank, const void *data, uint64_t bytes) {
  auto &[job, outcomes] = *static_cast<Collection *>(user);
  OutcomeReader reader;
  reader.append({static_cast<const std::byte *>(data), bytes});
  try {
    auto [sender, outcome] = reader.take(job);
    if (sender != rank)
      throw Error("is of rank " + std::to_string(sender));
    outcomes[rank] = std::move(outcome);
  } catch (const Error &error) {
    outcomes[rank].error = std::string("handed over an outcome that ") + error.what();
  }
}

} // namespace

void cgx::run::gatherOutcomes(const Job &job, cgx_context *context, uint32_t rank, const Outcome &own,
                              std::vector<Outcome> &outcomes) {
  Collection collection{job, outcomes};
  const std::vector<std::byte> bytes = packOutcome(rank, own);
  if (cgx_status status = cgx_context_gather(context, bytes.data(), bytes.size(), takeOutcome, &collection);
      status != CGX_OK)
    throw Error(std::string(cgx_status_name(status)) + ": " + cgx_last_error());
}
