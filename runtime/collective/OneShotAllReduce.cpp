//===-- collective/OneShotAllReduce.cpp - All to all, added up by each --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everybody encodes its operand once and sends it to all others; everybody reduces what all have sent, itself
// too, in the order of the group. So all have the same bits, after one message instead of two, and of more
// than two ranks each sends more bytes: for short operands, which wait for messages and not for bytes.
//
// Exact operands that fit into one eager message together are written once: in shared memory, where all
// others read them.
//
//===----------------------------------------------------------------------===//

#include "AllReduceAlgorithms.h"
#include "EagerGroup.h"
#include "collective/OperandCodec.h"
#include "transport/WaitLoop.h"

#include <cstring>

namespace cgx {

namespace {

class OneShotTask {
public:
  OneShotTask(const Execution &execution, size_t index, const OperandBuffers &buffers)
      : execution(execution), codec(execution, index), buffers(buffers), exact(codec.isRaw()),
        bytes(codec.chunks().slot()), slots(execution.scratch.take(execution.group.size() * bytes)) {}

  /// Encodes the contribution, of exact operands the input, and says where all of them go.
  Traffic traffic() const {
    if (!exact)
      codec.encodeChunk(kContribution, buffers.input, /*first=*/0, codec.info().elements, slot(self()));
    const std::byte *own = contribution();
    return stepTraffic(
        execution, kContribution, /*step=*/0, [&](uint32_t) { return std::span(own, bytes); },
        [&](uint32_t from, uint32_t) { return std::span(slot(from), bytes); });
  }

  Status finish() const {
    std::vector<const std::byte *> payloads;
    for (uint32_t position = 0; position < execution.group.size(); ++position)
      payloads.push_back(position == self() ? contribution() : slot(position));
    // In place, the exact sum would overwrite this rank's own contribution. Its slot is free then.
    const bool overwrites = exact && buffers.output == buffers.input;
    std::byte *sum = overwrites ? slot(self()) : buffers.output;
    Status status = codec.reduceChunk(payloads, codec.info().elements, sum);
    if (overwrites && bytes != 0)
      std::memcpy(buffers.output, sum, bytes);
    return status;
  }

private:
  uint32_t self() const { return execution.self(); }
  std::byte *slot(uint32_t position) const { return slots + position * bytes; }
  const std::byte *contribution() const { return exact ? buffers.input : slot(self()); }

  const Execution &execution;
  OperandCodec codec;
  OperandBuffers buffers;
  bool exact;       ///< then an operand is its own payload
  uint64_t bytes;   ///< of a payload of the whole operand
  std::byte *slots; ///< a payload from each position
};

/// All operands of a rank in one eager message: those of the widest elements first, so that all are aligned.
class OneMessage {
public:
  OneMessage(Execution &execution, Buffers buffers)
      : execution(execution), eagerSlots(execution.transport.eagerSlots()), buffers(buffers),
        begins(buffers.size()) {
    for (uint64_t width : {8, 4, 2, 1})
      for (size_t i = 0; i < buffers.size(); ++i) {
        const OperandInfo &operand = execution.collective.operands[i];
        if (cgx_element_bytes(operand.type) != width)
          continue;
        begins[i] = bytes;
        bytes += operand.elements * width;
      }
  }

  /// Returns whether operands fit into the slots of eager messages; all ranks come to the same answer.
  bool isPossible() const {
    return eagerSlots && bytes != 0 && bytes <= eagerSlots->uncompressedBytes() &&
           std::ranges::all_of(execution.collective.operands,
                               [](const OperandInfo &operand) { return operand.isUncompressed(); });
  }

