//===-- plan/Levels.cpp - Codecs ordered by strength ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Levels.h"

#include "Incumbent.h"
#include "cgx/plan/Codec.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace cgx::plan {

namespace {

struct Level {
  std::string codec;
  double bytes = 0, error = 0;
  std::vector<Choice> choices;
};

/// Returns the cost of giving all layers one codec; layers that lack it are uncompressed.
Level makeLevel(const Problem &problem, const std::string &codec) {
  Level level{codec, 0, 0, {}};
  for (const Layer &layer : problem.layers) {
    auto find = [&](const std::string &wanted) {
      return std::find_if(layer.all.begin(), layer.all.end(), [&](const Choice &choice) {
        return choice.codec == wanted && std::isfinite(choice.error);
      });
    };
    auto found = find(codec);
    if (found == layer.all.end())
      found = find(kUncompressed);
    level.bytes += found->bytes;
    level.error += found->error;
    level.choices.push_back(*found);
  }
  return level;
}

} // namespace

Levels::Levels(const Problem &problem) : problem(problem) {
  std::map<std::string, bool> seen;
  std::vector<Level> all;
  for (const Layer &layer : problem.layers)
    for (const Choice &choice : layer.all)
      if (seen.emplace(choice.codec, true).second)
        all.push_back(makeLevel(problem, choice.codec));
  std::sort(all.begin(), all.end(), [](const Level &a, const Level &b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.error < b.error;
  });
  double leastError = std::numeric_limits<double>::infinity();
  for (const Level &level : all) {
    if (level.error >= leastError)
      continue;
    leastError = level.error;
    codecs.push_back(level.codec);
    choices.emplace_back();
    for (size_t i = 0; i < problem.layers.size(); ++i)
      choices.back().push_back(problem.indexOf(i, level.choices[i]));
    if (level.error > problem.reference.error)
      referenceLevel = codecs.size();
  }
}

Assignment Levels::assign(const std::vector<size_t> &levels) const {
  Assignment assignment;
  for (size_t i = 0; i < levels.size(); ++i)
    assignment.push_back(choice(i, levels[i]));
  return assignment;
}

Assignment Levels::bestRange(const std::function<std::vector<size_t>(size_t, size_t)> &levelsFor) const {
  Incumbent best(problem);
  for (size_t lowest = 0; lowest < count(); ++lowest)
    for (size_t highest = lowest; highest < count(); ++highest)
      best.offer(assign(levelsFor(lowest, highest)));
  return best.assignment();
}

} // namespace cgx::plan
