//===-- profile/Trial.h - One codec on one gradient -*- C++ -*-===//
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

/// Encodes and decodes as a collective does, and looks at what was lost. Keeps its memory
/// between trials.
class Trial {
public:
  struct Outcome {
    double squaredError = 0; ///< infinite where it is no number
    double encodeSeconds = 0, decodeSeconds = 0;
    double filled = 1; ///< the share of the bytes that a payload can have
  };

  /// `type` is the operand's, to which the gradient is rounded first; `codec` must take it.
  Outcome run(const cgx_codec &codec, cgx_element_type type, std::span<const float> gradient, RandomKey key);

private:
  std::vector<std::byte> payload;
  std::vector<float> decoded;
};

} // namespace cgx

#endif // CGX_RUNTIME_PROFILE_TRIAL_H
