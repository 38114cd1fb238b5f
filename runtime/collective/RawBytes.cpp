//===-- collective/RawBytes.cpp - What a collective sends uncompressed -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "collective/RawBytes.h"

namespace cgx {

uint64_t rawBytes(const Execution &execution, const OperandInfo &operand) {
  const cgx_collective collective = execution.collective.inGroupOf(execution.group.size(), execution.run());
  const cgx_codec exact{};
  return cgx_collective_wire_bytes(&collective, &exact, &exact, operand.type, operand.elements,
                                   execution.self());
}

void countRawBytes(Execution &execution) {
  for (size_t i = 0; i < execution.collective.operands.size(); ++i)
    execution.counters.operands[i].rawBytes += rawBytes(execution, execution.collective.operands[i]);
}

} // namespace cgx
