//===-- cgx/formats/Machine.h - Machine files of cgx-bench ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These functions return errors as text, for callers without exceptions.
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
  std::string transport; ///< the transport that was measured
  uint32_t ranks = 0;    ///< the number of ranks that measured
  /// The cores that each rank had while all computed, up to 2: with one to spare, a collective takes none of
  /// the step's time. 0 if not measured, as below.
  double coresPerRank = 0;
  double flopsPerSecond = 0; ///< speed of matrix products in f32, on every rank at once
  /// The share of an uncompressed all-reduce's time during which ranks can compute, from 0 to 1.
  double overlappedShare = 0;
  std::vector<MeasuredCodec> codecs;
};

/// Reads a machine file. Returns what is wrong, or "".
std::string readMachine(std::string_view text, Machine &machine);

/// Returns the file that readMachine reads as `machine`. Rates of a codec are found by its spelling
/// `codec.json`.
std::string writeMachine(const Machine &machine);

/// Returns the rates of a codec; if it was not measured, of the first one measured of its family, or else of
/// the slowest one measured.
cgx_codec_rates ratesOf(const Machine &machine, const Codec &codec);

/// Reads only the bandwidth and latency of a machine's link. Returns what is wrong, or "".
std::string readMachineLink(std::string_view text, double &bytesPerSecond, double &latencySeconds);

} // namespace cgx::formats

#endif // CGX_FORMATS_MACHINE_H
