//===-- collective/AllGather.cpp - Concatenate the ranks' tensors ----- ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank encodes its tensor once and sends it to all; everybody, itself too, decodes. Where a later gather of
// the step is of the same values, payloads are kept, and that one decodes them again.
//
//===----------------------------------------------------------------------===//

#include "Changes.h"
#include "OneExchange.h"
#include "collective/OperandCodec.h"
#include "collective/Slices.h"

namespace cgx {

namespace {

class AllGatherTask {
public:
  AllGatherTask(const Execution &execution, size_t index, const OperandBuffers &buffers)
      : execution(execution), codec(execution, index), buffers(buffers), count(execution.group.size()),
        slices(resultShape(), execution.collective.dim, count, codec.elementBytes()),
        payloadBytes(codec.payloadBytes(codec.info().elements)),
        direct(codec.isRaw() && slices.contiguous() && !execution.collective.isDecodedAgain),
        payloads(placeOfPayloads(execution.states[index])) {}

  Traffic traffic() const {
    codec.encode(kContribution, buffers.input, /*first=*/0, codec.info().elements, payload(execution.self()));
    return stepTraffic(
        execution, kResult, /*step=*/0,
        [&](uint32_t chunk) { return std::span(payload(chunk), payloadBytes); },
        [&](uint32_t, uint32_t chunk) { return std::span(payload(chunk), payloadBytes); });
  }

  /// The payloads are there.
  Status finish() const {
    if (direct)
      return Status();
    std::byte *dense = slices.contiguous() ? nullptr : execution.scratch.take(slices.bytes());
    for (uint32_t position = 0; position < count; ++position) {
      std::byte *slice = dense ? dense : buffers.output + position * slices.bytes();
      Status status = codec.decode({payload(position), payloadBytes}, execution.group.ranks[position],
                                   slices.elements(), slice);
      if (!status.ok())
        return status;
      if (dense)
        slices.insert(dense, position, buffers.output);
    }
    return Status();
  }

private:
  std::byte *placeOfPayloads(OperandState &state) const {
    if (direct)
      return buffers.output;
    if (!execution.collective.isDecodedAgain)
      return execution.scratch.take(count * payloadBytes);
    state.payloads.resize(count * payloadBytes);
    return state.payloads.data();
  }

  std::vector<uint64_t> resultShape() const {
    std::vector<uint64_t> shape = codec.info().shape;
    shape[execution.collective.dim] *= count;
    return shape;
  }

  std::byte *payload(uint32_t position) const { return payloads + position * payloadBytes; }

  const Execution &execution;
  OperandCodec codec;
  OperandBuffers buffers;
  uint32_t count;
  Slices slices; ///< of the result
  uint64_t payloadBytes;
  bool direct; ///< payloads are the result as it is
  std::byte *payloads;
};

/// Decodes what the last run of the other gather has kept, with the codecs that it had.
Status decodeAgain(const Execution &execution, Buffers operands) {
  Stopwatch stopwatch(execution.counters.decode);
  if (execution.group.size() == 1) {
    for (size_t i = 0; i < operands.size(); ++i)
      copyWhole(execution.collective.operands[i], operands[i]);
    return Status();
  }
  const Execution kept{.transport = execution.transport,
                       .timeout = execution.timeout,
                       .collective = *execution.decoded,
                       .group = execution.group,
                       .seed = execution.seed,
                       .step = execution.step,
                       .scratch = execution.scratch,
                       .states = execution.decodedStates,
                       .counters = execution.counters};
  for (size_t i = 0; i < operands.size(); ++i) {
    if (kept.states[i].runs != execution.states[i].runs + 1)
      return Status::error(CGX_INVALID_ARGUMENT, "expected ", execution.decoded->describe(), " to have run ",
                           execution.states[i].runs + 1,
                           " times in this step before its payloads are decoded again, got ",
                           kept.states[i].runs);
    if (Status status = AllGatherTask(kept, i, operands[i]).finish(); !status.ok())
      return status;
  }
  return Status();
}

} // namespace

Status runAllGather(Execution &execution, Buffers operands) {
  const std::vector<OperandInfo> &infos = execution.collective.operands;
  if (std::any_of(infos.begin(), infos.end(),
                  [](const OperandInfo &info) { return info.changes.has_value(); }))
    return runGatherOfChanges(execution, operands);
  if (execution.decoded)
    return decodeAgain(execution, operands);
  return runInOneExchange<AllGatherTask>(execution, operands);
}

} // namespace cgx
