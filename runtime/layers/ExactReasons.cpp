//===-- ExactReasons.cpp - Why operands stay exact ------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/ExactReasons.h"

#include "cgx/layers/Text.h"

namespace cgx::layers {

std::string_view cureOf(std::string_view reason) {
  while (!reason.empty() && isDigit(reason.front())) // the number that it is behind
    reason.remove_prefix(1);
  for (const ExactReason &one : {kExcluded, kOfKind, kParameterRank, kOperandRank, kFewElements, kElementType,
                                 kApart, kMovedRows, kReduction})
    if (reason.starts_with(one.phrase))
      return one.cure;
  return "";
}

} // namespace cgx::layers
