//===-- NoReference.cpp - A build without MPI -------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bench.h"
#include "Reference.h"

namespace cgx::bench {

bool hasReference() { return false; }
std::string referenceName(const std::string &) { return ""; }
void startReference() {}
void runReference(const std::string &, const float *, float *, uint64_t, uint32_t) {
  throw Error("this build has no MPI");
}

} // namespace cgx::bench
