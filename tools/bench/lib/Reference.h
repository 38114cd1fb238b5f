//===-- Reference.h - The same collective by MPI ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_BENCH_REFERENCE_H
#define CGX_BENCH_REFERENCE_H

#include <cstdint>
#include <string>

namespace cgx::bench {

/// Whether this build has MPI.
bool hasReference();
/// Such as "MPI_Allreduce".
std::string referenceName(const std::string &collective);
/// Starts MPI unless the transport has.
void startReference();
/// Runs it on `elements` f32 that each rank puts in.
void runReference(const std::string &collective, const float *input, float *output, uint64_t elements,
                  uint32_t ranks);

} // namespace cgx::bench

#endif // CGX_BENCH_REFERENCE_H
