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

/// Places of a histogram of shares of a range: several between two levels.
size_t levelFitPlaces(const cgx_codec &codec);

/// Even levels, 2^bits of them from 0 to 1.
std::vector<float> evenLevels(const cgx_codec &codec);

/// Runs Algorithm 5.1 of QSDP over values that are spread as the histogram says, from even levels on. Levels
/// that would make a larger error than even ones with the codec's rounding are not taken.
std::vector<float> fitLevels(const cgx_codec &codec, std::span<const double> histogram);

/// The error that is expected of levels with the codec's rounding, squared, summed over the histogram.
double levelError(const cgx_codec &codec, std::span<const float> levels, std::span<const double> histogram);

} // namespace cgx

#endif // CGX_RUNTIME_PROFILE_LEVELFIT_H
