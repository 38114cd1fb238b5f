//===-- NoCalibrate.cpp - A build that cannot calibrate ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What tools/check-gpu builds has a runtime without products of matrices, by which a machine's arithmetic is
// measured.

#include "Bench.h"
#include "Machine.h"

namespace cgx::bench {

std::vector<cgx_codec> commonCodecs() { return {}; }

formats::Machine calibrate(const CalibrateOptions &) {
  throw Error(
      "this build is that of tools/check-gpu, which has no products of matrices to measure the machine by: "
      "calibrate with the cgx-bench of a whole build");
}

} // namespace cgx::bench
