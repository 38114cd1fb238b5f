//===-- DeviceSlices.h - Slices of tensors, encoded on a GPU ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collectives of one exchange, whose payloads are whole slices of a tensor, or the tensor itself. What of a
// slice does not lie together is copied together first, or apart in the end.
#ifndef CGX_RUNTIME_CUDA_ALGORITHM_DEVICESLICES_H
#define CGX_RUNTIME_CUDA_ALGORITHM_DEVICESLICES_H

#include "cuda/algorithm/RoutedCollective.h"

namespace cgx {

/// Each rank encodes its tensor once, and decodes all, its own too.
class DeviceAllGather final : public RoutedAlgorithm {
public:
  bool takes(const Execution &execution) const override;
  void list(const ListedOperand &operand, RoutedLayers &layers) const override;
};

/// Each rank encodes all slices, and adds up those that are its own.
class DeviceReduceScatter final : public RoutedAlgorithm {
public:
  bool takes(const Execution &execution) const override;
  void list(const ListedOperand &operand, RoutedLayers &layers) const override;
};

/// Each rank encodes all slices, and decodes those that are its own.
class DeviceAllToAll final : public RoutedAlgorithm {
public:
  bool takes(const Execution &execution) const override;
  void list(const ListedOperand &operand, RoutedLayers &layers) const override;
};

/// The root encodes its tensor, and all decode it, the root too.
class DeviceBroadcast final : public RoutedAlgorithm {
public:
  bool takes(const Execution &execution) const override;
  void list(const ListedOperand &operand, RoutedLayers &layers) const override;
};

/// Each source encodes its tensor, and each target decodes one. Who is no target gets zeros.
class DevicePermute final : public RoutedAlgorithm {
public:
  bool takes(const Execution &execution) const override;
  void list(const ListedOperand &operand, RoutedLayers &layers) const override;
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_ALGORITHM_DEVICESLICES_H
