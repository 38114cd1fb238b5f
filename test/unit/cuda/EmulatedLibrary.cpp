//===-- EmulatedLibrary.cpp - The emulated GPU as the library that is loaded -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that links this library needs nothing else to use it, and neither does the runtime inside: the
// runtime loads this library in place of the GPU kernels.

#include <cstdlib>
#include <dlfcn.h>

[[gnu::constructor]] static void takeThePlaceOfCuda() {
  Dl_info found{};
  if (dladdr(reinterpret_cast<void *>(&takeThePlaceOfCuda), &found) == 0 ||
      setenv("CGX_CUDA_LIBRARY", found.dli_fname, /*overwrite=*/1) != 0)
    std::abort();
}
