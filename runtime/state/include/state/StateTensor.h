//===-- state/StateTensor.h - A tensor of codec state -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_STATE_STATETENSOR_H
#define CGX_RUNTIME_STATE_STATETENSOR_H

#include "cgx/codec.h"

#include <string>

namespace cgx {

/// A tensor that a host program saves with a checkpoint, and restores before it continues.
struct StateTensor {
  std::string name; ///< unique within its rank
  cgx_element_type type = CGX_F32;
  uint64_t elements = 0;
  void *data = nullptr;
};

} // namespace cgx

#endif // CGX_RUNTIME_STATE_STATETENSOR_H
