//===-- state/OperandState.cpp - Codec state of operands --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "state/OperandState.h"

#include "schedule/Chunks.h"

namespace cgx {

/// Returns the message buffers of a gather: one message for each rank's part in each run of a step, all of
/// which are received. Messages has a slot for each sample, and one for a row without a sample.
static std::optional<Messages> messagesOfParts(const OperandInfo &operand, uint64_t ranks,
                                               StateMemorySource &memory) {
  if (ranks == 1)
    return std::nullopt;
  OperandInfo part = operand;
  part.shape = {1, operand.elements};
  part.changes->samples = operand.changes->samples * ranks - 1;
  return Messages(part, memory);
}

static OperandState makeState(const CollectiveInfo &collective, const OperandInfo &operand, uint32_t rank,
                              StateMemorySource &memory) {
  OperandState state;
  if (operand.mostRank != 0)
    state.warmStart.resize(operand.mostRank *
                           (operand.elements / cgx_matrix_rows(operand.shape.data(), operand.shape.size())));
  if (operand.changes && collective.kind == CollectiveKind::AllGather)
    state.received = messagesOfParts(operand, collective.groups[0].size(), memory);
  else if (operand.changes)
    for (auto [source, target] : collective.pairs) {
      if (source == rank)
        state.sent.emplace(operand, memory);
      if (target == rank)
        state.received.emplace(operand, memory);
    }
  if (!operand.errorFeedback)
    return state;
  ResidualStorage storage = operand.errorFeedback->storage;
  // Only an all-reduce encodes a result that it made of the contributions.
  if (collective.kind != CollectiveKind::AllReduce) {
    state.contribution.emplace(storage, 0, operand.elements);
    return state;
  }
  EncodedRanges ranges = encodedRanges(collective.schedule, operand.codec, operand.isUncompressed(),
                                       operand.type, operand.elements, groupOf(collective.groups, rank));
  if (operand.mostRank != 0) // every algorithm makes factors of the whole operand
    ranges.contribution = {0, operand.elements};
  state.contribution.emplace(storage, ranges.contribution.begin, ranges.contribution.size);
  state.result.emplace(storage, ranges.result.begin, ranges.result.size);
  state.chunkAlignment = cgx_chunk_alignment(&operand.codec);
  return state;
}

ProgramState::ProgramState(const Program &program, uint32_t rank, const std::string &messagesIn)
    : memory(messagesIn) {
  for (const CollectiveInfo &collective : program.collectives) {
    std::vector<OperandState> &states = this->states.emplace_back();
    for (size_t i = 0; i < collective.operands.size(); ++i) {
      const OperandInfo &operand = collective.operands[i];
      OperandState &state = states.emplace_back(makeState(collective, operand, rank, memory));
      std::string place = concat("[", collective.id, ".", i, " ", operand.layer, "]"),
                  name = "residual" + place;
      if (state.contribution)
        state.contribution->describe(name + ".contribution", described);
      if (state.result)
        state.result->describe(name + ".result", described);
      if (state.sent)
        state.sent->describe("messages" + place + ".sent", described);
      if (state.received)
        state.received->describe("messages" + place + ".received", described);
      if (!state.warmStart.empty())
        described.push_back({"warm_start" + place, CGX_F32, state.warmStart.size(), state.warmStart.data()});
    }
  }
}

void ProgramState::beginStep() {
  for (std::vector<OperandState> &operands : states)
    for (OperandState &operand : operands) {
      operand.runs = 0;
      operand.kept = {};
    }
}

} // namespace cgx
