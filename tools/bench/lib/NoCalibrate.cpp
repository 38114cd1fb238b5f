//===-- NoCalibrate.cpp - A build that cannot calibrate ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A machine's arithmetic is measured by the products of libcgx_native, which this build does not have.

#include "Bench.h"
#include "Machine.h"

namespace cgx::bench {

std::vector<cgx_codec> commonCodecs() { return {}; }

formats::Machine calibrate(const CalibrateOptions &) {
  throw Error(
      "this build has no libcgx_native, by whose products of matrices the machine's arithmetic is measured: "
      "calibrate with the cgx-bench of a whole build (CGX_BUILD_NATIVE)");
}

} // namespace cgx::bench
