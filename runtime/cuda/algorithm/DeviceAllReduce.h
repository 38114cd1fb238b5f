//===-- DeviceAllReduce.h - All-reduces that are encoded on a GPU -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file has scatter-reduce-allgather (AllReduce.h), its halves, and one shot. A chunk's owner encodes
// sums where it adds them up, unless results have another codec, or the reduction is no sum: then it first
// writes elements to their place in the output.
#ifndef CGX_RUNTIME_CUDA_ALGORITHM_DEVICEALLREDUCE_H
#define CGX_RUNTIME_CUDA_ALGORITHM_DEVICEALLREDUCE_H

#include "cuda/algorithm/RoutedCollective.h"

namespace cgx {

/// The whole scatter-reduce-allgather.
class DeviceAllReduce final : public RoutedAlgorithm {
public:
  bool takes(const Execution &execution) const override;
  void list(const ListedOperand &operand, RoutedLayers &layers) const override;
};

/// The scatter-reduce half, which leaves this rank's chunk of the result in its place in the output. It takes
/// the same collectives as the whole, whichever algorithm it is a part of.
class DeviceScatterReduce final : public RoutedAlgorithm {
public:
  bool takes(const Execution &execution) const override;
  void list(const ListedOperand &operand, RoutedLayers &layers) const override;
};

/// The allgather half, which sends these chunks to all ranks.
class DeviceChunkGather final : public RoutedAlgorithm {
public:
  bool takes(const Execution &execution) const override;
  void list(const ListedOperand &operand, RoutedLayers &layers) const override;
};

/// Each rank sends its whole operand to all, and each adds up for itself. It has no residuals: operands are
/// encoded for each receiver, and a residual holds one loss.
class DeviceOneShot final : public RoutedAlgorithm {
public:
  bool takes(const Execution &execution) const override;
  void list(const ListedOperand &operand, RoutedLayers &layers) const override;
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_ALGORITHM_DEVICEALLREDUCE_H
