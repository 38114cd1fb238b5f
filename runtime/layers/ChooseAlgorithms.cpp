//===-- ChooseAlgorithms.cpp - Algorithms of all-reduces ------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/ChooseAlgorithms.h"

#include "cgx/layers/CodecWords.h"
#include "cgx/layers/Machine.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace cgx::layers {

namespace {

std::string milliseconds(double seconds) {
  std::array<char, 128> text;
  return {text.data(),
          std::to_chars(text.begin(), text.end(), seconds * 1e3, std::chars_format::fixed, 3).ptr};
}

class Chooser {
public:
  bool read(const AlgorithmOptions &options, Diagnostics &diagnostics) {
    const std::optional<cgx_algorithm> named = algorithmNamed(options.algorithm);
    if (!named)
      return diagnostics.fail("expected algorithm to be one of " CGX_ALGORITHM_NAMES ", got " +
                              options.algorithm);
    algorithm = *named;
    int64_t local = options.local;
    if (!options.machine.empty()) {
      if (machine = Machine::read(options.machine, diagnostics); !machine)
        return false;
      if (local == 0 && machine->model().local > 1)
        local = int64_t(machine->model().local);
    }
    if (local == 0)
      return !cgx_algorithm_has_hosts(algorithm) ||
             diagnostics.fail("expected local, the ranks of a host, with the algorithm " +
                              std::string(nameOf(algorithm)));
    std::string reason;
    const std::optional<Codec> intraHost = parseCodecText(options.inside, reason);
    if (!intraHost)
      return diagnostics.fail("inside of hosts: " + reason);
    const std::optional<cgx_leaders> leaders = leadersNamed(options.leaders);
    if (!leaders)
      return diagnostics.fail("expected leaders to be all or one, got " + options.leaders);
    if (std::string wrong = checkHierarchy(local, *intraHost); !wrong.empty())
      return diagnostics.fail(wrong);
    hierarchy = Hierarchy{local, *intraHost, *leaders};
    return true;
  }

  /// Chooses the algorithm of a collective. Returns what is wrong, or "".
  std::string visit(Collective &collective) const {
    if (collective.kind != CGX_ALL_REDUCE || collective.isTrivial() ||
        collective.algorithm != CGX_ALGORITHM_AUTO)
      return "";
    if (algorithm != CGX_ALGORITHM_AUTO) {
      collective.algorithm = algorithm;
      if (cgx_algorithm_has_hosts(algorithm))
        collective.hierarchy = hierarchy;
      return checkAlgorithm(collective);
    }
    if (machine)
      choose(collective);
    else if (isShort(collective))
      collective.algorithm = CGX_ALGORITHM_ONE_SHOT;
    return "";
  }

private:
  /// Returns true if all operands are uncompressed, stay so, and take no longer than a message does.
  static bool isShort(const Collective &collective) {
    uint64_t bytes = 0;
    for (const Operand &operand : collective.operands) {
      if (!operand.codec.isUncompressed() || mayBeCompressed(collective, operand))
        return false;
      bytes += uint64_t(operand.elements()) * cgx_element_bytes(operand.type);
    }
    return std::ranges::all_of(collective.groups, [&](const std::vector<int64_t> &group) {
      return group.size() < 2 || cgx_is_for_one_shot(uint32_t(group.size()), bytes);
    });
  }

  void choose(Collective &collective) const {
    const AllReduceChoice compressed = fastestOf(collective, codecsOf(collective), hierarchy, *machine),
                          uncompressed =
                              fastestOf(collective, uncompressedCodecsOf(collective), hierarchy, *machine);
    const bool staysUncompressed = uncompressed.seconds <= compressed.seconds;
    if (staysUncompressed)
      leaveUncompressed(collective, milliseconds(uncompressed.seconds) + " ms exact, " +
                                        milliseconds(compressed.seconds) +
                                        " ms compressed, by the cost model");
    // Only algorithms that fit were candidates, so no check is needed.
    const AllReduceChoice &choice = staysUncompressed ? uncompressed : compressed;
    collective.algorithm = choice.algorithm;
    collective.hierarchy = choice.hierarchy;
  }

  static void leaveUncompressed(Collective &collective, const std::string &reason) {
    for (Operand &operand : collective.operands) {
      if (!operand.codec.isLossless())
        operand.reason = reason;
      operand.codec = {};
      operand.isDecided = true;
    }
  }

  cgx_algorithm algorithm = CGX_ALGORITHM_AUTO;
  std::optional<Machine> machine;
  std::optional<Hierarchy> hierarchy; ///< present if hosts have several ranks
};

} // namespace

bool chooseAlgorithms(Table &table, const AlgorithmOptions &options,
                      const std::function<void(const Collective &, const std::string &)> &reject,
                      Diagnostics &diagnostics) {
  Chooser chooser;
  if (!chooser.read(options, diagnostics))
    return false;
  for (Collective &collective : table.collectives)
    if (std::string wrong = chooser.visit(collective); !wrong.empty()) {
      reject(collective, wrong);
      return false;
    }
  return true;
}

} // namespace cgx::layers
