//===-- Transports.cpp - The option --transport -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Cli/Transports.h"

namespace cgx::cli {

CLI::Option *takeTransport(CLI::Option *option) {
  return option
      ->description(
          "shm: one process per rank; inproc: one thread per rank; mpi: under mpirun, on any hosts; "
          "shm+mpi: mpi, with shared memory within hosts; tcp, shm+tcp: on any hosts, without "
          "MPI; nccl, nccl+mpi, nccl+tcp: between GPUs")
      ->check(CLI::IsMember(
          {"shm", "inproc", "mpi", "shm+mpi", "tcp", "shm+tcp", "nccl", "nccl+mpi", "nccl+tcp"}))
      ->type_name("NAME");
}

} // namespace cgx::cli
