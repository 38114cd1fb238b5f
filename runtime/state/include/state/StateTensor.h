//===-- state/StateTensor.h - A piece of a rank's memory ---------*- C++ -*-===//
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

/// What a host saves with a checkpoint, and writes back before it goes on.
struct StateTensor {
  std::string name; ///< unique in its rank
  cgx_element_type type = CGX_F32;
  uint64_t elements = 0;
  void *data = nullptr;
};

} // namespace cgx

#endif // CGX_RUNTIME_STATE_STATETENSOR_H
