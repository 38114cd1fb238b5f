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

/// The communication of a step.
struct SimulatedOperand {
  cgx_codec codec{};
  uint32_t type = CGX_F32;
  uint64_t elements = 0;
};
struct SimulatedCollective {
  uint32_t kind = 0; ///< cgx_collective_kind
  cgx_schedule schedule{};
  uint32_t root = 0;             ///< of a broadcast
  std::optional<uint32_t> ranks; ///< of its groups; without, all of the job
  std::vector<SimulatedOperand> operands;
  uint64_t runs = 1, every = 1; ///< so often in each of these steps
  uint32_t programRanks = 0;    ///< for which the pairs of a permute are
  std::vector<cgx_pair> pairs;
  std::vector<std::string> sends; ///< of each pair, a digit for each run; empty: all runs
};

/// From a manifest, or the library that cgx-compile made. Throws Error.
std::vector<SimulatedCollective> loadProgram(const std::string &path);

struct SimulateOptions {
  std::vector<uint32_t> ranks;
  uint32_t local = 1; ///< ranks per host
  /// That all hosts share, as those of tools/netlab do; without, each rank has as many as in the calibration.
  std::optional<double> cores;
  /// Takes the place of every all-reduce's own; `isBest` takes the fastest one by the model.
  std::optional<uint32_t> algorithm;
  bool isBest = false;
};

/// One rank count.
struct Prediction {
  uint32_t ranks = 0, local = 1;
  double seconds = 0, exactSeconds = 0; ///< of communicating, one collective after another
  double meanWireBytes = 0;             ///< that leave a rank in a step
  std::vector<uint64_t> wireBytes;      ///< by rank, up to 64 of them
  std::vector<std::string> algorithms;  ///< in use
};

/// Throws Error, where hosts do not divide the ranks.
std::vector<Prediction> simulate(const std::vector<SimulatedCollective> &program,
                                 const formats::Machine &machine, const SimulateOptions &options);

std::string tableOf(const std::vector<Prediction> &predictions);
std::string jsonOf(const std::vector<Prediction> &predictions);

} // namespace cgx::bench

#endif // CGX_BENCH_SIMULATE_H
