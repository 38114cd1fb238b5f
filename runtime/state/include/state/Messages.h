//===-- state/Messages.h - What was last sent of each sample ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The message buffers of AQ-SGD (Algorithm 1): for each sample, what the receiver of a message now has of it.
// The sender has the same, bit for bit, and sends the quantized change.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_STATE_MESSAGES_H
#define CGX_RUNTIME_STATE_MESSAGES_H

#include "manifest/Manifest.h"
#include "state/Residual.h"
#include "state/StateFiles.h"

namespace cgx {

/// One end of an edge. A slot is a row of an operand: of each sample there is one, and one for each row of a
/// message that is of no sample, such as what a stage computes before its first microbatch. Nothing was sent
/// of any at first.
class Messages {
public:
  /// The operand has changes.
  Messages(const OperandInfo &operand, StateMemorySource &memory);

  /// The slot of a row's id; nothing where the id is none: expected -rows <= id < samples.
  std::optional<uint64_t> slotOf(int32_t id) const;
  bool wasSent(uint64_t slot) const { return sent[slot] != 0; }
  /// What was last sent; zeros where nothing was.
  void load(uint64_t slot, std::span<float> row) const { values.load(slot * rowElements, row); }
  /// Replaces it, and remembers that it was sent. What is not finite is kept as it was: whoever receives it
  /// sees it, and the next change begins with what was before.
  void store(uint64_t slot, std::span<const float> before, std::span<float> row);

  /// The memory behind it, to be saved and restored, under `name`.
  void describe(const std::string &name, std::vector<StateTensor> &tensors);

private:
  uint64_t samples, rows, rowElements;
  Residual values;
  std::vector<int8_t> sent; ///< of each slot, whether anything was
};

} // namespace cgx

#endif // CGX_RUNTIME_STATE_MESSAGES_H
