//===-- manifest/CodecTable.cpp - The codecs of a program, by epoch -------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "manifest/CodecTable.h"

#include <cstring>

namespace cgx {

static bool isSame(const cgx_codec &a, const cgx_codec &b) { return std::memcmp(&a, &b, sizeof a) == 0; }

/// Compares learned levels that may be null.
static bool isSame(const std::shared_ptr<const std::vector<float>> &a,
                   const std::shared_ptr<const std::vector<float>> &b) {
  return a && b ? *a == *b : a == b;
}

CodecTable::CodecTable(Program program) : current(std::move(program)), changed(current.collectives.size()) {
  for (const CollectiveInfo &collective : current.collectives) {
    std::vector<cgx_codec> &codecs = compiled.emplace_back();
    for (const OperandInfo &operand : collective.operands)
      codecs.push_back(operand.codec);
  }
}

bool CodecTable::isAsCompiled(size_t collective) const {
  for (size_t i = 0; i < compiled[collective].size(); ++i)
    if (!isSame(compiled[collective][i], current.collectives[collective].operands[i].codec))
      return false;
  return true;
}

void CodecTable::adopt(std::span<const PlannedCodec> codecs) {
  ++now;
  for (const PlannedCodec &planned : codecs) {
    OperandInfo &operand = current.collectives[planned.collective].operands[planned.operand];
    if (!isSame(operand.codec, planned.codec) || !isSame(operand.levels, planned.levels))
      changed[planned.collective] = now;
    operand.codec = planned.codec;
    operand.levels = planned.levels;
  }
}

} // namespace cgx
