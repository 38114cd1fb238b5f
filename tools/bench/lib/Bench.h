//===-- Bench.h - What is measured, and what comes out ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A benchmark runs one collective with several codecs on several sizes. In each
// round every variant of a size runs once, behind a barrier, so that whatever
// wanders on a shared machine wanders for all of them. A run takes as long as
// it takes the slowest rank.
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

/// What a person has to know; the text says what would be right.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Variant {
  std::string name; ///< the codec as text, with the algorithm if one was asked for, or that of the reference
  cgx_codec codec{};
  cgx_schedule schedule{}; ///< of an all-reduce
};

struct Options {
  std::string collective; ///< as in manifests: all_reduce
  std::string transport = "shm";
  std::string device = "cpu"; ///< where the buffers lie: cpu or cuda
  uint32_t ranks = 2;
  std::vector<uint64_t> sizes; ///< bytes of f32 that each rank puts in
  std::vector<Variant> variants;
  uint32_t warmup = 3, repetitions = 21;
  uint32_t timeoutMs = 60000;
  std::string json;
};

/// One variant on one size: its times by repetition, of the slowest rank, in seconds.
struct Series {
  uint64_t bytes = 0;
  std::string variant;
  std::vector<double> seconds;
  /// Wrong elements of results, of all ranks: of exact collectives those that are not what they must be, with
  /// a codec those that are not finite, and all where ranks that must have the same have not.
  uint64_t wrong = 0;
};

/// "quantize bits=8 bucket=512", the defaults of cgx-opt for what is left out. Throws Error.
Variant parseCodec(const std::string &text);
/// "ring"; hierarchical with hosts of `local` ranks. Throws Error.
cgx_schedule parseAlgorithm(const std::string &name, uint32_t local);
/// "64MiB", "1e6", "4096". Throws Error.
uint64_t parseSize(const std::string &text);

/// Runs one rank of the job; the series come back on rank 0 and are empty elsewhere. Throws Error.
std::vector<Series> runRank(const Options &options, const std::string &job, uint32_t rank,
                            bool withReferences);

/// A round trip of a flag between two threads, in microseconds: tells where this machine has put its cores.
double spinRoundTrip();

std::string tableOf(const Options &options, const std::vector<Series> &series);
std::string jsonOf(const Options &options, const std::vector<Series> &series, double roundTrip);

} // namespace cgx::bench

#endif // CGX_BENCH_BENCH_H
