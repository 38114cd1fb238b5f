//===-- Machine.cpp - Measurements of a machine ---------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/Machine.h"

#include "cgx/formats/Machine.h"
#include "cgx/formats/TextFile.h"
#include "cgx/layers/CodecWords.h"

#include <algorithm>

namespace cgx::layers {

std::optional<Machine> Machine::read(const std::string &path, Diagnostics &diagnostics) {
  const auto reject = [&](const std::string &why) {
    diagnostics.fail("machine '" + path + "': " + why);
    return std::nullopt;
  };
  std::string text;
  if (std::string wrong = formats::readTextFile(path, text); !wrong.empty())
    return reject("cannot read it: " + wrong);
  formats::Machine machine;
  if (std::string wrong = formats::readMachine(text, machine); !wrong.empty())
    return reject(wrong);
  Machine result;
  result.measured = machine.model;
  result.cores = machine.coresPerRank;
  result.flops = machine.flopsPerSecond;
  result.share = machine.overlappedShare;
  for (size_t index = 0; index < machine.codecs.size(); ++index) {
    std::string reason;
    std::optional<Codec> codec = parseCodec(machine.codecs[index].codec, reason);
    if (!codec)
      return reject("codec at position " + std::to_string(index) + ": " + reason);
    result.codecs.emplace_back(*codec, machine.codecs[index].rates);
  }
  return result;
}

cgx_codec_rates Machine::ratesOf(Codec codec) const {
  codec.feedback.reset();
  if (codec.isLossless())
    return {};
  const cgx_codec_rates *slowest = &codecs.front().second, *ofFamily = nullptr;
  for (const auto &[measured, rates] : codecs) {
    if (measured == codec)
      return rates;
    if (!ofFamily && measured.family() == codec.family())
      ofFamily = &rates;
    if (rates.encode_bytes_per_second < slowest->encode_bytes_per_second)
      slowest = &rates;
  }
  return ofFamily ? *ofFamily : *slowest;
}

std::vector<cgx_costed_operand> costedOperands(const Collective &collective, const std::vector<Codec> &codecs,
                                               const std::optional<Hierarchy> &hierarchy,
                                               const Machine &machine) {
  std::vector<cgx_costed_operand> operands;
  for (size_t i = 0; i < codecs.size(); ++i) {
    const Operand &operand = collective.operands[i];
    operands.push_back({codecs[i].forwardCodec(), machine.ratesOf(codecs[i]),
                        hierarchy ? machine.ratesOf(hierarchy->intraHost) : cgx_codec_rates{},
                        uint32_t(operand.type), uint64_t(operand.elements())});
  }
  return operands;
}

double secondsOf(const Collective &collective, const std::vector<Codec> &codecs, cgx_algorithm algorithm,
                 const std::optional<Hierarchy> &hierarchy, const Machine &machine) {
  const std::vector<cgx_costed_operand> operands = costedOperands(collective, codecs, hierarchy, machine);
  const cgx_schedule schedule = scheduleOf(algorithm, hierarchy);
  const int64_t ranks = collective.groups.empty() ? 0 : collective.largestGroup();
  return cgx_all_reduce_seconds(&machine.model(), &schedule, operands.data(), operands.size(),
                                uint32_t(ranks));
}

AllReduceChoice fastestOf(const Collective &collective, const std::vector<Codec> &codecs,
                          const std::optional<Hierarchy> &hierarchy, const Machine &machine) {
  const bool hasResultCodecs =
      std::ranges::any_of(codecs, [](const Codec &codec) { return codec.returned && !codec.feedback; });
  const bool hasHosts =
      hierarchy && hierarchy->local > 1 &&
      std::ranges::all_of(collective.groups, [&](const std::vector<int64_t> &group) {
        return int64_t(group.size()) > hierarchy->local && int64_t(group.size()) % hierarchy->local == 0;
      });
  std::vector<AllReduceChoice> candidates;
  for (uint32_t algorithm = CGX_ALGORITHM_AUTO + 1; algorithm < CGX_ALGORITHM_COUNT; ++algorithm) {
    const bool needsHosts = cgx_algorithm_has_hosts(algorithm);
    if ((needsHosts && !hasHosts) || (hasResultCodecs && !cgx_algorithm_sends_results(algorithm)))
      continue;
    candidates.push_back({cgx_algorithm(algorithm), needsHosts ? hierarchy : std::nullopt});
  }
  for (AllReduceChoice &choice : candidates)
    choice.seconds = secondsOf(collective, codecs, choice.algorithm, choice.hierarchy, machine);
  return *std::ranges::min_element(candidates, {}, &AllReduceChoice::seconds);
}

std::vector<Codec> codecsOf(const Collective &collective) {
  std::vector<Codec> codecs;
  for (const Operand &operand : collective.operands)
    codecs.push_back(operand.codec);
  return codecs;
}

std::vector<Codec> uncompressedCodecsOf(const Collective &collective) {
  return std::vector<Codec>(collective.operands.size());
}

} // namespace cgx::layers
