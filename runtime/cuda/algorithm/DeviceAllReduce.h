//===-- DeviceAllReduce.h - All-reduces that are encoded on a GPU ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scatter-reduce-allgather (AllReduce.h), its halves, and one shot. A chunk's owner encodes sums right where
// it adds them up, unless results have another codec, or are no sums: then they become elements first, in
// their place in the output.
#ifndef CGX_RUNTIME_CUDA_ALGORITHM_DEVICEALLREDUCE_H
#define CGX_RUNTIME_CUDA_ALGORITHM_DEVICEALLREDUCE_H

#include "cuda/algorithm/RoutedCollective.h"

namespace cgx {

/// The whole.
class DeviceAllReduce final : public RoutedAlgorithm {
public:
  bool takes(const Execution &execution) const override;
  void list(const ListedOperand &operand, RoutedLayers &layers) const override;
};

/// Leaves this rank's chunk of the result in its place in the output. Takes what the whole takes, whatever
/// the algorithm that it is a part of.
class DeviceScatterReduce final : public RoutedAlgorithm {
public:
  bool takes(const Execution &execution) const override;
  void list(const ListedOperand &operand, RoutedLayers &layers) const override;
};

/// Hands these chunks to all.
class DeviceChunkGather final : public RoutedAlgorithm {
public:
  bool takes(const Execution &execution) const override;
  void list(const ListedOperand &operand, RoutedLayers &layers) const override;
};

/// Everybody's whole operand goes to all, and each adds up for itself. Without residuals: what a rank sends
/// is encoded for each receiver, and a residual remembers one loss.
class DeviceOneShot final : public RoutedAlgorithm {
public:
  bool takes(const Execution &execution) const override;
  void list(const ListedOperand &operand, RoutedLayers &layers) const override;
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_ALGORITHM_DEVICEALLREDUCE_H
