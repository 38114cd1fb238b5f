//===-- state/OperandState.h - What a rank remembers of operands -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_STATE_OPERANDSTATE_H
#define CGX_RUNTIME_STATE_OPERANDSTATE_H

#include "cgx/kernels/optimizer.h"
#include "manifest/Manifest.h"
#include "state/Messages.h"

namespace cgx {

/// What a rank remembers of one operand from step to step.
struct OperandState {
  std::optional<Residual> contribution; ///< lost from what this rank gives
  std::optional<Residual> result;       ///< lost from what it makes of its own chunk, as its owner
  uint64_t chunkAlignment = 0;          ///< of the chunks that `result` was made for, on all ranks
  /// Of lowrank: the right factor that the next step begins with, for the largest rank that there is room
  /// for. The same on all ranks of a group. A vector of zeros has yet to be drawn.
  std::vector<float> warmStart;
  /// Of changes: what was last sent to the rank that this one is a source of, and what last came.
  std::optional<Messages> sent, received;
  /// Of a gather that another one decodes again: the payloads of all ranks of the group, of its last run.
  std::vector<std::byte> payloads;
  /// What the optimizer keeps of the operand's parameter, lent until the step ends.
  std::array<KeptTensor, CGX_KEPT_COUNT> kept = {};
  /// How often the operand was exchanged in this step: a collective in a loop rounds anew each time.
  uint64_t runs = 0;
};

/// The memory of one rank for all operands of a program. It is made at once, zero, so that its names and
/// sizes follow from the program and a checkpoint can be written back before the first step.
class ProgramState {
public:
  /// With messages in files of a folder, if that is not empty. Status() says whether there are all.
  ProgramState(const Program &program, uint32_t rank, const std::string &messagesIn = {});
  const Status &status() const { return memory.status(); }

  /// One for each operand of the collective at `index` of the program.
  std::span<OperandState> operandsOf(size_t index) { return states[index]; }

  void beginStep();

  std::span<const StateTensor> tensors() const { return described; }

private:
  StateMemorySource memory; ///< of messages
  std::vector<std::vector<OperandState>> states;
  std::vector<StateTensor> described;
};

} // namespace cgx

#endif // CGX_RUNTIME_STATE_OPERANDSTATE_H
