//===-- RandomProfile.h - Profiles like those of real steps -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_TEST_UNIT_PLAN_RANDOMPROFILE_H
#define CGX_TEST_UNIT_PLAN_RANDOMPROFILE_H

#include "cgx/plan/Profile.h"

namespace cgx::plan {

inline constexpr const char *kFourBits =
    R"({"bits":4,"bucket":128,"family":"quantize","rounding":"stochastic","scale":"bf16"})";

/// Returns a profile with `layers` layers of `candidates` codecs each, identity and 4 bits among them. Sizes
/// span three orders of magnitude, and errors fall with bits, with noise.
Profile randomProfile(uint64_t seed, size_t layers, size_t candidates);

} // namespace cgx::plan

#endif // CGX_TEST_UNIT_PLAN_RANDOMPROFILE_H
