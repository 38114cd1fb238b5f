//===-- profile/LevelFit.cpp - Levels fitted to a distribution -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "profile/LevelFit.h"

#include "cgx/arithmetic/levels.h"

#include <algorithm>

namespace cgx {

/// The number of values that the algorithm sees for each level, and the minimum.
static constexpr size_t kValuesPerLevel = 256, kFewestValues = 8192;

size_t levelFitPlaces(const cgx_codec &codec) { return std::max<size_t>(512, size_t(16) << codec.bits); }

std::vector<float> evenLevels(const cgx_codec &codec) {
  std::vector<float> levels(size_t(1) << codec.bits);
  for (size_t i = 0; i < levels.size(); ++i)
    levels[i] = float(i) / float(levels.size() - 1);
  return levels;
}

/// Returns the middle of a place of the histogram.
static double shareAt(size_t place, size_t places) { return (double(place) + 0.5) / double(places); }

double levelError(const cgx_codec &codec, std::span<const float> levels, std::span<const double> histogram) {
  double error = 0;
  for (size_t place = 0; place < histogram.size(); ++place) {
    const double share = shareAt(place, histogram.size());
    const uint32_t below = learnedLevelBelow(levels.data(), uint32_t(levels.size()), float(share));
    const double toLow = share - double(levels[below]), toHigh = double(levels[below + 1]) - share;
    const double nearest = std::min(toLow * toLow, toHigh * toHigh);
    error += histogram[place] * (codec.rounding == CGX_ROUND_NEAREST ? nearest : toLow * toHigh);
  }
  return error;
}

/// Returns the number in [0, 1) whose binary digits after the point are the bits of `index`, the lowest
/// first. Any run of indices is spread evenly.
static double spreadEvenly(size_t index) {
  double place = 0, weight = 0.5;
  for (; index != 0; index /= 2, weight /= 2)
    place += index % 2 == 0 ? 0 : weight;
  return place;
}

std::vector<float> fitLevels(const cgx_codec &codec, std::span<const double> histogram) {
  const std::vector<float> even = evenLevels(codec);
  std::vector<double> upTo(histogram.size());
  double sum = 0;
  for (size_t place = 0; place < histogram.size(); ++place)
    upTo[place] = sum += histogram[place];
  if (!(sum > 0))
    return even;
  std::vector<float> levels = even;
  std::vector<double> mean(levels.size());
  const size_t values = std::max(kFewestValues, kValuesPerLevel * levels.size());
  for (size_t i = 0; i < values; ++i) {
    const auto found = std::upper_bound(upTo.begin(), upTo.end(), spreadEvenly(i) * sum);
    const size_t place = std::min<size_t>(size_t(found - upTo.begin()), histogram.size() - 1);
    learnFrom(levels.data(), uint32_t(levels.size()), float(shareAt(place, histogram.size())));
    // Each step moves levels by a share of a distance, so that they oscillate; their mean does not.
    if (i >= values / 2)
      for (size_t level = 0; level < levels.size(); ++level)
        mean[level] += double(levels[level]);
  }
  for (size_t level = 1; level + 1 < levels.size(); ++level)
    levels[level] = float(mean[level] / double(values - values / 2));
  std::sort(levels.begin(), levels.end());
  return levelError(codec, levels, histogram) < levelError(codec, even, histogram) ? levels : even;
}

} // namespace cgx
