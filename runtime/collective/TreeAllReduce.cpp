//===-- collective/TreeAllReduce.cpp - Up a binomial tree and down --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   0 <- 1      2 <- 3      4 <- 5      6        each adds what its children sent to what it
//   0 <---------2           4 <---------6        has, and encodes the sum for its parent
//   0 <---------------------4
//
// The first rank encodes the result once; that payload goes down the same tree unchanged, and
// every rank, the first too, decodes it. Two messages deep per level, so the fewest steps for
// small operands; for large ones the whole of them passes through the first rank.
//
//===----------------------------------------------------------------------===//

#include "AllReduceAlgorithms.h"
#include "collective/OperandCodec.h"

namespace cgx {

namespace {

class TreeTask {
public:
  TreeTask(const Execution &execution, size_t index, const OperandBuffers &buffers)
      : execution(execution), codec(execution, index), resultCodec(execution, index, kResult),
        exact(codec.info().isUncompressed()), buffers(buffers), children(positionsOf(/*sends=*/false)),
        parent(positionsOf(/*sends=*/true)), elements(codec.info().elements), bytes(codec.chunks().slot()),
        resultBytes(resultCodec.chunks().slot()), slots(execution.scratch.take(children.size() * bytes)),
        sent(exact ? nullptr : execution.scratch.take(bytes)),
        payload(exact ? buffers.output : execution.scratch.take(resultBytes)) {}

  Traffic fromChildren() const {
    Traffic traffic(execution.group.size());
    for (size_t i = 0; i < children.size(); ++i)
      traffic.receive[children[i]] = {slots + i * bytes, bytes};
    return traffic;
  }

  Status reduce() const {
    std::vector<OperandCodec::PeerPayload> payloads;
    for (size_t i = 0; i < children.size(); ++i)
      payloads.push_back({slots + i * bytes, execution.group.ranks[children[i]]});
    return payloads.empty() ? Status()
                            : codec.accumulateChunk(buffers.input, payloads, elements,
                                                    isRoot() ? execution.divisor() : 1, buffers.output);
  }

  /// Encodes the sum of what is below this rank.
  Traffic toParent() const {
    Traffic traffic(execution.group.size());
    if (isRoot())
      return traffic;
    const std::byte *sum = children.empty() ? buffers.input : buffers.output;
    if (!exact)
      codec.encodeChunk(kContribution, sum, /*first=*/0, elements, sent);
    traffic.send[parent.front()] = {exact ? sum : sent, bytes};
    return traffic;
  }

  /// At the root, encodes the result.
  Traffic fromParent() const {
    Traffic traffic(execution.group.size());
    if (!isRoot())
      traffic.receive[parent.front()] = {payload, resultBytes};
    else if (!exact)
      resultCodec.encodeChunk(kResult, buffers.output, /*first=*/0, elements, payload);
    return traffic;
  }

  Traffic toChildren() const {
    Traffic traffic(execution.group.size());
    for (uint32_t child : children)
      traffic.send[child] = {payload, resultBytes};
    return traffic;
  }

  Status finish() const {
    if (exact)
      return Status();
    return resultCodec.decodeChunk({payload, resultBytes}, execution.group.ranks[0], elements,
                                   buffers.output);
  }

private:
  bool isRoot() const { return parent.empty(); }

  /// Whom this rank sends its contribution to, or whose it gets: of all steps, since it waits for all of them
  /// anyway. Results go the same ways back.
  std::vector<uint32_t> positionsOf(bool sends) const {
    std::vector<uint32_t> positions;
    for (uint32_t step = 0; step < cgx_step_count(&execution.pattern, kContribution); ++step)
      forEachTransfer(
          execution.pattern, kContribution, step, execution.self(), sends,
          [&](const Transfer &transfer) { positions.push_back(sends ? transfer.to : transfer.from); });
    return positions;
  }

  const Execution &execution;
  OperandCodec codec, resultCodec;
  bool exact; ///< then an operand is its own payload
  OperandBuffers buffers;
  std::vector<uint32_t> children, parent; ///< the root has no parent
  uint64_t elements;
  uint64_t bytes;       ///< of the payload of an operand's partial sum
  uint64_t resultBytes; ///< of that of its result
  std::byte *slots;     ///< a payload from each child
  std::byte *sent;      ///< what this rank encodes for its parent
  std::byte *payload;   ///< of the result
};

using Leg = Traffic (TreeTask::*)() const;

Status exchangeLeg(Execution &execution, const std::vector<TreeTask> &tasks, Leg leg, uint32_t phase) {
  std::vector<Traffic> traffic;
  {
    Stopwatch stopwatch(execution.counters.encode);
    for (const TreeTask &operand : tasks)
      traffic.push_back((operand.*leg)());
  }
  return exchange(execution, traffic, phase, kAllOperands);
}

} // namespace

Status runTreeAllReduce(Execution &execution, Buffers operands) {
  std::vector<TreeTask> tasks;
  for (size_t i = 0; i < operands.size(); ++i)
    tasks.emplace_back(execution, i, operands[i]);
  if (Status status = exchangeLeg(execution, tasks, &TreeTask::fromChildren, kContribution); !status.ok())
    return status;
  {
    Stopwatch stopwatch(execution.counters.decode);
    for (const TreeTask &operand : tasks)
      if (Status status = operand.reduce(); !status.ok())
        return status;
  }
  const std::pair<Leg, uint32_t> legs[] = {{&TreeTask::toParent, kContribution},
                                           {&TreeTask::fromParent, kResult},
                                           {&TreeTask::toChildren, kResult}};
  for (auto [leg, phase] : legs)
    if (Status status = exchangeLeg(execution, tasks, leg, phase); !status.ok())
      return status;
  Stopwatch stopwatch(execution.counters.decode);
  for (const TreeTask &operand : tasks)
    if (Status status = operand.finish(); !status.ok())
      return status;
  return Status();
}

} // namespace cgx
