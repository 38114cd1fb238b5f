//===-- DeviceStepwise.h - All-reduces of several steps, on GPUs *- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs schedules in which partial sums travel (around a ring, up a tree, between pairs): the rank adds what
// has come of a chunk to what it has of it before the sum leaves, or becomes the result. Results go on
// unchanged.
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
