//===-- profile/Trial.h - Trial of one codec on one gradient ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_RUNTIME_PROFILE_TRIAL_H
#define CGX_RUNTIME_PROFILE_TRIAL_H

#include "cgx/codec.h"

#include <cstddef>
#include <span>
#include <vector>

namespace cgx {

struct RandomKey;

/// A trial encodes and decodes as a collective does, and measures the error. It keeps its memory between
/// runs.
class Trial {
public:
  struct Outcome {
    double squaredError = 0; ///< infinite if it is not a number
    double encodeSeconds = 0, decodeSeconds = 0;
    double filled = 1; ///< share of the maximum payload bytes that were used
  };

  /// Runs a trial. The gradient is first rounded to `type`, the operand's; `codec` must accept that type.
  Outcome run(const cgx_codec &codec, cgx_element_type type, std::span<const float> gradient, RandomKey key);

private:
  std::vector<std::byte> payload;
  std::vector<float> decoded;
};

} // namespace cgx

#endif // CGX_RUNTIME_PROFILE_TRIAL_H
