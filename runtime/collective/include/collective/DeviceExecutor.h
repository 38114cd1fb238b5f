//===-- collective/DeviceExecutor.h - What runs collectives on GPUs -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host hands over here what its buffers say is not for it. What does it stands above this folder
// (cuda/DeviceUse.h).
#ifndef CGX_RUNTIME_COLLECTIVE_DEVICEEXECUTOR_H
#define CGX_RUNTIME_COLLECTIVE_DEVICEEXECUTOR_H

#include "collective/Collective.h"

namespace cgx {

struct ExplicitStep;

class DeviceExecutor {
public:
  virtual ~DeviceExecutor() = default;

  /// Returns whether run() must execute the collective: an operand, or a tensor that is bound to it, lies in
  /// the memory of a GPU.
  virtual bool isNeededFor(const Execution &execution, Buffers operands) const = 0;

  /// Runs the collective behind what is on the stream, and returns when its results are there; or makes it a
  /// part of the graph that the stream captures.
  virtual Status run(Execution &execution, Buffers operands) = 0;

  /// Runs a call of the explicit form, wherever its buffers lie. A graph cannot contain it.
  virtual Status runExplicit(Execution &execution, const ExplicitStep &step) = 0;

  /// Brings to the host what codecs remember of a collective that leaves the GPU.
  virtual Status leave(uint32_t collective) = 0;
};

} // namespace cgx

#endif // CGX_RUNTIME_COLLECTIVE_DEVICEEXECUTOR_H
