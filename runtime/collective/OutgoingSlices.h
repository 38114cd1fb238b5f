//===-- collective/OutgoingSlices.h - Encode a slice for each rank -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_COLLECTIVE_OUTGOINGSLICES_H
#define CGX_RUNTIME_COLLECTIVE_OUTGOINGSLICES_H

#include "collective/OperandCodec.h"
#include "collective/Slices.h"

namespace cgx {

/// The payloads of all slices of a tensor, one behind the other. They are the tensor
/// itself where its slices are payloads as they lie. The position of an element in
/// random numbers counts slice after slice.
inline const std::byte *encodeSlices(const Execution &execution, const OperandCodec &codec,
                                     const Slices &slices, const std::byte *tensor) {
  if (codec.isRaw() && slices.contiguous())
    return tensor;
  uint32_t count = execution.group.size();
  uint64_t payloadBytes = codec.payloadBytes(slices.elements());
  std::byte *payloads = execution.scratch.take(count * payloadBytes);
  std::byte *dense = slices.contiguous() ? nullptr : execution.scratch.take(slices.bytes());
  for (uint32_t slice = 0; slice < count; ++slice) {
    if (dense)
      slices.extract(tensor, slice, dense);
    codec.encode(kContribution, dense ? dense : tensor + slice * slices.bytes(), slice * slices.elements(),
                 slices.elements(), payloads + slice * payloadBytes);
  }
  return payloads;
}

} // namespace cgx

#endif // CGX_RUNTIME_COLLECTIVE_OUTGOINGSLICES_H
