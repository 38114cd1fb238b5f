//===-- TrainingCheck.cpp - Check that a program trains and compresses -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/TrainingCheck.h"

#include "cgx/run/Error.h"

#include <algorithm>

using namespace cgx::run;

bool cgx::run::trains(const Manifest &manifest) {
  return std::any_of(manifest.results.begin(), manifest.results.end(),
                     [](const Value &result) { return result.feeds.has_value(); });
}

void cgx::run::checkFeeds(const Manifest &manifest) {
  if (trains(manifest))
    return;
  for (const Value &result : manifest.results)
    if (result.updates) {
      const std::string &argument = manifest.arguments[*result.updates].name;
      throw Error(
          "nothing is fed back, so that every step would start from the same state, although result '" +
          result.name + "' updates '" + argument +
          "': export the step with names and donation, jax.jit(step, donate_argnums=0).lower(...)"
          ".as_text(debug_info=True), or name each pair, --feed '" +
          result.name + "=" + argument + "'");
    }
}

std::vector<std::string> cgx::run::describeOmissions(const Manifest &manifest, bool plans) {
  std::vector<std::string> omissions;
  size_t operands = 0, gradients = 0, compressed = 0;
  for (const Collective &collective : manifest.collectives)
    for (const Operand &operand : collective.operands) {
      ++operands;
      gradients += operand.kind == "gradient" || operand.kind == "outer_gradient";
      compressed += operand.codec.family != CGX_CODEC_IDENTITY;
    }
  if (!trains(manifest) && gradients == 0)
    return omissions; // an evaluation does none of these
  if (!trains(manifest))
    omissions.push_back("nothing is trained: no result of the program is fed back into an argument");
  if (manifest.ranks > 1 && operands == 0)
    omissions.push_back("nothing is exchanged: the program has no collective, and each of its " +
                        std::to_string(manifest.ranks) + " ranks works alone");
  else if (operands > 0 && compressed == 0 && !plans)
    omissions.push_back("nothing is compressed: all " + std::to_string(operands) +
                        " operands of collectives travel exactly, " + std::to_string(gradients) +
                        " of them gradients; cgx-opt --cgx-compress gives them codecs");
  return omissions;
}
