//===-- collective/RingAllReduce.cpp - Chunks that travel around --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   hop 0     rank c+1 encodes what it has of chunk c          -> rank c+2
//   hop 1..   rank k   adds what it has, encodes the sum       -> rank k+1
//   at last   rank c   adds, and encodes the result for all
//   then      that payload goes around unchanged, and every rank, c too, decodes it
//
// A rank encodes each chunk once, as a contribution or as the result, so that error feedback
// covers every encoding and no two of them round with the same random numbers.
//
//===----------------------------------------------------------------------===//

#include "AllReduceAlgorithms.h"
#include "collective/AllReduce.h"

namespace cgx {

namespace {

class RingTask {
public:
  RingTask(const Execution &execution, size_t index, const OperandBuffers &buffers)
      : operand(execution, index), buffers(buffers), self(execution.self()), exact(operand.isRaw()),
        divisor(execution.divisor()), received(execution.scratch.take(operand.chunks.slot())),
        encoded(exact ? nullptr : execution.scratch.take(operand.chunks.slot())),
        whole(exact ? nullptr : execution.scratch.take(operand.wholeBytes())) {}

  /// Hop 0 to ranks - 2 of the way to the owners.
  Traffic reduceTraffic(uint32_t hop) const {
    const Chunks &chunks = operand.chunks;
    const auto sent = [&](uint32_t chunk) {
      // At first what this rank gives, then what it made of that and of what has come.
      const std::byte *source = (hop == 0 ? buffers.input : buffers.output) + chunks.beginByte(chunk);
      if (!exact)
        operand.codec.encodeChunk(kContribution, source, chunks.begin(chunk), chunks.size(chunk), encoded);
      return std::span(exact ? source : encoded, chunks.payload(chunk));
    };
    return stepTraffic(operand.execution, kContribution, hop, sent,
                       [&](uint32_t, uint32_t chunk) { return std::span(received, chunks.payload(chunk)); });
  }

  Status reduce(uint32_t hop) const {
    const Chunks &chunks = operand.chunks;
    const Execution &execution = operand.execution;
    const auto [from, to, taken] = stepOf(execution.pattern, kContribution, hop, self).receives.front();
    OperandCodec::PeerPayload partial{received, execution.group.ranks[from]};
    return operand.codec.accumulateChunk(buffers.input + chunks.beginByte(taken), {&partial, 1},
                                         chunks.size(taken), taken == self ? divisor : 1,
                                         buffers.output + chunks.beginByte(taken));
  }

  /// Encodes this rank's result.
  void compressResult() const {
    if (!exact)
      operand.compressResult(buffers.output + operand.chunks.beginByte(self),
                             whole + operand.ownResultBegin());
  }

  /// Hop 0 to ranks - 2 of the way of the results.
  Traffic gatherTraffic(uint32_t hop) const {
    const auto payload = [&](uint32_t chunk) {
      return std::span((exact ? buffers.output : whole) + operand.resultBegins[chunk],
                       operand.resultChunks.payload(chunk));
    };
    return stepTraffic(operand.execution, kResult, hop, payload,
                       [&](uint32_t, uint32_t chunk) { return payload(chunk); });
  }

  Status finish() const { return exact ? Status() : operand.decompress(whole, buffers.output); }

private:
  AllReduceOperand operand;
  OperandBuffers buffers;
  uint32_t self;
  bool exact; ///< then a chunk is its own payload, and the output that of all
  uint64_t divisor;
  std::byte *received; ///< the payload of one chunk
  std::byte *encoded;
  std::byte *whole;
};

} // namespace

Status runRingAllReduce(Execution &execution, Buffers operands) {
  CollectiveCounters &counters = execution.counters;
  std::vector<RingTask> tasks;
  for (size_t i = 0; i < operands.size(); ++i)
    tasks.emplace_back(execution, i, operands[i]);
  const uint32_t hops = cgx_step_count(&execution.pattern, kContribution);
  std::vector<Traffic> traffic;
  for (uint32_t hop = 0; hop < hops; ++hop) {
    traffic.clear();
    {
      Stopwatch stopwatch(counters.encode);
      for (const RingTask &operand : tasks)
        traffic.push_back(operand.reduceTraffic(hop));
    }
    if (Status status = exchange(execution, traffic, kContribution, kAllOperands); !status.ok())
      return status;
    Stopwatch stopwatch(counters.decode);
    for (const RingTask &operand : tasks)
      if (Status status = operand.reduce(hop); !status.ok())
        return status;
  }
  {
    Stopwatch stopwatch(counters.encode);
    for (const RingTask &operand : tasks)
      operand.compressResult();
  }
  for (uint32_t hop = 0; hop < hops; ++hop) {
    traffic.clear();
    for (const RingTask &operand : tasks)
      traffic.push_back(operand.gatherTraffic(hop));
    if (Status status = exchange(execution, traffic, kResult, kAllOperands); !status.ok())
      return status;
  }
  Stopwatch stopwatch(counters.decode);
  for (const RingTask &operand : tasks)
    if (Status status = operand.finish(); !status.ok())
      return status;
  return Status();
}

} // namespace cgx