  Status run() {
    Stopwatch stopwatch(execution.counters.exchange);
    const EagerGroup peers(execution, *eagerSlots);
    const auto owes = [&](uint32_t position) {
      return position != execution.self() && !peers.due(position, kContribution);
    };
    bool isSent = false;
    for (WaitLoop waiting(execution.transport, execution.timeout);;) {
      const bool worked = !isSent && send();
      isSent |= worked;
      if (isSent && !isAnyOwing(owes) && eagerSlots->isAllTaken())
        break;
      if (Status status = waiting.turn(worked, [&] { return peers.pending(owes); }); !status.ok())
        return status;
      if (!worked)
        if (Status status = peers.checkLeavers(owes); !status.ok())
          return status;
    }
    return reduce(peers);
  }

private:
  template <typename Owes> bool isAnyOwing(Owes owes) const {
    for (uint32_t position = 0; position < execution.group.size(); ++position)
      if (owes(position))
        return true;
    return false;
  }

  Tag tag() const { return execution.tag(kContribution, /*part=*/0); }

  /// False while the slots are full.
  bool send() {
    std::byte *memory = eagerSlots->reserve(kContribution);
    if (!memory)
      return false;
    std::vector<uint32_t> receivers;
    forEachTransfer(
        execution.pattern, kContribution, /*step=*/0, execution.self(), /*sends=*/true,
        [&](const Transfer &transfer) { receivers.push_back(execution.group.ranks[transfer.to]); });
    for (size_t i = 0; i < buffers.size(); ++i) {
      const OperandInfo &operand = execution.collective.operands[i];
      const uint64_t size = operand.elements * cgx_element_bytes(operand.type);
      if (size != 0)
        std::memcpy(memory + begins[i], buffers[i].input, size);
      execution.counters.operands[i].wireBytes += size * receivers.size();
    }
    eagerSlots->send(kContribution, tag(), bytes, receivers);
    return true;
  }

  /// All have come.
  Status reduce(const EagerGroup &peers) {
    std::vector<const std::byte *> messages(execution.group.size());
    for (uint32_t position = 0; position < execution.group.size(); ++position) {
      if (position == execution.self())
        continue;
      const EagerMessage &eager = *peers.due(position, kContribution);
      if (Status status = peers.check(position, eager, tag(), bytes); !status.ok())
        return status;
      messages[position] = eager.bytes.data();
    }
    // In place, a sum would overwrite this rank's own contribution.
    ScratchRoom room(execution.scratch);
    std::byte *sum = room.atLeast(bytes);
    for (size_t i = 0; i < buffers.size(); ++i) {
      const OperandCodec codec(execution, i);
      std::vector<const std::byte *> payloads;
      for (uint32_t position = 0; position < execution.group.size(); ++position)
        payloads.push_back(position == execution.self() ? buffers[i].input : messages[position] + begins[i]);
      if (Status status = codec.reduce(payloads, codec.info().elements, sum); !status.ok())
        return status;
      copyWhole(codec.info(), {.input = sum, .output = buffers[i].output});
    }
    for (uint32_t position = 0; position < execution.group.size(); ++position)
      if (position != execution.self())
        eagerSlots->release(execution.group.ranks[position], kContribution);
    return Status();
  }

  Execution &execution;
  EagerSlots *eagerSlots;
  Buffers buffers;
  std::vector<uint64_t> begins; ///< of the operands, in the message
  uint64_t bytes = 0;
};

} // namespace

Status runOneShotAllReduce(Execution &execution, Buffers operands) {
  if (OneMessage message(execution, operands); message.isPossible())
    return message.run();
  std::vector<OneShotTask> tasks;
  std::vector<Traffic> traffic;
  {
    Stopwatch stopwatch(execution.counters.encode);
    for (size_t i = 0; i < operands.size(); ++i) {
      tasks.emplace_back(execution, i, operands[i]);
      traffic.push_back(tasks.back().traffic());
    }
  }
  if (Status status = exchange(execution, traffic, kContribution, kAllOperands); !status.ok())
    return status;
  Stopwatch stopwatch(execution.counters.decode);
  for (const OneShotTask &task : tasks)
    if (Status status = task.finish(); !status.ok())
      return status;
  return Status();
}

} // namespace cgx
