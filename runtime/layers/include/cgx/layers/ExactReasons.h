//===-- ExactReasons.h - Why operands stay exact ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The reasons that a user can do something about. In the program a reason is the text that reports show
// (`exact_reasons`): a phrase, and what it is about. Whoever gives or looks for one takes the phrase from
// here.
#ifndef CGX_LAYERS_EXACTREASONS_H
#define CGX_LAYERS_EXACTREASONS_H

#include <cstdint>
#include <string>
#include <string_view>

namespace cgx::layers {

struct ExactReason {
  std::string_view phrase;
  std::string_view cure; ///< what to do about it

  /// The reason, about something: "kind weight".
  std::string of(std::string_view subject) const { return std::string(phrase).append(subject); }
  /// The reason behind a number: "1-D parameter".
  std::string behind(int64_t number) const { return std::to_string(number).append(phrase); }
};

inline constexpr ExactReason kExcluded{"excluded by ", "exclude= names fewer"};
inline constexpr ExactReason kOfKind{"kind ", "kinds= names what may be compressed"};
inline constexpr ExactReason kParameterRank{"-D parameter", "min-rank=1 takes vectors, too"};
inline constexpr ExactReason kOperandRank{"-D operand", "min-rank=1 takes vectors, too"};
inline constexpr ExactReason kFewElements{"fewer than ", "min-elements= takes smaller ones"};
inline constexpr ExactReason kElementType{"element type ", "codecs take f32, f16 and bf16"};
/// Part of what ranks add up is their own, which passes no codec.
inline constexpr ExactReason kApart{"ranks would drift apart in ",
                                    "lax.pmean gives all ranks the same at few bits"};
/// What is kept of one row would be made up for in another.
inline constexpr ExactReason kMovedRows{"rows of a table change places",
                                        "without error feedback they travel at few bits"};
inline constexpr ExactReason kReduction{"reduction ", "only sums and means are compressed"};

/// Of an operand whose collective has no such codec: "reduce_scatter with lowrank". Its cure is another
/// codec.
inline std::string codecOfOtherCollectives(std::string_view collective, std::string_view codec) {
  return std::string(collective).append(" with ").append(codec);
}

/// What to do about a reason; "" if it is what somebody asked for.
std::string_view cureOf(std::string_view reason);

} // namespace cgx::layers

#endif // CGX_LAYERS_EXACTREASONS_H
