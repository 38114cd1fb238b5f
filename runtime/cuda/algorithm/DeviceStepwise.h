//===-- DeviceStepwise.h - Ring and tree all-reduces on GPUs ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These all-reduces go around a ring, up a tree and down, or between pairs. Following the schedule, a rank
// adds received contributions of a chunk to its own before it sends the sum on, or keeps it as the result;
// results are forwarded unchanged.
#ifndef CGX_RUNTIME_CUDA_ALGORITHM_DEVICESTEPWISE_H
#define CGX_RUNTIME_CUDA_ALGORITHM_DEVICESTEPWISE_H

#include "cuda/algorithm/RoutedCollective.h"

namespace cgx {

class DeviceStepwise final : public RoutedAlgorithm {
public:
  bool takes(const Execution &execution) const override;
  void list(const ListedOperand &operand, RoutedLayers &layers) const override;
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_ALGORITHM_DEVICESTEPWISE_H
