//===-- cgx/formats/Plan.h - The codecs that a plan file names -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file has the part of a plan (runtime/plan/README.md) that every reader needs. Errors are returned as
// text, for callers without exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_FORMATS_PLAN_H
#define CGX_FORMATS_PLAN_H

#include "cgx/formats/Codec.h"

#include <cstdint>
#include <string_view>

namespace cgx::formats {

struct PlannedLayer {
  std::string layer, kind, dtype;
  uint64_t elements = 0;
  Codec codec;
};

/// Reads the layers of a plan, none of which may occur twice. Returns what is wrong, or "".
std::string readPlan(std::string_view text, std::vector<PlannedLayer> &layers);

} // namespace cgx::formats

#endif // CGX_FORMATS_PLAN_H
