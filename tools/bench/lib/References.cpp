//===-- References.cpp - Libraries in this build ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference.h"

namespace cgx::bench {

std::vector<std::unique_ptr<Reference>> makeReferences() {
  std::vector<std::unique_ptr<Reference>> references;
#ifdef CGX_BENCH_HAS_MPI
  references.push_back(makeMpiReference());
#endif
#ifdef CGX_BENCH_HAS_GLOO
  references.push_back(makeGlooReference());
#endif
  return references;
}

} // namespace cgx::bench
