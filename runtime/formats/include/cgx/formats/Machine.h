//===-- cgx/formats/Machine.h - What cgx-bench measured of a machine -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reports errors as text, for callers without exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_FORMATS_MACHINE_H
#define CGX_FORMATS_MACHINE_H

#include "cgx/cost.h"
#include "cgx/formats/Codec.h"

#include <cstdint>
#include <string_view>

namespace cgx::formats {

struct MeasuredCodec {
  Codec codec;
  cgx_codec_rates rates{};
};

struct Machine {
  cgx_machine model{};
  std::string transport; ///< that was measured
  uint32_t ranks = 0;    ///< that measured
  /// Cores that each of them had while all computed, up to 2: with one to spare, a collective takes none of
  /// the step's time. 0 where nobody measured it, as below.
  double coresPerRank = 0;
  double flopsPerSecond = 0; ///< of matrix products in f32, on every rank at once
  /// Of the time of an exact all-reduce, how much passes while ranks compute, from 0 to 1.
  double overlappedShare = 0;
  std::vector<MeasuredCodec> codecs;
};

/// Returns what is wrong, or "".
std::string readMachine(std::string_view text, Machine &machine);

/// The file that is read as that. Rates of a codec are found by its spelling `codec.json`.
std::string writeMachine(const Machine &machine);

/// The rates of a codec, or of the first one measured of its family, or else of the slowest one measured.
cgx_codec_rates ratesOf(const Machine &machine, const Codec &codec);

/// Bandwidth and latency of its link alone.
std::string readMachineLink(std::string_view text, double &bytesPerSecond, double &latencySeconds);

} // namespace cgx::formats

#endif // CGX_FORMATS_MACHINE_H
