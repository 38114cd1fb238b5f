//===-- DeviceTree.h - All-reduces up a tree and down, on GPUs *- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As collective/TreeAllReduce.cpp has it: the ranks of one level of a binomial tree send to their parents in
// one round, and the result goes down level by level.
#ifndef CGX_RUNTIME_CUDA_DEVICETREE_H
#define CGX_RUNTIME_CUDA_DEVICETREE_H

#include "cuda/RoutedCollective.h"

namespace cgx {

class DeviceTree final : public RoutedAlgorithm {
public:
  bool takes(const Execution &execution) const override;
  Journey journey(const Execution &execution) const override;
  void list(const ListedOperand &operand, RoutedLayers &layers) const override;
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_DEVICETREE_H
