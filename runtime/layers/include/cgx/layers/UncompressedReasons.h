//===-- UncompressedReasons.h - Reasons for staying uncompressed -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The reasons for staying uncompressed about which a user can do something. In the program a reason is the
// text that reports show (`exact_reasons`): a phrase and its subject. Code that gives or searches a reason
// takes the phrase from here.
#ifndef CGX_LAYERS_UNCOMPRESSEDREASONS_H
#define CGX_LAYERS_UNCOMPRESSEDREASONS_H

#include <cstdint>
#include <string>
#include <string_view>

namespace cgx::layers {

struct UncompressedReason {
  std::string_view phrase;
  std::string_view cure; ///< what to do about it

  /// Returns the reason with its subject: "kind weight".
  std::string of(std::string_view subject) const { return std::string(phrase).append(subject); }
  /// Returns the reason after a number: "1-D parameter".
  std::string after(int64_t number) const { return std::to_string(number).append(phrase); }
};

inline constexpr UncompressedReason kExcluded{"excluded by ", "exclude= names fewer"};
inline constexpr UncompressedReason kOfKind{"kind ", "kinds= names what may be compressed"};
inline constexpr UncompressedReason kParameterRank{"-D parameter", "min-rank=1 takes vectors, too"};
inline constexpr UncompressedReason kOperandRank{"-D operand", "min-rank=1 takes vectors, too"};
inline constexpr UncompressedReason kFewElements{"fewer than ", "min-elements= takes smaller ones"};
inline constexpr UncompressedReason kElementType{"element type ", "codecs take f32, f16 and bf16"};
/// A part of the sum differs between ranks, and no codec may change the rest.
inline constexpr UncompressedReason kApart{"ranks would drift apart in ",
                                           "lax.pmean gives all ranks the same at few bits"};
/// The residual of one row would be added to another.
inline constexpr UncompressedReason kMovedRows{"rows of a table change places",
                                               "without error feedback they travel at few bits"};
inline constexpr UncompressedReason kReduction{"reduction ", "only sums and means are compressed"};

/// Returns the reason for an operand whose collective has no such codec: "reduce_scatter with lowrank".
/// Another codec is the cure.
inline std::string codecOfOtherCollectives(std::string_view collective, std::string_view codec) {
  return std::string(collective).append(" with ").append(codec);
}

/// Returns what to do about a reason; "" if the user asked for it.
std::string_view cureOf(std::string_view reason);

} // namespace cgx::layers

#endif // CGX_LAYERS_UNCOMPRESSEDREASONS_H
