//===-- Bench.h - Options and results of a benchmark ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A benchmark runs one collective with several codecs on several sizes. In each round every
// variant of a size runs once, after a barrier, so that drifts of a shared machine affect all of
// them. A run takes as long as its slowest rank.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_BENCH_BENCH_H
#define CGX_BENCH_BENCH_H

#include "cgx/wire.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace cgx::bench {

/// An error for the user; the text says what is expected.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Variant {
  std::string name; ///< the codec as text, with the algorithm if one was given; or the name of the reference
  cgx_codec codec{};
  cgx_schedule schedule{}; ///< the algorithm of an all-reduce
};

struct Options {
  std::string collective; ///< its name in manifests: all_reduce
  std::string transport = "shm";
  std::string device = "cpu"; ///< the memory that holds the buffers: cpu or cuda
  uint32_t ranks = 2;
  std::vector<uint64_t> sizes; ///< bytes of f32 that each rank contributes
  std::vector<Variant> variants;
  uint32_t warmup = 3, repetitions = 21;
  uint32_t timeoutMs = 60000;
  std::string json;
};

/// The measurements of one variant at one size: for each repetition, the seconds of the slowest rank.
struct Series {
  uint64_t bytes = 0;
  std::string variant;
  std::vector<double> seconds;
  /// The number of wrong result elements on all ranks. For an uncompressed collective these differ from the
  /// expected values, with a codec they are NaN or infinite, and where ranks that must agree differ, all
  /// count.
  uint64_t wrong = 0;
};

/// Parses a codec such as "quantize bits=8 bucket=512". Parameters that are left out have the defaults of
/// cgx-opt. Throws Error.
Variant parseCodec(const std::string &text);
/// Parses an algorithm such as "ring". A hierarchical one has hosts of `local` ranks. Throws Error.
cgx_schedule parseAlgorithm(const std::string &name, uint32_t local);
/// Parses a size: "64MiB", "1e6", "4096". Throws Error.
uint64_t parseSize(const std::string &text);

/// Runs one rank of the job. Returns the series on rank 0, and nothing elsewhere. Throws Error.
std::vector<Series> runRank(const Options &options, const std::string &job, uint32_t rank,
                            bool withReferences);

/// Measures the round trip of a flag between two threads, in microseconds, which shows how close to each
/// other the machine runs them.
double spinRoundTrip();

std::string tableOf(const Options &options, const std::vector<Series> &series);
std::string jsonOf(const Options &options, const std::vector<Series> &series, double roundTrip);

} // namespace cgx::bench

#endif // CGX_BENCH_BENCH_H
