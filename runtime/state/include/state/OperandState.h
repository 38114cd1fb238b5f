//===-- state/OperandState.h - Codec state of operands ----------*- C++ -*-===//
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

/// The state that a rank keeps for one operand from step to step.
struct OperandState {
  std::optional<Residual> contribution; ///< loss of what this rank contributes
  std::optional<Residual> result;       ///< loss of the result of its own chunk, as its owner
  uint64_t chunkAlignment = 0;          ///< alignment of the chunks that `result` was made for, on all ranks
  /// The right factor of lowrank with which the next step begins, for the largest rank that has buffer space.
  /// It is the same on all ranks of a group. A vector of zeros has yet to be drawn.
  std::vector<float> warmStart;
  /// The messages last sent to the rank of which this one is a source, and those last received, if changes
  /// are sent.
  std::optional<Messages> sent, received;
  /// The payloads of all ranks of the group in the last run of a gather that another one decodes again.
  std::vector<std::byte> payloads;
  /// The tensors that the optimizer keeps for the operand's parameter, bound until the step ends.
  std::array<KeptTensor, CGX_KEPT_COUNT> kept = {};
  /// The number of times that the operand was exchanged in this step: a collective in a loop rounds
  /// differently each time.
  uint64_t runs = 0;
};

/// The state of one rank for all operands of a program. It is allocated at once, and zero, so that its names
/// and sizes follow from the program and a checkpoint can be restored before the first step.
class ProgramState {
public:
  /// Keeps message buffers in files of the folder, if that is not empty. status() reports whether all could
  /// be allocated.
  ProgramState(const Program &program, uint32_t rank, const std::string &messagesIn = {});
  const Status &status() const { return memory.status(); }

  /// Returns the states of the operands of the collective at `index` of the program.
  std::span<OperandState> operandsOf(size_t index) { return states[index]; }

  void beginStep();

  std::span<const StateTensor> tensors() const { return described; }

private:
  StateMemorySource memory; ///< memory of message buffers
  std::vector<std::vector<OperandState>> states;
  std::vector<StateTensor> described;
};

} // namespace cgx

#endif // CGX_RUNTIME_STATE_OPERANDSTATE_H
