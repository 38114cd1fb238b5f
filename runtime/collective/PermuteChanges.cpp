//===-- collective/PermuteChanges.cpp - Activations as what changed of them -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Algorithm 1 of the AQ-SGD paper, on one edge between stages. Of a row `a` of sample i, of which both ends
// keep the message m(i):
//
//   first visit   the row travels as it is:  m(i) = a
//   later         payload = Q(a - m(i));     m(i) = m(i) + decode(payload)
//
// and the receiver goes on with m(i). The ids of the rows travel with them, so that the receiver knows them
// without knowing how the sender came by them; that both ends number samples alike is all that is needed. The
// payload is of all rows, zeros for those of a first visit, so that its length follows from the shape. Rows
// of first visits follow it: both ends know how many from the ids.
//
// A sample that is twice in one message is computed from one m(i) twice; the later row stays.
//
//===----------------------------------------------------------------------===//

#include "Changes.h"
#include "cgx/kernels/codecs.h"
#include "collective/OperandCodec.h"
#include "collective/RawBytes.h"

#include <algorithm>
#include <cstring>

namespace cgx {

namespace {

/// The ids of the rows of a message, which this rank has or got.
using Ids = std::span<const int32_t>;

Status refused(const OperandInfo &operand, uint32_t sender, int32_t id) {
  return Status::error(CGX_INVALID_ARGUMENT, "layer '", operand.layer, "', ids of samples of rank ", sender,
                       ": expected ids from 0 to ", operand.changes->samples - 1,
                       " (samples=", operand.changes->samples, "), got ", id);
}

/// The rows of a message: slots of their ids, and what is kept in them.
class Rows {
public:
  Rows(const Execution &execution, const OperandInfo &operand, Messages &messages)
      : operand(operand), messages(messages), elements(operand.rowElements()),
        before(reinterpret_cast<float *>(execution.scratch.take(operand.elements * sizeof(float))),
               operand.elements),
        after(reinterpret_cast<float *>(execution.scratch.take(operand.elements * sizeof(float))),
              operand.elements) {}

  /// Looks all of them up before any is replaced.
  Status find(Ids ids, uint32_t sender) {
    for (uint64_t row = 0; row < ids.size(); ++row) {
      std::optional<uint64_t> slot = messages.slotOf(ids[row]);
      if (!slot)
        return refused(operand, sender, ids[row]);
      slots.push_back(*slot);
      isFirst.push_back(!messages.wasSent(*slot));
      firsts += isFirst.back();
      messages.load(*slot, of(before, row));
    }
    std::copy(before.begin(), before.end(), after.begin());
    return Status();
  }

  std::span<float> of(std::span<float> values, uint64_t row) const {
    return values.subspan(row * elements, elements);
  }
  uint64_t firstBytes() const { return firsts * elements * cgx_element_bytes(operand.type); }

  /// The rows of first visits, one behind the other, take the place of what is decoded of them.
  void takeFirsts(const std::byte *exact) {
    for (uint64_t row = 0; row < slots.size(); ++row)
      if (isFirst[row]) {
        widen(operand.type, exact, of(after, row));
        exact += elements * cgx_element_bytes(operand.type);
      }
  }

  /// Stores the rows that the next changes begin with. After that `after` is no longer the received message.
  void keep() {
    for (uint64_t row = 0; row < slots.size(); ++row)
      messages.store(slots[row], of(before, row), of(after, row));
  }

  const OperandInfo &operand;
  Messages &messages;
  uint64_t elements; ///< of a row
  std::span<float> before, after;
  std::vector<uint64_t> slots;
  std::vector<bool> isFirst;
  uint64_t firsts = 0;
};

/// One operand on its way. Operands without changes are encoded as they are.
class ChangesTask {
public:
  ChangesTask(Execution &execution, size_t index, const OperandBuffers &buffers)
      : execution(execution), codec(execution, index), state(execution.states[index]), buffers(buffers),
        payloadBytes(codec.payloadBytes(codec.info().elements)),
        outgoing(execution.scratch.take(payloadBytes)), incoming(execution.scratch.take(payloadBytes)) {
    for (auto [from, to] : execution.pairs()) {
      isSource = isSource || from == execution.self();
      if (to == execution.self())
        source = from;
    }
  }

  /// Before any result is written: it may take the place of an operand.
  Status encode(Ids ids) {
    if (!isSource)
      return Status();
    if (codec.info().changes)
      return encodeChanges(ids);
    codec.encode(kContribution, buffers.input, /*first=*/0, codec.info().elements, outgoing);
    return Status();
  }

  Traffic traffic() const {
    return stepTraffic(
        execution, kContribution, /*step=*/0, [&](uint32_t) { return std::span(outgoing, payloadBytes); },
        [&](uint32_t, uint32_t) { return std::span(incoming, payloadBytes); });
  }

  /// The payload of the rank that this one gets from; null where it is no target.
  const std::byte *payload() const {
    return !source ? nullptr : *source == execution.self() ? outgoing : incoming;
  }

  /// Finds out which rows are to follow.
  Status look(Ids ids) {
    if (!source || !codec.info().changes)
      return Status();
    received.emplace(execution, codec.info(), *state.received);
    if (Status status = received->find(ids, *source); !status.ok())
      return status;
    firstsIn = execution.scratch.take(received->firstBytes());
    return Status();
  }

