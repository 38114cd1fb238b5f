//===-- Simulate.h - Steps on other machines --------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_BENCH_SIMULATE_H
#define CGX_BENCH_SIMULATE_H

#include "Machine.h"

#include <optional>

namespace cgx::bench {

/// An operand of a collective, with its codec.
struct SimulatedOperand {
  cgx_codec codec{};
  uint32_t type = CGX_F32;
  uint64_t elements = 0;
};
struct SimulatedCollective {
  uint32_t kind = 0; ///< a cgx_collective_kind
  cgx_schedule schedule{};
  uint32_t root = 0;             ///< the root of a broadcast
  std::optional<uint32_t> ranks; ///< the ranks of each of its groups; empty: all ranks of the job
  std::vector<SimulatedOperand> operands;
  uint64_t runs = 1, every = 1; ///< the number of runs, in each of so many steps
  uint32_t programRanks = 0;    ///< the number of ranks for which the pairs of a permute were made
  std::vector<cgx_pair> pairs;
  std::vector<std::string> sends; ///< for each pair, one digit per run; empty: it sends in all runs
};

/// Loads the collectives of a manifest, or of a library that cgx-compile made. Throws Error.
std::vector<SimulatedCollective> loadProgram(const std::string &path);

struct SimulateOptions {
  std::vector<uint32_t> ranks;
  uint32_t local = 1; ///< ranks per host
  /// The cores that all hosts share, like those of tools/netlab. Without a value, each rank has as many as in
  /// the calibration.
  std::optional<double> cores;
  /// The algorithm that replaces that of every all-reduce; `isBest` takes the fastest by the model.
  std::optional<uint32_t> algorithm;
  bool isBest = false;
};

/// The prediction for one number of ranks.
struct Prediction {
  uint32_t ranks = 0, local = 1;
  double seconds = 0, exactSeconds = 0; ///< seconds of communication, one collective after the other
  double meanWireBytes = 0;             ///< the mean over ranks of the bytes that leave a rank in a step
  std::vector<uint64_t> wireBytes;      ///< bytes by rank, for up to 64 ranks
  std::vector<std::string> algorithms;  ///< the algorithms that are used
};

/// Predicts the communication for each number of ranks. Throws Error where hosts do not divide the ranks.
std::vector<Prediction> simulate(const std::vector<SimulatedCollective> &program,
                                 const formats::Machine &machine, const SimulateOptions &options);

std::string tableOf(const std::vector<Prediction> &predictions);
std::string jsonOf(const std::vector<Prediction> &predictions);

} // namespace cgx::bench

#endif // CGX_BENCH_SIMULATE_H
