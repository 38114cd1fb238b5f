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

#include "collective/AllReduceAlgorithms.h"
#include "collective/OperandCodec.h"

namespace cgx {

namespace {

class Running {
public:
  Running(const Execution &execution, size_t index, const OperandBuffers &buffers)
      : execution(execution), codec(execution, index), resultCodec(execution, index, kResult),
        exact(codec.info().isRaw()), buffers(buffers),
        children(treeChildren(execution.self(), execution.group.size())),
        parent(treeParent(execution.self())), elements(codec.info().elements),
        bytes(codec.chunks(1).payload(0)), resultBytes(resultCodec.chunks(1).payload(0)),
        slots(execution.scratch.take(children.size() * bytes)),
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
    traffic.send[parent] = {exact ? sum : sent, bytes};
    return traffic;
  }

  /// At the root, encodes the result.
  Traffic fromParent() const {
    Traffic traffic(execution.group.size());
    if (!isRoot())
      traffic.receive[parent] = {payload, resultBytes};
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
  bool isRoot() const { return execution.self() == 0; }

  const Execution &execution;
  OperandCodec codec, resultCodec;
  bool exact; ///< then an operand is its own payload
  OperandBuffers buffers;
  std::vector<uint32_t> children;
  uint32_t parent;
  uint64_t elements;
  uint64_t bytes;       ///< of the payload of an operand's partial sum
  uint64_t resultBytes; ///< of that of its result
  std::byte *slots;     ///< a payload from each child
  std::byte *sent;      ///< what this rank encodes for its parent
  std::byte *payload;   ///< of the result
};

using Step = Traffic (Running::*)() const;

Status exchangeStep(Execution &execution, const std::vector<Running> &running, Step step, uint32_t phase) {
  std::vector<Traffic> traffic;
  {
    Stopwatch stopwatch(execution.counters.encode);
    for (const Running &operand : running)
      traffic.push_back((operand.*step)());
  }
  return exchange(execution, traffic, phase, kAllOperands);
}

} // namespace

Status runTreeAllReduce(Execution &execution, Buffers operands) {
  std::vector<Running> running;
  for (size_t i = 0; i < operands.size(); ++i)
    running.emplace_back(execution, i, operands[i]);
  if (Status status = exchangeStep(execution, running, &Running::fromChildren, kContribution); !status.ok())
    return status;
  {
    Stopwatch stopwatch(execution.counters.decode);
    for (const Running &operand : running)
      if (Status status = operand.reduce(); !status.ok())
        return status;
  }
  const std::pair<Step, uint32_t> steps[] = {
      {&Running::toParent, kContribution}, {&Running::fromParent, kResult}, {&Running::toChildren, kResult}};
  for (auto [step, phase] : steps)
    if (Status status = exchangeStep(execution, running, step, phase); !status.ok())
      return status;
  Stopwatch stopwatch(execution.counters.decode);
  for (const Running &operand : running)
    if (Status status = operand.finish(); !status.ok())
      return status;
  return Status();
}

} // namespace cgx
