//===-- transport/mpi/linked/MpiDeviceMemory.cpp - GPU memory in MPI ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MpiDeviceMemory.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

namespace cgx {

static bool takesDeviceMemoryHere() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

Result<bool> takesDeviceMemory(MPI_Comm communicator, std::chrono::milliseconds timeout) {
  const char *given = std::getenv("CGX_MPI_GPU");
  const std::string_view wanted = given ? given : "";
  const bool isWrong = !wanted.empty() && wanted != "0" && wanted != "1";
  // The smallest answer of all ranks decides, also if it is that of a rank that must then report its error.
  int answer = isWrong ? -1 : wanted.empty() ? takesDeviceMemoryHere() : wanted == "1";
  MPI_Request request;
  const auto begin = [&] {
    const MpiTurn turn;
    return mpiStatus(MPI_Iallreduce(MPI_IN_PLACE, &answer, 1, MPI_INT, MPI_MIN, communicator, &request),
                     "MPI_Iallreduce");
  };
  if (Status status = begin(); !status.ok())
    return status;
  if (Status status = finishTogether(request, timeout); !status.ok())
    return status;
  if (isWrong)
    return Status::error(CGX_INVALID_ARGUMENT, "expected CGX_MPI_GPU to be 0 or 1, got '", wanted, "'");
  if (answer < 0)
    return Status(CGX_INVALID_ARGUMENT, "expected CGX_MPI_GPU to be 0 or 1 on all ranks");
  return answer == 1;
}

} // namespace cgx
