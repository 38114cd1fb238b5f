//===-- profile/Profiler.h - What a step sends, measured -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adds up what each rank contributes to compressed collectives over some steps, then tries
// every candidate codec on the sums, each rank on its chunk (L-GreCo: the error of a codec on
// the accumulated gradient, without error feedback) and puts together what all ranks found.
//
// Profiled are the operands that the program as it was compiled compresses: the compiler
// decided which may lose accuracy, a profile decides how much. Of two operands of the same
// layer and kind the first is.
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
  std::string kind; ///< of the layers that it is for; empty: of all kinds without candidates of their own
};

/// The candidates that are tried on an operand.
std::vector<const CodecCandidate *> candidatesFor(const std::vector<CodecCandidate> &candidates,
                                                  const OperandInfo &info);

/// From the text of an option, such as `quantize bits=2..8 bucket=128`, in JSON as
/// {"candidates": [...]}; null is the default.
Result<std::vector<CodecCandidate>> parseCandidates(const char *optionsJson);

/// An operand that a profile looks at.
struct ProfiledOperand {
  size_t collective, operand; ///< positions in the program
};

/// Of a program as it was compiled.
std::vector<ProfiledOperand> findProfiledOperands(const Program &program);

/// Bytes that leave all ranks in a step when the operand is sent with the codec, in payloads as long as they
/// can be. `everybody` are the ranks of the job, whom a permutation names. `runs` is how often the collective
/// was seen to run in a step, on average: 0, where it was not seen, counts as what is usual.
double wireBytesOfAll(const CollectiveInfo &info, const OperandInfo &operand, const cgx_codec &codec,
                      uint32_t everybody, double runs);

class Profiler {
public:
  Profiler(const CodecTable &codecs, std::vector<ProfiledOperand> profiled,
           std::vector<CodecCandidate> candidates);

  /// Begins a period; the norms of the one before are by profiled operand.
  void begin(uint64_t firstStep, const std::vector<std::optional<double>> &previousNorms);
  bool isActive() const { return active; }

  void beginStep();
  void endStep();
  /// Around each call that runs (a part of) the collective: what is between is the step's work.
  void enterCollective(size_t collective);
  void leaveCollective();
  void observe(size_t collective, size_t operand, const std::byte *input);

  /// Ends the period. All ranks must, between the same two steps; all get the same profile.
  Result<plan::Profile> finish(Transport &transport, std::chrono::milliseconds timeout, uint64_t seed,
                               uint64_t step);

private:
  using Clock = std::chrono::steady_clock;

  struct Accumulated {
    ProfiledOperand place;
    std::vector<float> sum;
    std::optional<double> previousNorm;
    uint64_t runs = 0; ///< in the period
  };

  const OperandInfo &infoOf(const Accumulated &entry) const {
    return codecs.program().collectives[entry.place.collective].operands[entry.place.operand];
  }
  /// What a candidate does to this rank's share of a gradient, as a rank of the group does it.
  Trial::Outcome tryCandidate(const CodecCandidate &candidate, const Accumulated &entry, uint32_t rank,
                              RandomKey key);
  /// The largest of the candidates' that the operand takes; 0 if there is none.
  uint32_t largestFactorRank(const OperandInfo &info) const;
  std::vector<double> measure(uint64_t seed, uint64_t step, uint32_t rank);
  plan::Profile assemble(const std::vector<std::vector<double>> &all);

  const CodecTable &codecs;
  std::vector<CodecCandidate> candidates;
  std::vector<Accumulated> operands;
  std::vector<double> ready;       ///< by collective, summed over steps
  std::vector<double> readyInStep; ///< of the step that runs; infinite: not yet
  Trial trial;
  FactorTrial factorTrial; ///< of the operand that is measured
  bool active = false;
  uint64_t firstStep = 0, steps = 0;
  double stepSeconds = 0, computeSeconds = 0, profilingSeconds = 0;
  double inStep = 0, computed = 0; ///< of the step that runs: profiling, its own work
  Clock::time_point stepBegan, workBegan;
};

} // namespace cgx

#endif // CGX_RUNTIME_PROFILE_PROFILER_H
