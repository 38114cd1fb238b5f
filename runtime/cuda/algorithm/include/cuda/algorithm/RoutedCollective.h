//===-- RoutedCollective.h - Kernels around the two phases of a route ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is common to all collectives that encode, bring payloads to other ranks, and decode:
//
//   add up, encode contributions | scatter |   ... round by round
//                                              add up, decode what came, encode results | gather | decode
//                                              results
//
// and, ahead of that and behind it, copies of slices that do not lie together in their tensors.
// Which of these a collective does, and with which payloads, a RoutedAlgorithm lists. A step is one group of
// kernels for all operands; a list that is empty is no step.
#ifndef CGX_RUNTIME_CUDA_ALGORITHM_ROUTEDCOLLECTIVE_H
#define CGX_RUNTIME_CUDA_ALGORITHM_ROUTEDCOLLECTIVE_H

#include "cuda/algorithm/ResidentCollective.h"
#include "cuda/layers/RoutedLayers.h"
#include "cuda/state/LentTensors.h"
#include "cuda/stream/BoundBuffers.h"
#include "cuda/stream/StepOnDevice.h"

#include <map>

namespace cgx {

/// A kind of collective, as its payloads see it.
class RoutedAlgorithm {
public:
  virtual ~RoutedAlgorithm() = default;

  /// Whether it can run on a GPU, with the codecs that there are kernels of.
  virtual bool takes(const Execution &execution) const = 0;
  virtual void list(const ListedOperand &operand, RoutedLayers &layers) const = 0;
};

class RoutedCollective final : public ResidentCollective {
public:
  /// `algorithm` stays as long as the process.
  static Result<std::unique_ptr<ResidentCollective>> make(const Execution &execution, cuda::Stream stream,
                                                          const RoutedAlgorithm &algorithm);

  bool isCapturable() const override { return route->isCapturable(); }
  Status put(Execution &execution, Buffers operands, cuda::Stream stream) override;
  Status finish(Execution &execution) override { return route->finish(execution); }
  Status check(const CollectiveInfo &collective, cuda::Stream stream) override;
  Status fetchState(cuda::Stream stream) override;

private:
  /// A step; its group is null where it has nothing to do.
  struct Step {
    std::unique_ptr<cuda::Group> group;
    std::vector<PayloadSender> senders;
  };

  /// What is run ahead of a round.
  struct RoundSteps {
    Step reduced, contributions;
  };

  explicit RoutedCollective(const RoutedAlgorithm &algorithm) : algorithm(algorithm) {}

  Status makeResiduals(const Execution &execution, cuda::Stream stream);
  Status makeKernels(const Execution &execution, cuda::Stream stream);
  Status run(std::initializer_list<const Step *> steps, Timer &timer, cuda::Stream stream) const;

  const RoutedAlgorithm &algorithm;
  std::unique_ptr<PayloadRoute> route;
  StepOnDevice step;
  std::map<size_t, OperandResiduals> residuals; ///< by operand, of those with error feedback
  MirrorLead lead;
  LentTensors lent;
  BoundBuffers buffers; ///< that the kernels read and write
  std::vector<RoundSteps> rounds;
  Step owned, reduced, received, results, gathered;
  std::vector<cuda::RowCopy> packed, unpacked;
  std::vector<Cleared> cleared;
  std::vector<cuda::Memory> dense; ///< that these are copied to and from
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_ALGORITHM_ROUTEDCOLLECTIVE_H
