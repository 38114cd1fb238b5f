//===-- CudaOnly.cpp - The benchmark of GPUs only -------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This is cgx-codec-bench for builds without Google Benchmark, which GPU measurements do not need.

#include "CudaBenchmark.h"

#include <cstdio>
#include <string>

int main(int argc, char **argv) {
  bool all = false, isCuda = false, isUnknown = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool isPair = argument == "--device" && i + 1 < argc && std::string(argv[i + 1]) == "cuda";
    if (argument == "--all")
      all = true;
    else if (argument == "--device=cuda" || isPair)
      isCuda = true;
    else
      isUnknown = true;
    i += isPair ? 1 : 0;
  }
  if (!isCuda || isUnknown) {
    std::fputs("usage: cgx-codec-bench --device cuda [--all]\n"
               "This build has no Google Benchmark, and measures GPUs only.\n",
               stderr);
    return 2;
  }
  return cgx::runCudaBenchmark(all);
}
