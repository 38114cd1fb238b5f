//===-- state/Messages.h - Message buffers of samples -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The message buffers of AQ-SGD (Algorithm 1) hold, for each sample, what the receiver of a message now has
// of it. The sender holds the same, bit for bit, and sends the quantized change.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_STATE_MESSAGES_H
#define CGX_RUNTIME_STATE_MESSAGES_H

#include "manifest/Manifest.h"
#include "state/Residual.h"
#include "state/StateFiles.h"

namespace cgx {

/// The message buffers at one end of an edge. A slot is a row of an operand: there is one for each sample,
/// and one for each row of a message without a sample, such as what a stage computes before its first
/// microbatch. At first nothing was sent for any of them.
class Messages {
public:
  /// Requires an operand that has changes.
  Messages(const OperandInfo &operand, StateMemorySource &memory);

  /// Returns the slot of a row's id; nothing if the id is invalid. Valid ids: -rows <= id < samples.
  std::optional<uint64_t> slotOf(int32_t id) const;
  bool wasSent(uint64_t slot) const { return sent[slot] != 0; }
  /// Loads what was last sent; zeros if nothing was.
  void load(uint64_t slot, std::span<float> row) const { values.load(slot * rowElements, row); }
  /// Replaces the row, and marks it as sent. A value that is not finite does not replace the kept one: the
  /// receiver sees it, and the next change starts from the value before.
  void store(uint64_t slot, std::span<const float> before, std::span<float> row);

  /// Adds the memory, under `name`, to the tensors to be saved and restored.
  void describe(const std::string &name, std::vector<StateTensor> &tensors);

private:
  uint64_t samples, rows, rowElements;
  Residual values;
  std::vector<int8_t> sent; ///< by slot: 1 if it was sent
};

} // namespace cgx

#endif // CGX_RUNTIME_STATE_MESSAGES_H
