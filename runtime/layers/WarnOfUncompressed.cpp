//===-- WarnOfUncompressed.cpp - Warnings about what is not compressed ----===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/WarnOfUncompressed.h"

#include "cgx/layers/UncompressedReasons.h"

#include <algorithm>

namespace cgx::layers {

namespace {

/// Counts how often each reason was given, in the order of first occurrence.
class Reasons {
public:
  void add(const std::string &reason) {
    auto found = std::ranges::find(counts, reason, &std::pair<std::string, int64_t>::first);
    if (found == counts.end())
      found = counts.insert(found, {reason, 0});
    ++found->second;
  }

  bool empty() const { return counts.empty(); }

  /// Returns a list of the reasons, and of what to do about them.
  std::string list() const {
    std::string text;
    std::vector<std::string_view> cures;
    for (const auto &[reason, count] : counts) {
      text += (text.empty() ? "" : ", ") + reason + " (" + std::to_string(count) + ")";
      if (std::string_view cure = cureOf(reason);
          !cure.empty() && std::ranges::find(cures, cure) == cures.end())
        cures.push_back(cure);
    }
    for (std::string_view cure : cures)
      text.append("; ").append(cure);
    return text;
  }

private:
  std::vector<std::pair<std::string, int64_t>> counts;
};

/// The numbers that decide which warnings are given.
struct Counts {
  int64_t operands = 0, gradients = 0, compressed = 0, scattered = 0;
  std::string firstScattered;
  std::vector<std::string> doubles; ///< layers whose gradients are f64
  Reasons reasons;                  ///< reasons of gradients; if there are no gradients, of all operands

  explicit Counts(const Table &table) {
    Reasons others;
    for (const Collective &collective : table.collectives)
      for (const Operand &operand : collective.operands)
        add(collective, operand, others);
    // If there is no gradient, the reasons of the other operands explain most.
    if (gradients == 0)
      reasons = others;
  }

private:
  void add(const Collective &collective, const Operand &operand, Reasons &others) {
    ++operands;
    compressed += !operand.codec.isUncompressed();
    if (!isGradient(operand.layer.kind)) {
      if (!operand.reason.empty())
        others.add(operand.reason);
      return;
    }
    ++gradients;
    if (operand.type == CGX_F64 && std::ranges::find(doubles, operand.layer.name) == doubles.end())
      doubles.push_back(operand.layer.name);
    if (operand.reason.starts_with(codecOfOtherCollectives(nameOf(collective.kind), /*codec=*/"")) &&
        scattered++ == 0)
      firstScattered = operand.layer.name;
    if (!operand.reason.empty())
      reasons.add(operand.reason);
  }
};

std::string describeSilence(int64_t ranks) {
  if (ranks > 1)
    return "nothing is compressed: the step has no collective, so that its " + std::to_string(ranks) +
           " ranks work alone; average gradients over the axis of the mesh, lax.pmean(gradients, axis_name)";
  return "nothing is compressed: the step is for one device and sends nothing; export it over a mesh of "
         "several, which a machine without them has with "
         "XLA_FLAGS=--xla_force_host_platform_device_count=4, set before JAX starts, and "
         "jax.make_mesh((4,), (\"data\",))";
}

std::string describeDoubles(const std::vector<std::string> &doubles) {
  constexpr size_t most = 8; // the most names on a line
  std::string text =
      std::to_string(doubles.size()) +
      (doubles.size() == 1 ? " gradient of f64 stays exact, " : " gradients of f64 stay exact, ");
  for (size_t i = 0; i < std::min(most, doubles.size()); ++i)
    text += (i == 0 ? "'" : ", '") + doubles[i] + "'";
  if (doubles.size() > most)
    text += " and " + std::to_string(doubles.size() - most) + " more";
  return text + ": codecs take f32, f16 and bf16; cast gradients before they are reduced, or train in f32";
}

} // namespace

void warnOfUncompressed(const Table &table, bool asksForThat, const std::function<bool()> &trains,
                        Diagnostics &diagnostics) {
  const Counts counts(table);
  if (counts.operands == 0 && trains())
    diagnostics.warn(describeSilence(table.ranks));
  else if (counts.operands == 0 || asksForThat)
    return; // an evaluation need not send anything, and a user who asked for identity knows
  else if (counts.compressed == 0 && counts.gradients == 0 && !counts.reasons.empty())
    diagnostics.warn("nothing is compressed: none of " + std::to_string(counts.operands) +
                     " operands of collectives was found to be the gradient of a parameter that the step "
                     "updates: " +
                     counts.reasons.list());
  else if (counts.compressed == 0 && !counts.reasons.empty())
    diagnostics.warn("nothing is compressed, though " + std::to_string(counts.gradients) +
                     (counts.gradients == 1 ? " gradient travels: " : " gradients travel: ") +
                     counts.reasons.list());
  if (!counts.doubles.empty())
    diagnostics.warn(describeDoubles(counts.doubles));
  if (counts.compressed > 0 && counts.scattered > 0)
    diagnostics.warn(
        std::to_string(counts.scattered) + (counts.scattered == 1 ? " gradient stays" : " gradients stay") +
        " exact, such as '" + counts.firstScattered +
        "': the codec is one of all-reduces, and each rank gets no more than the slice of the sum that it "
        "keeps; give these layers another codec in the plan");
}

} // namespace cgx::layers
