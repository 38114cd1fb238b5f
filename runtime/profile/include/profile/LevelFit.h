//===-- profile/LevelFit.h - Levels fitted to a distribution ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_PROFILE_LEVELFIT_H
#define CGX_RUNTIME_PROFILE_LEVELFIT_H

#include "cgx/codec.h"

#include <cstddef>
#include <span>
#include <vector>

namespace cgx {

/// Returns the number of places in a histogram over a bucket's range: several between two levels.
size_t levelFitPlaces(const cgx_codec &codec);

/// Returns 2^bits even levels from 0 to 1.
std::vector<float> evenLevels(const cgx_codec &codec);

/// Fits levels by Algorithm 5.1 of QSDP to values distributed as in the histogram, starting from even levels.
/// Returns even levels if the fitted ones have a larger error with the codec's rounding.
std::vector<float> fitLevels(const cgx_codec &codec, std::span<const double> histogram);

/// Returns the expected squared error of levels with the codec's rounding, summed over the histogram.
double levelError(const cgx_codec &codec, std::span<const float> levels, std::span<const double> histogram);

} // namespace cgx

#endif // CGX_RUNTIME_PROFILE_LEVELFIT_H
