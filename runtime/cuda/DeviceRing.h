//===-- DeviceRing.h - All-reduces around a ring, on GPUs -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As collective/RingAllReduce.cpp has it: a chunk is a round of scattering further at each rank, where what
// the rank has is added, and results go around unchanged.
#ifndef CGX_RUNTIME_CUDA_DEVICERING_H
#define CGX_RUNTIME_CUDA_DEVICERING_H

#include "cuda/RoutedCollective.h"

namespace cgx {

class DeviceRing final : public RoutedAlgorithm {
public:
  bool takes(const Execution &execution) const override;
  Journey journey(const Execution &execution) const override;
  void list(const ListedOperand &operand, RoutedLayers &layers) const override;
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_DEVICERING_H
