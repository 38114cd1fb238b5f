//===-- LibraryCollective.h - Uncompressed collectives of NCCL --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A link that can reduce and gather by itself, such as NCCL, does so with uncompressed operands. It adds up
// in its own order: sums are equal on all ranks, and differ from the bits of the host.
#ifndef CGX_RUNTIME_CUDA_ALGORITHM_LIBRARYCOLLECTIVE_H
#define CGX_RUNTIME_CUDA_ALGORITHM_LIBRARYCOLLECTIVE_H

#include "cgx/kernels/cuda.h"
#include "collective/Collective.h"

namespace cgx {

/// Returns true if the transport's link executes this collective by itself: all operands are uncompressed and
/// on a GPU.
bool isLinked(const Execution &execution, Buffers operands);

/// Puts the collective on the stream, and counts the bytes that the algorithms of the host would send.
Status putLinked(Execution &execution, Buffers operands, cuda::Stream stream);

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_ALGORITHM_LIBRARYCOLLECTIVE_H
