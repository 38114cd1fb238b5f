//===-- profile/Profiler.h - Measures codecs on what a step sends -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The profiler accumulates what each rank contributes to compressed collectives over some steps, then tries
// every candidate codec on the sums, each rank on its chunk (L-GreCo: the error of a codec on the accumulated
// gradient, without error feedback), and combines the results of all ranks.
//
// It profiles the operands that the program as compiled compresses: the compiler decided which may lose
// accuracy, a profile decides how much. If two operands have the same layer and kind, it profiles the first.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_PROFILE_PROFILER_H
#define CGX_RUNTIME_PROFILE_PROFILER_H

#include "cgx/plan/Profile.h"
#include "manifest/CodecTable.h"
#include "profile/FactorTrial.h"
#include "profile/Trial.h"
#include "transport/Transport.h"

#include <chrono>

namespace cgx {

/// A codec to try.
struct CodecCandidate {
  std::string text; ///< canonical JSON
  cgx_codec codec{};
  std::string kind; ///< the kind of layers it is for; empty: all kinds without candidates of their own
};

/// Returns the candidates that are tried on an operand.
std::vector<const CodecCandidate *> candidatesFor(const std::vector<CodecCandidate> &candidates,
                                                  const OperandInfo &info);

/// Reads candidates, written like options such as `quantize bits=2..8 bucket=128`, from JSON {"candidates":
/// [...]}; null means the default.
Result<std::vector<CodecCandidate>> parseCandidates(const char *optionsJson);

/// An operand that a profile measures.
struct ProfiledOperand {
  size_t collective, operand; ///< positions in the program
};

/// Returns the operands of a compiled program that a profile measures.
std::vector<ProfiledOperand> findProfiledOperands(const Program &program);

/// Returns the bytes that leave all ranks in a step when the operand is sent with the codec, with payloads of
/// maximum length. `everybody` is the number of ranks of the job, for permutations. `runs` is how often the
/// collective ran in a step, on average; 0, if it was not seen, counts as one run of each kind.
double wireBytesOfAll(const CollectiveInfo &info, const OperandInfo &operand, const cgx_codec &codec,
                      uint32_t everybody, double runs);

class Profiler {
public:
  Profiler(const CodecTable &codecs, std::vector<ProfiledOperand> profiled,
           std::vector<CodecCandidate> candidates);

  /// Begins a period. `previousNorms` are those of the period before, by profiled operand.
  void begin(uint64_t firstStep, const std::vector<std::optional<double>> &previousNorms);
  bool isActive() const { return active; }

  void beginStep();
  void endStep();
  /// Called around each call that runs (a part of) the collective: the time between calls is the step's own
  /// work.
  void enterCollective(size_t collective);
  void leaveCollective();
  void observe(size_t collective, size_t operand, const std::byte *input);

  /// Ends the period. All ranks must call it between the same two steps, and all get the same profile.
  Result<plan::Profile> finish(Transport &transport, std::chrono::milliseconds timeout, uint64_t seed,
                               uint64_t step);

private:
  using Clock = std::chrono::steady_clock;

  struct Accumulated {
    ProfiledOperand place;
    std::vector<float> sum;
    std::optional<double> previousNorm;
    uint64_t runs = 0; ///< runs in the period
  };

  const OperandInfo &infoOf(const Accumulated &entry) const {
    return codecs.program().collectives[entry.place.collective].operands[entry.place.operand];
  }
  /// Tries a candidate on this rank's share of a gradient, as a rank of the group would encode it.
  Trial::Outcome tryCandidate(const CodecCandidate &candidate, const Accumulated &entry, uint32_t rank,
                              RandomKey key);
  /// Returns the largest rank among the lowrank candidates that the operand takes; 0 if there is none.
  uint32_t largestFactorRank(const OperandInfo &info) const;
  std::vector<double> measure(uint64_t seed, uint64_t step, uint32_t rank);
  plan::Profile assemble(const std::vector<std::vector<double>> &all);

  const CodecTable &codecs;
  std::vector<CodecCandidate> candidates;
  std::vector<Accumulated> operands;
  std::vector<double> ready;       ///< by collective, summed over steps
  std::vector<double> readyInStep; ///< in the current step; infinite: not yet
  Trial trial;
  FactorTrial factorTrial; ///< trial of the operand that is being measured
  bool active = false;
  uint64_t firstStep = 0, steps = 0;
  double stepSeconds = 0, computeSeconds = 0, profilingSeconds = 0;
  double inStep = 0, computed = 0; ///< seconds of the current step: profiling, and its own work
  Clock::time_point stepBegan, workBegan;
};

} // namespace cgx

#endif // CGX_RUNTIME_PROFILE_PROFILER_H
