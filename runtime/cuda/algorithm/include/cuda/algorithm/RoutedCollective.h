//===-- RoutedCollective.h - Kernels before and after a route ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The common form of all collectives that encode, bring payloads to other ranks, and decode:
//
//   add up, encode contributions | scatter |   ... round by round
//                                              add up, decode what came, encode results | gather | decode
//                                              results
//
// Before and after that, slices that are not contiguous in their tensors are copied. A RoutedAlgorithm lists
// which of these steps a collective has, and for which payloads. A step is one group of kernels for all
// operands; an empty list is no step.
#ifndef CGX_RUNTIME_CUDA_ALGORITHM_ROUTEDCOLLECTIVE_H
#define CGX_RUNTIME_CUDA_ALGORITHM_ROUTEDCOLLECTIVE_H

#include "cuda/algorithm/ResidentCollective.h"
#include "cuda/layers/RoutedLayers.h"
#include "cuda/state/BoundTensors.h"
#include "cuda/stream/BoundBuffers.h"
#include "cuda/stream/StepOnDevice.h"

#include <map>

namespace cgx {

/// A kind of collective, as a list of its payloads.
class RoutedAlgorithm {
public:
  virtual ~RoutedAlgorithm() = default;

  /// Returns true if it can run on a GPU: its codecs have kernels.
  virtual bool takes(const Execution &execution) const = 0;
  virtual void list(const ListedOperand &operand, RoutedLayers &layers) const = 0;
};

class RoutedCollective final : public ResidentCollective {
public:
  /// `algorithm` must live as long as the process.
  static Result<std::unique_ptr<ResidentCollective>> make(const Execution &execution, cuda::Stream stream,
                                                          const RoutedAlgorithm &algorithm);

  bool isCapturable() const override { return route->isCapturable(); }
  Status put(Execution &execution, Buffers operands, cuda::Stream stream) override;
  Status finish(Execution &execution) override { return route->finish(execution); }
  Status check(const CollectiveInfo &collective, cuda::Stream stream) override;
  Status fetchState(cuda::Stream stream) override;

private:
  /// The kernels of a step; `group` is null if it has nothing to do.
  struct Step {
    std::unique_ptr<cuda::Group> group;
    std::vector<PayloadSender> senders;
  };

  /// The steps that precede a round.
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
  std::map<size_t, OperandResiduals> residuals; ///< by operand, for those with error feedback
  UnfetchedChanges unfetched;
  BoundTensors bound;
  BoundBuffers buffers; ///< buffers that the kernels read and write
  std::vector<RoundSteps> rounds;
  Step owned, reduced, received, results, gathered;
  std::vector<cuda::RowCopy> packed, unpacked;
  std::vector<Cleared> cleared;
  std::vector<cuda::Memory> dense; ///< memory to which and from which slices are copied
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_ALGORITHM_ROUTEDCOLLECTIVE_H
