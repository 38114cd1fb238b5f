//===-- Machine.h - What was measured of a machine --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_BENCH_MACHINE_H
#define CGX_BENCH_MACHINE_H

#include "cgx/cost.h"

#include <string>
#include <vector>

namespace cgx::bench {

struct MeasuredCodec {
  cgx_codec codec{};
  cgx_codec_rates rates{};
};

/// The file of `cgx-bench calibrate`, described in tools/bench/README.md.
struct Machine {
  cgx_machine model{};
  std::string transport; ///< that was measured
  uint32_t ranks = 0;    ///< that measured
  std::vector<MeasuredCodec> codecs;

  /// Of the codec, or of the first one of its family, or else of the slowest one.
  cgx_codec_rates ratesOf(const cgx_codec &codec) const;

  /// Throw Error.
  static Machine parse(const std::string &json);
  static Machine load(const std::string &path);
  std::string toJson() const;
};

/// Measures one rank's share of the machine; the machine comes back on rank 0. Throws Error.
struct CalibrateOptions {
  std::string transport, job;
  uint32_t rank = 0, ranks = 2;
  uint32_t local = 1; ///< consecutive ranks on one host
  std::vector<cgx_codec> codecs;
  uint64_t bytes = 8 << 20; ///< of a long message
  uint32_t repetitions = 9;
};
Machine calibrate(const CalibrateOptions &options);

/// The codecs that are measured when none is asked for.
std::vector<cgx_codec> commonCodecs();

} // namespace cgx::bench

#endif // CGX_BENCH_MACHINE_H
