//===-- DeviceSlices.h - Slices of tensors, encoded on a GPU ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These collectives have one exchange, whose payloads are whole slices of a tensor, or the tensor itself.
// Slices that are not contiguous are packed before encoding, or unpacked after decoding.
#ifndef CGX_RUNTIME_CUDA_ALGORITHM_DEVICESLICES_H
#define CGX_RUNTIME_CUDA_ALGORITHM_DEVICESLICES_H

#include "cuda/algorithm/RoutedCollective.h"

namespace cgx {

/// Each rank encodes its tensor once, and decodes all, including its own.
class DeviceAllGather final : public RoutedAlgorithm {
public:
  bool takes(const Execution &execution) const override;
  void list(const ListedOperand &operand, RoutedLayers &layers) const override;
};

/// Each rank encodes all slices, and adds up those that belong to it.
class DeviceReduceScatter final : public RoutedAlgorithm {
public:
  bool takes(const Execution &execution) const override;
  void list(const ListedOperand &operand, RoutedLayers &layers) const override;
};

/// Each rank encodes all slices, and decodes those that belong to it.
class DeviceAllToAll final : public RoutedAlgorithm {
public:
  bool takes(const Execution &execution) const override;
  void list(const ListedOperand &operand, RoutedLayers &layers) const override;
};

/// The root encodes its tensor, and all ranks decode it, including the root.
class DeviceBroadcast final : public RoutedAlgorithm {
public:
  bool takes(const Execution &execution) const override;
  void list(const ListedOperand &operand, RoutedLayers &layers) const override;
};

/// Each source encodes its tensor, and each target decodes one. A rank that is no target gets zeros.
class DevicePermute final : public RoutedAlgorithm {
public:
  bool takes(const Execution &execution) const override;
  void list(const ListedOperand &operand, RoutedLayers &layers) const override;
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_ALGORITHM_DEVICESLICES_H
