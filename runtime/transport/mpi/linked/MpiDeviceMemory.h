//===-- transport/mpi/linked/MpiDeviceMemory.h - GPU memory in MPI ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_MPI_LINKED_MPIDEVICEMEMORY_H
#define CGX_RUNTIME_TRANSPORT_MPI_LINKED_MPIDEVICEMEMORY_H

#include "transport/mpi/linked/MpiSession.h"

namespace cgx {

/// Returns true if messages may lie in the memory of GPUs, on all ranks of the communicator. Each rank asks
/// MPI (Open MPI answers); CGX_MPI_GPU, 0 or 1, replaces an answer that is missing or wrong. All ranks call
/// this function, and wait for each other, at most `timeout`.
Result<bool> takesDeviceMemory(MPI_Comm communicator, std::chrono::milliseconds timeout);

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_MPI_LINKED_MPIDEVICEMEMORY_H
