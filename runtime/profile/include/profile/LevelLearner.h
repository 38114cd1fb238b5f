//===-- profile/LevelLearner.h - Levels learned from what is sent -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// QSDP, 5.6.2: at given steps, levels are fitted to what is sent, for each layer and kind, and hold until the
// next of these steps. Each rank counts at which places of their buckets' ranges its elements are; the counts
// of all ranks are added up, and levels are fitted to the sums (LevelFit.h).
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_PROFILE_LEVELLEARNER_H
#define CGX_RUNTIME_PROFILE_LEVELLEARNER_H

#include "cgx/plan/Plan.h"
#include "profile/Profiler.h"

#include <set>

namespace cgx {

/// The layers that get learned levels, and the steps at which they are learned.
struct LevelRequest {
  std::vector<uint64_t> steps;    ///< steps at whose ends levels are learned
  std::vector<std::string> kinds; ///< kinds of layers; empty: weights and gradients
  std::string codec = "{}";       ///< JSON: parameters that replace those of a layer's codec

  /// Reads JSON such as {"steps": [100, 1000], "kinds": ["gradient"], "codec": {"bits": 4}}.
  static Result<LevelRequest> parse(const std::string &json);
};

class LevelLearner {
public:
  /// Fails if no layer, or not each layer of a requested kind, can have learned levels. `codecs` must outlive
  /// the result.
  static Result<LevelLearner> make(const CodecTable &codecs, const std::vector<ProfiledOperand> &profiled,
                                   const LevelRequest &request);

  void beginStep(uint64_t step);
  /// Returns true if the current step, or the one that has just ended, is one to learn at.
  bool isLearning() const { return learning; }
  void observe(size_t collective, size_t operand, const std::byte *input);

  /// Ends a step to learn at. All ranks must call it before the next step; rank 0 gets a plan of the layers
  /// for which levels were learned, the others an empty one.
  Result<plan::Plan> finish(Transport &transport, std::chrono::milliseconds timeout, uint64_t step);

private:
  struct Learned {
    ProfiledOperand place;
    cgx_codec codec;
    std::vector<double> counts; ///< by place in the range, weighted by squared ranges
    uint64_t runs = 0;          ///< runs in this step
  };

  LevelLearner(const CodecTable &codecs, std::vector<uint64_t> steps)
      : codecs(&codecs), steps(steps.begin(), steps.end()) {}

  const OperandInfo &infoOf(const ProfiledOperand &place) const {
    return codecs->program().collectives[place.collective].operands[place.operand];
  }
  plan::Plan assemble(const std::vector<std::vector<double>> &all) const;

  const CodecTable *codecs;
  std::set<uint64_t> steps;
  std::vector<Learned> operands;
  uint64_t observed = 0; ///< elements observed in this step
  bool learning = false;
};

} // namespace cgx

#endif // CGX_RUNTIME_PROFILE_LEVELLEARNER_H
