//===-- RoutedLayers.h - The layers of what is encoded and read --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_CUDA_LAYERS_ROUTEDLAYERS_H
#define CGX_RUNTIME_CUDA_LAYERS_ROUTEDLAYERS_H

#include "cuda/route/PayloadRoute.h"
#include "cuda/state/OperandResiduals.h"

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

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_LAYERS_ROUTEDLAYERS_H
