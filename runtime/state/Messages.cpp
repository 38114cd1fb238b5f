//===-- state/Messages.cpp - Message buffers of samples ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "state/Messages.h"

#include "cgx/arithmetic/magnitude.h"

namespace cgx {

Messages::Messages(const OperandInfo &operand, StateMemorySource &memory)
    : samples(operand.changes->samples), rows(operand.rows()), rowElements(operand.rowElements()),
      values(operand.changes->storage, /*begin=*/0, operand.changes->slots(rows) * rowElements,
             memory.take(
                 Residual::bytesOf(operand.changes->storage, operand.changes->slots(rows) * rowElements))),
      sent(operand.changes->slots(rows)) {}

std::optional<uint64_t> Messages::slotOf(int32_t id) const {
  if (id >= 0)
    return uint64_t(id) < samples ? std::optional(uint64_t(id)) : std::nullopt;
  const uint64_t row = uint64_t(-(int64_t(id) + 1));
  return row < rows ? std::optional(samples + row) : std::nullopt;
}

void Messages::store(uint64_t slot, std::span<const float> before, std::span<float> row) {
  for (uint64_t i = 0; i < row.size(); ++i)
    if (!isFinite(row[i]))
      row[i] = before[i];
  values.store(slot * rowElements, row);
  sent[slot] = 1;
}

void Messages::describe(const std::string &name, std::vector<StateTensor> &tensors) {
  values.describe(name, tensors);
  tensors.push_back({name + ".was_sent", CGX_I8, sent.size(), sent.data()});
}

} // namespace cgx
