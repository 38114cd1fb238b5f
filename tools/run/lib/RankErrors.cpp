//===-- RankErrors.cpp - What went wrong, the cause first -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankErrors.h"

#include "cgx/run/Error.h"
#include "cgx/runtime.h"

#include <algorithm>

using namespace cgx::run;

static bool isAbout(const std::string &error, cgx_status status) {
  return error.starts_with(std::string(cgx_status_name(status)) + ": ");
}

void cgx::run::throwRankErrors(const std::vector<Outcome> &outcomes, const std::vector<bool> &dead) {
  // Ranks that say the same thing: the dead, those who say what went wrong, and those who only saw others
  // fail.
  std::vector<std::pair<std::string, std::string>> lines; // message, ranks
  for (int turn : {0, 1, 2})
    for (size_t rank = 0; rank < outcomes.size(); ++rank) {
      const std::string &error = outcomes[rank].error;
      const bool isOfOthers = isAbout(error, CGX_PEER_DIED) || isAbout(error, CGX_TIMEOUT);
      if (error.empty() || turn != (dead[rank] ? 0 : isOfOthers ? 2 : 1))
        continue;
      auto line =
          std::find_if(lines.begin(), lines.end(), [&](const auto &each) { return each.first == error; });
      if (line == lines.end())
        lines.emplace_back(error, std::to_string(rank));
      else
        line->second += ", " + std::to_string(rank);
    }
  if (lines.empty())
    return;
  std::string text;
  for (const auto &[error, ranks] : lines)
    text += (text.empty() ? "" : "\n  ") +
            std::string(ranks.find(',') == std::string::npos ? "rank " : "ranks ") + ranks + ": " + error;
  throw Error(text);
}
