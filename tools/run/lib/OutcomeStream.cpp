//===-- OutcomeStream.cpp - Outcomes between processes ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/OutcomeStream.h"

#include "cgx/run/FileSystem.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace cgx::run;
using Json = nlohmann::json;

// On the wire: the length of a CBOR header, the header, and the blocks and codec
// tensors whose lengths it names. CBOR, because text has no NaN.

static Json describeCodecState(const Outcome &outcome) {
  Json tensors = Json::array();
  for (const CodecTensor &tensor : outcome.codecState)
    tensors.push_back({{"name", tensor.name}, {"type", tensor.type}, {"bytes", tensor.bytes.size()}});
  return tensors;
}

static Json describePlans(const Outcome &outcome) {
  Json plans = Json::array();
  for (const AdoptedPlan &plan : outcome.plans)
    plans.push_back({{"step", plan.step}, {"json", plan.json}});
  return plans;
}

std::vector<std::byte> cgx::run::packOutcome(uint32_t rank, const Outcome &outcome) {
  std::vector<uint64_t> blockBytes;
  for (const std::vector<std::byte> &block : outcome.blocks)
    blockBytes.push_back(block.size());
  std::vector<uint8_t> header = Json::to_cbor({{"rank", rank},
                                               {"error", outcome.error},
                                               {"steps", outcome.steps},
                                               {"seconds", outcome.seconds},
                                               {"telemetry", outcome.telemetry},
                                               {"trace", outcome.trace},
                                               {"scalars", outcome.scalars},
                                               {"hashes", outcome.hashes},
                                               {"plans", describePlans(outcome)},
                                               {"profile", outcome.profile},
                                               {"blocks", blockBytes},
                                               {"codec_state", describeCodecState(outcome)}});
  std::vector<std::byte> bytes;
  auto add = [&](std::span<const std::byte> piece) { bytes.insert(bytes.end(), piece.begin(), piece.end()); };
  uint64_t length = header.size();
  add(std::as_bytes(std::span(&length, 1)));
  add(std::as_bytes(std::span(header)));
  for (const std::vector<std::byte> &block : outcome.blocks)
    add(block);
  for (const CodecTensor &tensor : outcome.codecState)
    add(tensor.bytes);
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

std::optional<std::pair<uint32_t, Outcome>> OutcomeReader::take() {
  std::span<const std::byte> rest(bytes_);
  uint64_t length;
  if (rest.size() < sizeof length)
    return std::nullopt;
  std::memcpy(&length, rest.data(), sizeof length);
  rest = rest.subspan(sizeof length);
  if (rest.size() < length)
    return std::nullopt;
  Outcome outcome;
  try {
    const auto *header = reinterpret_cast<const uint8_t *>(rest.data());
    Json json = Json::from_cbor(header, header + length);
    rest = rest.subspan(length);
    outcome.error = json.at("error").get<std::string>();
    outcome.steps = json.at("steps").get<uint64_t>();
    outcome.seconds = json.at("seconds").get<double>();
    outcome.telemetry = json.at("telemetry").get<std::string>();
    outcome.trace = json.at("trace").get<std::string>();
    outcome.scalars = json.at("scalars").get<std::vector<std::vector<double>>>();
    outcome.hashes = json.at("hashes").get<std::vector<uint64_t>>();
    outcome.profile = json.at("profile").get<std::string>();
    for (const Json &plan : json.at("plans"))
      outcome.plans.push_back({plan.at("step").get<uint64_t>(), plan.at("json").get<std::string>()});
    bool complete = true;
    auto takeBytes = [&](uint64_t size) -> std::vector<std::byte> {
      complete = complete && size <= rest.size();
      if (!complete)
        return {};
      std::vector<std::byte> bytes(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(size));
      rest = rest.subspan(size);
      return bytes;
    };
    for (uint64_t size : json.at("blocks").get<std::vector<uint64_t>>())
      outcome.blocks.push_back(takeBytes(size));
    for (const Json &tensor : json.at("codec_state"))
      outcome.codecState.push_back({tensor.at("name").get<std::string>(),
                                    tensor.at("type").get<ElementType>(),
                                    takeBytes(tensor.at("bytes").get<uint64_t>())});
    if (!complete)
      return std::nullopt;
    return std::pair(json.at("rank").get<uint32_t>(), std::move(outcome));
  } catch (const Json::exception &) {
    return std::nullopt;
  }
}
