//===-- LibraryCollective.h - Exact collectives by the link of GPUs ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A link that can reduce and gather by itself, such as NCCL, does so with operands that are exact. Sums are
// then added in the link's order: equal on all ranks, and not the bits of the host.
#ifndef CGX_RUNTIME_CUDA_ALGORITHM_LIBRARYCOLLECTIVE_H
#define CGX_RUNTIME_CUDA_ALGORITHM_LIBRARYCOLLECTIVE_H

#include "cgx/kernels/cuda.h"
#include "collective/Collective.h"

namespace cgx {

/// Whether the transport's link does this collective by itself: all operands are exact and on a GPU.
bool isLinked(const Execution &execution, Buffers operands);

/// Puts it on the stream, and counts what the algorithms of the host would send.
Status putLinked(Execution &execution, Buffers operands, cuda::Stream stream);

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_ALGORITHM_LIBRARYCOLLECTIVE_H
