//===-- Machine.h - Measurements of a machine -------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_BENCH_MACHINE_H
#define CGX_BENCH_MACHINE_H

#include "cgx/codec.h"
#include "cgx/formats/Machine.h"

#include <string>
#include <vector>

namespace cgx::bench {

/// Returns the codec under the name that machine files use.
formats::Codec namedCodec(const cgx_codec &codec);

/// Loads a machine file. Throws Error.
formats::Machine loadMachine(const std::string &path);

struct CalibrateOptions {
  std::string transport, job;
  uint32_t rank = 0, ranks = 2;
  uint32_t local = 1; ///< consecutive ranks on one host
  std::vector<cgx_codec> codecs;
  uint64_t bytes = 8 << 20; ///< the size of a long message
  uint32_t repetitions = 9;
};
/// Measures one rank's share of the machine, and returns the machine on rank 0. Throws Error.
formats::Machine calibrate(const CalibrateOptions &options);

/// Returns the codecs that are measured when none is given.
std::vector<cgx_codec> commonCodecs();

} // namespace cgx::bench

#endif // CGX_BENCH_MACHINE_H