  Traffic firsts() const {
    const uint64_t out = sent ? sent->firstBytes() : 0, in = received ? received->firstBytes() : 0;
    return stepTraffic(
        execution, kContribution, /*step=*/0, [&](uint32_t) { return std::span(firstsOut, out); },
        [&](uint32_t, uint32_t) { return std::span(firstsIn, in); });
  }

  Status finish() {
    const uint64_t elements = codec.info().elements;
    if (!source) {
      if (elements != 0)
        std::memset(buffers.output, 0, elements * codec.elementBytes());
      return Status();
    }
    if (!received)
      return codec.decode({payload(), payloadBytes}, *source, elements, buffers.output);
    if (Status status = codec.accumulate({payload(), payloadBytes}, *source, received->after); !status.ok())
      return status;
    received->takeFirsts(*source == execution.self() ? firstsOut : firstsIn);
    narrow(codec.info().type, received->after, buffers.output);
    received->keep();
    return Status();
  }

  const OperandInfo &info() const { return codec.info(); }
  uint64_t sentFirstBytes() const {
    const bool leaves = sent && !(source && *source == execution.self());
    return leaves ? sent->firstBytes() : 0;
  }

private:
  Status encodeChanges(Ids ids) {
    const OperandInfo &info = codec.info();
    sent.emplace(execution, info, *state.sent);
    if (Status status = sent->find(ids, execution.self()); !status.ok())
      return status;
    std::span<float> change(reinterpret_cast<float *>(execution.scratch.take(info.elements * sizeof(float))),
                            info.elements);
    widen(info.type, buffers.input, change);
    firstsOut = execution.scratch.take(sent->firstBytes());
    std::byte *exact = firstsOut;
    const uint64_t bytes = sent->elements * codec.elementBytes();
    for (uint64_t row = 0; row < sent->slots.size(); ++row) {
      std::span<float> values = sent->of(change, row), before = sent->of(sent->before, row);
      if (sent->isFirst[row]) {
        std::memcpy(exact, buffers.input + row * bytes, bytes);
        exact += bytes;
        std::fill(values.begin(), values.end(), 0.0f);
      } else {
        for (uint64_t i = 0; i < values.size(); ++i)
          values[i] -= before[i];
      }
    }
    codec.encodeWide(kContribution, change, outgoing);
    if (Status status = codec.accumulate({outgoing, payloadBytes}, execution.self(), sent->after);
        !status.ok())
      return status;
    sent->takeFirsts(firstsOut);
    sent->keep();
    return Status();
  }

  Execution &execution;
  OperandCodec codec;
  OperandState &state;
  OperandBuffers buffers;
  uint64_t payloadBytes;
  std::byte *outgoing;
  std::byte *incoming;
  std::byte *firstsOut = nullptr;
  std::byte *firstsIn = nullptr;
  std::optional<Rows> sent, received;
  bool isSource = false;
  std::optional<uint32_t> source; ///< this rank too
};

Ids idsAt(const std::byte *memory, const OperandInfo &info) {
  return {reinterpret_cast<const int32_t *>(memory), info.elements};
}

} // namespace

Status runPermuteOfChanges(Execution &execution, Buffers operands) {
  CollectiveCounters &counters = execution.counters;
  const OperandInfo &idsInfo = execution.collective.operands.back();
  std::vector<ChangesTask> tasks;
  std::vector<Traffic> traffic;
  {
    Stopwatch stopwatch(counters.encode);
    tasks.reserve(operands.size());
    for (size_t i = 0; i < operands.size(); ++i) {
      tasks.emplace_back(execution, i, operands[i]);
      if (Status status = tasks[i].encode(idsAt(operands.back().input, idsInfo)); !status.ok())
        return status;
      traffic.push_back(tasks[i].traffic());
    }
    countRawBytes(execution);
  }
  if (Status status = exchange(execution, traffic, kContribution, kAllOperands); !status.ok())
    return status;
  {
    Stopwatch stopwatch(counters.decode);
    if (const std::byte *ids = tasks.back().payload())
      for (ChangesTask &operand : tasks)
        if (Status status = operand.look(idsAt(ids, idsInfo)); !status.ok())
          return status;
  }
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (!tasks[i].info().changes)
      continue;
    const Traffic firsts = tasks[i].firsts();
    if (Status status = exchange(execution, {&firsts, 1}, kContribution, uint32_t(i) + 1, i); !status.ok())
      return status;
    counters.operands[i].firstBytes += tasks[i].sentFirstBytes();
  }
  Stopwatch stopwatch(counters.decode);
  for (ChangesTask &operand : tasks)
    if (Status status = operand.finish(); !status.ok())
      return status;
  // Zeros would be the id of a sample: rows of a rank that got nothing are of none.
  if (!tasks.back().payload())
    for (int32_t row = 0; row < int32_t(idsInfo.elements); ++row) {
      const int32_t none = -1 - row;
      std::memcpy(operands.back().output + uint64_t(row) * sizeof none, &none, sizeof none);
    }
  return Status();
}

} // namespace cgx
