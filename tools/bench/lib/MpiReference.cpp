//===-- MpiReference.cpp - A collective by MPI ------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bench.h"
#include "Reference.h"

#include <cstdlib>
#include <cstring>
#include <mpi.h>

namespace cgx::bench {

namespace {

class MpiReference : public Reference {
public:
  std::string library() const override { return "MPI"; }

  std::string nameOf(const std::string &collective) const override {
    if (collective == "all_reduce")
      return "MPI_Allreduce";
    if (collective == "all_gather")
      return "MPI_Allgather";
    if (collective == "reduce_scatter")
      return "MPI_Reduce_scatter_block";
    return collective == "broadcast" ? "MPI_Bcast" : "MPI_Alltoall";
  }

  void start() override {
    int initialized = 0;
    MPI_Initialized(&initialized);
    if (initialized)
      return;
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    std::atexit([] { MPI_Finalize(); });
  }

  void run(const std::string &collective, const float *input, float *output, uint64_t elements,
           uint32_t ranks) override {
    int count = static_cast<int>(elements), share = static_cast<int>(elements / ranks);
    int code;
    if (collective == "all_reduce") {
      code = MPI_Allreduce(input, output, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    } else if (collective == "all_gather") {
      code = MPI_Allgather(input, count, MPI_FLOAT, output, count, MPI_FLOAT, MPI_COMM_WORLD);
    } else if (collective == "reduce_scatter") {
      code = MPI_Reduce_scatter_block(input, output, share, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    } else if (collective == "broadcast") {
      int rank = 0;
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      if (rank == 0) // ours does not change the input either
        std::memcpy(output, input, elements * sizeof(float));
      code = MPI_Bcast(output, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
    } else {
      code = MPI_Alltoall(input, share, MPI_FLOAT, output, share, MPI_FLOAT, MPI_COMM_WORLD);
    }
    if (code != MPI_SUCCESS)
      throw Error(nameOf(collective) + " failed");
  }
};

} // namespace

std::unique_ptr<Reference> makeMpiReference() { return std::make_unique<MpiReference>(); }

} // namespace cgx::bench
