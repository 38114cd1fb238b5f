//===-- collective/GatherChanges.cpp - Weights as what changed of them -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The differences of weights of SDP4Bit. Of the part `w` of rank p, of which all ranks of the group, p too,
// keep the message m(p):
//
//   first gather  the part travels as it is:  m(p) = w
//   later         payload = Q(w - m(p));      m(p) = m(p) + decode(payload)
//
// and all go on with the messages. What Q loses, the next difference has again: m(p) follows w. A gather that
// runs several times in a step, in a scan over layers, has messages for each time. Ranks know what was
// gathered before, since they gather together; parts that were not follow the payloads, of zeros, in an
// exchange of their own.
//
//===----------------------------------------------------------------------===//

#include "Changes.h"
#include "OneExchange.h"
#include "collective/OperandCodec.h"
#include "collective/Slices.h"

namespace cgx {

namespace {

/// One operand on its way. Operands without changes are encoded as they are.
class GatherChangesTask {
public:
  GatherChangesTask(const Execution &execution, size_t index, const OperandBuffers &buffers)
      : execution(execution), codec(execution, index), state(execution.states[index]), buffers(buffers),
        count(execution.group.size()), elements(codec.info().elements),
        bytes(elements * codec.elementBytes()),
        slices(resultShape(), execution.collective.dim, count, codec.elementBytes()),
        payloadBytes(codec.payloadBytes(elements)), payloads(execution.scratch.take(count * payloadBytes)) {}

  /// Zeros of what was not gathered before.
  void encode() {
    if (!changes()) {
      codec.encode(kContribution, buffers.input, /*first=*/0, elements, payload(execution.self()));
      return;
    }
    before = take();
    after = take();
    std::fill(after.begin(), after.end(), 0.0f);
    if (!isFirst(execution.self())) {
      messages().load(slotOf(execution.self()), before);
      widen(codec.info().type, buffers.input, after);
      for (uint64_t i = 0; i < elements; ++i)
        after[i] -= before[i];
    }
    codec.encodeWide(kContribution, after, payload(execution.self()));
    for (uint32_t position = 0; position < count; ++position)
      if (isFirst(position))
        firstBytes = bytes;
    exact = execution.scratch.take(count * firstBytes);
  }

  Traffic traffic() const {
    return stepTraffic(
        execution, kResult, /*step=*/0,
        [&](uint32_t chunk) { return std::span(payload(chunk), payloadBytes); },
        [&](uint32_t, uint32_t chunk) { return std::span(payload(chunk), payloadBytes); });
  }

  /// Parts that were not gathered before, as they are.
  Traffic firsts() const {
    return stepTraffic(
        execution, kResult, /*step=*/0,
        [&](uint32_t chunk) { return std::span(buffers.input, isFirst(chunk) ? bytes : 0); },
        [&](uint32_t, uint32_t chunk) {
          return std::span(exact + chunk * firstBytes, isFirst(chunk) ? bytes : 0);
        });
  }
  uint64_t sentFirstBytes() const { return isFirst(execution.self()) ? (count - 1) * bytes : 0; }

  Status finish() {
    std::byte *dense = slices.contiguous() ? nullptr : execution.scratch.take(slices.bytes());
    for (uint32_t position = 0; position < count; ++position) {
      std::byte *slice = dense ? dense : buffers.output + position * slices.bytes();
      if (Status status = decode(position, slice); !status.ok())
        return status;
      if (dense)
        slices.insert(dense, position, buffers.output);
    }
    return Status();
  }

  bool changes() const { return codec.info().changes.has_value(); }

private:
  Status decode(uint32_t position, std::byte *slice) {
    const std::span<const std::byte> encoded{payload(position), payloadBytes};
    const uint32_t sender = execution.group.ranks[position];
    if (!changes())
      return codec.decode(encoded, sender, elements, slice);
    messages().load(slotOf(position), before);
    std::copy(before.begin(), before.end(), after.begin());
    if (Status status = codec.accumulate(encoded, sender, after); !status.ok())
      return status;
    if (isFirst(position))
      widen(codec.info().type, position == execution.self() ? buffers.input : exact + position * firstBytes,
            after);
    narrow(codec.info().type, after, slice);
    messages().store(slotOf(position), before, after);
    return Status();
  }

  Messages &messages() const { return *state.received; }
  uint64_t slotOf(uint32_t position) const {
    return state.runs % codec.info().changes->samples * count + position;
  }
  bool isFirst(uint32_t position) const { return !messages().wasSent(slotOf(position)); }

  std::span<float> take() const {
    return {reinterpret_cast<float *>(execution.scratch.take(elements * sizeof(float))), elements};
  }
  std::vector<uint64_t> resultShape() const {
    std::vector<uint64_t> shape = codec.info().shape;
    shape[execution.collective.dim] *= count;
    return shape;
  }
  std::byte *payload(uint32_t position) const { return payloads + position * payloadBytes; }

  const Execution &execution;
  OperandCodec codec;
  OperandState &state;
  OperandBuffers buffers;
  uint32_t count;
  uint64_t elements, bytes; ///< of a part
  Slices slices;            ///< of the result
  uint64_t payloadBytes;
  std::byte *payloads;
  std::byte *exact = nullptr;     ///< parts that were not gathered before,
  uint64_t firstBytes = 0;        ///< with room for each, where there is one
  std::span<float> before, after; ///< of one part
};

} // namespace

Status runGatherOfChanges(Execution &execution, Buffers operands) {
  CollectiveCounters &counters = execution.counters;
  if (execution.group.size() == 1) {
    for (size_t i = 0; i < operands.size(); ++i)
      copyWhole(execution.collective.operands[i], operands[i]);
    return Status();
  }
  std::vector<GatherChangesTask> tasks;
  std::vector<Traffic> traffic;
  {
    Stopwatch stopwatch(counters.encode);
    tasks.reserve(operands.size());
    for (size_t i = 0; i < operands.size(); ++i) {
      tasks.emplace_back(execution, i, operands[i]).encode();
      traffic.push_back(tasks[i].traffic());
    }
    countRawBytes(execution);
  }
  if (Status status = exchange(execution, traffic, kContribution, kAllOperands); !status.ok())
    return status;
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (!tasks[i].changes())
      continue;
    const Traffic firsts = tasks[i].firsts();
    if (Status status = exchange(execution, {&firsts, 1}, kContribution, uint32_t(i) + 1, i); !status.ok())
      return status;
    counters.operands[i].firstBytes += tasks[i].sentFirstBytes();
  }
  Stopwatch stopwatch(counters.decode);
  for (GatherChangesTask &operand : tasks)
    if (Status status = operand.finish(); !status.ok())
      return status;
  return Status();
}

} // namespace cgx
