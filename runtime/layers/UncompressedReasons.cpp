//===-- UncompressedReasons.cpp - Reasons for staying uncompressed --------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/UncompressedReasons.h"

#include "cgx/layers/Text.h"

namespace cgx::layers {

std::string_view cureOf(std::string_view reason) {
  while (!reason.empty() && isDigit(reason.front())) // skips the number before the phrase
    reason.remove_prefix(1);
  for (const UncompressedReason &one : {kExcluded, kOfKind, kParameterRank, kOperandRank, kFewElements,
                                        kElementType, kApart, kMovedRows, kReduction})
    if (reason.starts_with(one.phrase))
      return one.cure;
  return "";
}

} // namespace cgx::layers
