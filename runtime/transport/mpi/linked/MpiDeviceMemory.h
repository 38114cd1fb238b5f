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

/// Whether messages may lie in the memory of GPUs, on all ranks of the communicator: what MPI says of itself
/// (Open MPI does), or CGX_MPI_GPU, 0 or 1, where it says nothing or the wrong thing. All ranks call, and
/// wait for each other, at most `timeout`.
Result<bool> takesDeviceMemory(MPI_Comm communicator, std::chrono::milliseconds timeout);

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_MPI_LINKED_MPIDEVICEMEMORY_H
