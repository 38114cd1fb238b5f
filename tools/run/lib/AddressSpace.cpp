//===-- AddressSpace.cpp - Check of the limit on addresses ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/AddressSpace.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <sys/resource.h>
#include <thread>

static constexpr uint64_t kMiB = uint64_t{1} << 20;
/// The buffer of one thread, and the space for programs, libraries and small tensors.
static constexpr uint64_t kBuffer = 128 * kMiB, kRest = 512 * kMiB;

/// Returns the number of threads that OpenBLAS starts: one per core, unless an environment variable gives a
/// number.
static uint64_t threadsOfOpenBlas() {
  for (const char *name : {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"}) {
    const char *text = std::getenv(name);
    uint64_t threads = 0;
    if (text && std::from_chars(text, text + std::strlen(text), threads).ec == std::errc() && threads > 0)
      return threads;
  }
  return std::thread::hardware_concurrency();
}

std::string cgx::run::lackOfAddresses(uint32_t ranks) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return "";
  const uint64_t needed = kRest + kBuffer * (threadsOfOpenBlas() + ranks);
  if (limit.rlim_cur >= needed)
    return "";
  return "expected addresses for " + std::to_string(needed / kMiB) + " MiB (ulimit -v), got " +
         std::to_string(limit.rlim_cur / kMiB) +
         ": each thread that multiplies matrices takes 128 MiB of them; OPENBLAS_NUM_THREADS=1 starts fewer";
}
