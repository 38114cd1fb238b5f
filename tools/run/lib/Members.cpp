//===-- Members.cpp - Local training with other ranks -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Members.h"

#include "cgx/run/Error.h"

#include <algorithm>
#include <charconv>
#include <cstring>

using namespace cgx::run;

namespace {

/// The name that the compiler gives to the state that counts inner steps.
constexpr const char *kCounter = "local_steps";

std::string listOf(const std::vector<uint32_t> &ranks) {
  std::string text;
  for (uint32_t rank : ranks)
    text += (text.empty() ? "" : ", ") + std::to_string(rank);
  return text;
}

} // namespace

std::vector<uint32_t> cgx::run::parseMembers(const std::string &text) {
  std::vector<uint32_t> members;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    uint32_t rank = 0;
    const auto [last, status] = std::from_chars(text.data() + begin, text.data() + end, rank);
    if (status != std::errc() || last != text.data() + end)
      throw Error("expected --members to be ranks of the checkpoint, such as 0,2,3, got '" + text + "'");
    members.push_back(rank);
    begin = end + 1;
  }
  return members;
}

bool cgx::run::isOfEachRank(const Value &argument) {
  return argument.initial && *argument.initial != "0" && !argument.globalShape.empty();
}

std::vector<uint32_t> cgx::run::choosePredecessors(const std::vector<uint32_t> &given, uint32_t now,
                                                   uint32_t before) {
  if (given.empty()) {
    std::vector<uint32_t> chosen(now);
    for (uint32_t rank = 0; rank < now; ++rank)
      chosen[rank] = rank < before ? rank : 0;
    return chosen;
  }
  if (given.size() != now)
    throw Error("expected --members to name a rank of the checkpoint for each of " + std::to_string(now) +
                " ranks, got " + std::to_string(given.size()));
  for (uint32_t rank : given)
    if (rank >= before)
      throw Error("expected --members to name ranks of the checkpoint, 0 to " + std::to_string(before - 1) +
                  ", got " + std::to_string(rank));
  return given;
}

void cgx::run::checkBoundary(const Manifest &manifest, const Bindings &bindings,
                             const SafetensorsFile &state) {
  const std::string fault = "'" + state.path() + "' was saved by " + std::to_string(bindings.ranksBefore) +
                            " ranks that train by themselves, between two outer steps";
  const std::string remedy = ": other ranks can go on where all have the same parameters, right behind an "
                             "outer step";
  if (const TensorView *counter = state.find(kCounter)) {
    int32_t steps = 0;
    std::memcpy(&steps, counter->bytes.data(), std::min(sizeof steps, counter->bytes.size()));
    if (steps != 0)
      throw Error(fault + ", " + std::to_string(steps) + " steps behind the last one" + remedy +
                  " (--save-every a multiple of every)");
  }
  for (size_t i = 0; i < manifest.arguments.size(); ++i) {
    const Value &value = manifest.arguments[i];
    const Binding &binding = bindings.arguments[i];
    // State of the inner optimizer has no anchor: each rank continues with its own.
    const TensorView *anchor = binding.source == Source::OfMembers ? state.find(*value.initial) : nullptr;
    if (!anchor || anchor->bytes.empty())
      continue;
    const std::span<const std::byte> all = binding.tensor->bytes;
    for (size_t rank = 0; rank < bindings.ranksBefore; ++rank)
      if (!std::ranges::equal(all.subspan(rank * anchor->bytes.size(), anchor->bytes.size()), anchor->bytes))
        throw Error(fault + ": '" + value.name + "' of rank " + std::to_string(rank) + " is not '" +
                    *value.initial + "'" + remedy +
                    ", which fragments that take turns, and outer steps that overlap, never do");
  }
}

std::optional<uint32_t> cgx::run::findPredecessor(const Bindings &bindings, const Manifest &manifest,
                                                  uint32_t rank) {
  const std::vector<uint32_t> &members = bindings.members;
  if (members.size() != manifest.ranks)
    return std::nullopt;
  const auto end = members.begin() + rank;
  return std::find(members.begin(), end, members[rank]) == end ? std::optional(members[rank]) : std::nullopt;
}

std::string cgx::run::describeMembers(const Bindings &bindings) {
  const std::vector<uint32_t> &members = bindings.members;
  std::vector<uint32_t> dropped;
  for (uint32_t rank = 0; rank < bindings.ranksBefore; ++rank)
    if (std::find(members.begin(), members.end(), rank) == members.end())
      dropped.push_back(rank);
  std::string text = std::to_string(members.size()) + (members.size() == 1 ? " rank goes" : " ranks go") +
                     " on behind an outer step of " + std::to_string(bindings.ranksBefore) +
                     ", with the state of " + (members.size() == 1 ? "rank " : "ranks ") + listOf(members);
  if (!dropped.empty())
    text += "; state of the inner optimizer and memory of codecs of " +
            std::string(dropped.size() == 1 ? "rank " : "ranks ") + listOf(dropped) + " are dropped";
  return text;
}
