//===-- Reference.h - A collective by other libraries -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_BENCH_REFERENCE_H
#define CGX_BENCH_REFERENCE_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cgx::bench {

/// Another library, which ranks under mpirun measure in the same rounds.
class Reference {
public:
  virtual ~Reference() = default;

  /// Returns the library's name, such as "MPI", for a column of the table.
  virtual std::string library() const = 0;
  /// Returns the name of the library's collective, such as "MPI_Allreduce"; empty if it has none.
  virtual std::string nameOf(const std::string &collective) const = 0;
  /// Connects the library. All ranks start all references in one order, after the runtime's transport.
  virtual void start() = 0;
  /// Runs the collective on `elements` f32 from each rank.
  virtual void run(const std::string &collective, const float *input, float *output, uint64_t elements,
                   uint32_t ranks) = 0;
};

/// Returns the references in this build, MPI first.
std::vector<std::unique_ptr<Reference>> makeReferences();

std::unique_ptr<Reference> makeMpiReference();
std::unique_ptr<Reference> makeGlooReference();

} // namespace cgx::bench

#endif // CGX_BENCH_REFERENCE_H
