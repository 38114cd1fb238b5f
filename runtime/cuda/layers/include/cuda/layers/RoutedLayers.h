//===-- RoutedLayers.h - The layers of a routed collective ------*- C++ -*-===//
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

/// The sender of a payload that a kernel reads.
struct PayloadSender {
  size_t operand;
  uint32_t rank;
};

/// Returns why a payload that a group read was rejected, once the stream has run it.
Status checkPayloads(cuda::Group &group, const std::vector<PayloadSender> &senders,
                     const CollectiveInfo &collective, cuda::Stream stream);

/// Layers whose payloads other ranks have encoded, and the senders.
template <typename Layer> struct ReadLayers {
  std::vector<Layer> layers;
  std::vector<PayloadSender> senders; ///< of all payloads of all layers, in their order
};

/// The layers that precede a round of scattering.
struct RoundLayers {
  ReadLayers<cuda::ReduceLayer> reduced; ///< contributions of earlier rounds, to be added up
  std::vector<cuda::EncodeLayer> contributions;
};

/// Memory that is set to zero.
struct Cleared {
  std::byte *memory;
  uint64_t bytes;
};

/// The layers of each step.
struct RoutedLayers {
  explicit RoutedLayers(size_t rounds) : rounds(rounds) {}

  std::vector<cuda::RowCopy> packed;  ///< copies slices that are not contiguous to dense memory, for encoding
  std::vector<RoundLayers> rounds;    ///< rounds of scattering
  ReadLayers<cuda::OwnerLayer> owned; ///< added up and immediately encoded as results
  ReadLayers<cuda::ReduceLayer> reduced;  ///< added up to elements
  ReadLayers<cuda::DecodeLayer> received; ///< decoded without a reduction
  std::vector<cuda::EncodeLayer> results;
  ReadLayers<cuda::DecodeLayer> gathered;
  std::vector<cuda::RowCopy> unpacked; ///< copies decoded elements to slices
  std::vector<Cleared> cleared;        ///< outputs that receive nothing

  std::vector<cuda::Memory> dense; ///< the memory of packed and unpacked
  cuda::Outcome outcome;           ///< the outcome of allocating it

  /// Returns dense memory of the GPU; null if the allocation fails, or `bytes` is 0.
  std::byte *takeDense(uint64_t bytes);
};

/// The parameters from which a layer is listed.
struct ListedOperand {
  const Execution &execution;
  size_t index;
  const OperandBuffers &buffers;
  const PayloadRoute &route;
  const OperandResiduals &residuals;
  const OptimizerTensors &optimizer; ///< the optimizer tensors that the step has bound

  const OperandInfo &info() const { return execution.collective.operands[index]; }
  uint32_t rankAt(uint32_t position) const { return execution.group.ranks[position]; }

  /// Returns how this rank encodes `elements` elements of a phase from `first` on, with error feedback if it
  /// has some.
  cuda::EncodedLayer encoded(uint32_t phase, uint64_t first, uint64_t elements, std::byte *payload) const;
};

/// Returns true if there are kernels for an operand and its codecs.
bool hasKernels(const OperandInfo &operand);

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_LAYERS_ROUTEDLAYERS_H
