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
#ifndef CGX_RUNTIME_CUDA_ROUTEDCOLLECTIVE_H
#define CGX_RUNTIME_CUDA_ROUTEDCOLLECTIVE_H

#include "cuda/BoundBuffers.h"
#include "cuda/LentTensors.h"
#include "cuda/OperandResiduals.h"
#include "cuda/PayloadRoute.h"
#include "cuda/ResidentCollective.h"
#include "cuda/StepOnDevice.h"

#include <map>

namespace cgx {

/// Whose payload it is that a kernel reads.
struct PayloadSender {
  size_t operand;
  uint32_t rank;
};

/// Once the stream has run a group: why a payload that it read was refused.
Status checkPayloads(cuda::Group &group, const std::vector<PayloadSender> &senders,
                     const CollectiveInfo &collective, cuda::Stream stream);

/// Layers whose payloads others have made, and who did.
template <typename Layer> struct ReadLayers {
  std::vector<Layer> layers;
  std::vector<PayloadSender> senders; ///< of all payloads of all layers, in their order
};

/// What is done ahead of a round of scattering.
struct RoundLayers {
  ReadLayers<cuda::ReduceLayer> reduced; ///< what came in earlier rounds, added up
  std::vector<cuda::EncodeLayer> contributions;
};

/// Memory that becomes zero.
struct Cleared {
  std::byte *memory;
  uint64_t bytes;
};

/// The layers of each step.
struct RoutedLayers {
  explicit RoutedLayers(size_t rounds) : rounds(rounds) {}

  std::vector<cuda::RowCopy> packed; ///< of what is encoded: slices that do not lie together, to dense memory
  std::vector<RoundLayers> rounds;   ///< of scattering
  ReadLayers<cuda::OwnerLayer> owned;     ///< added up and encoded as results at once
  ReadLayers<cuda::ReduceLayer> reduced;  ///< added up to elements
  ReadLayers<cuda::DecodeLayer> received; ///< decoded as they came
  std::vector<cuda::EncodeLayer> results;
  ReadLayers<cuda::DecodeLayer> gathered;
  std::vector<cuda::RowCopy> unpacked; ///< of what was decoded
  std::vector<Cleared> cleared;        ///< of outputs that get nothing

  std::vector<cuda::Memory> dense; ///< for both
  cuda::Outcome outcome;           ///< of allocating that

  /// Dense memory of the GPU; null where there is none, or none is asked for.
  std::byte *takeDense(uint64_t bytes);
};

/// What a layer is listed from.
struct ListedOperand {
  const Execution &execution;
  size_t index;
  const OperandBuffers &buffers;
  const PayloadRoute &route;
  const OperandResiduals &residuals;
  const OptimizerTensors &optimizer; ///< what the step lends of it

  const OperandInfo &info() const { return execution.collective.operands[index]; }
  uint32_t rankAt(uint32_t position) const { return execution.group.ranks[position]; }

  /// How this rank encodes `elements` elements of a phase from `first` on, with error feedback if it has
  /// some.
  cuda::EncodedLayer encoded(uint32_t phase, uint64_t first, uint64_t elements, std::byte *payload) const;
};

/// Whether there are kernels for an operand and its codecs.
bool hasKernels(const OperandInfo &operand);

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

#endif // CGX_RUNTIME_CUDA_ROUTEDCOLLECTIVE_H
