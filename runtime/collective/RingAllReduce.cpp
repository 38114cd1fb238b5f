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

#include "collective/AllReduce.h"
#include "collective/AllReduceAlgorithms.h"

namespace cgx {

namespace {

class Running {
public:
  Running(const Execution &execution, size_t index, const OperandBuffers &buffers)
      : operand(execution, index), buffers(buffers), self(execution.self()), ranks(execution.group.size()),
        exact(operand.isRaw()), divisor(execution.divisor()), prior(rankOf(ranks - 1)),
        received(execution.scratch.take(operand.chunks.slot())),
        encoded(exact ? nullptr : execution.scratch.take(operand.chunks.slot())),
        whole(exact ? nullptr : execution.scratch.take(operand.wholeBytes())) {}

  /// Hop 0 to ranks - 2 of the way to the owners.
  Traffic reduceTraffic(uint32_t hop) const {
    const Chunks &chunks = operand.chunks;
    uint32_t sent = before(1 + hop), taken = before(2 + hop);
    // At first what this rank gives, then what it made of that and of what has come.
    const std::byte *source = (hop == 0 ? buffers.input : buffers.output) + chunks.beginByte(sent);
    if (!exact)
      operand.codec.encodeChunk(kContribution, source, chunks.begin(sent), chunks.size(sent), encoded);
    Traffic traffic(ranks);
    traffic.send[next()] = {exact ? source : encoded, chunks.payload(sent)};
    traffic.receive[before(1)] = {received, chunks.payload(taken)};
    return traffic;
  }

  Status reduce(uint32_t hop) const {
    const Chunks &chunks = operand.chunks;
    uint32_t taken = before(2 + hop);
    OperandCodec::PeerPayload partial{received, prior};
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
    uint32_t sent = before(hop), taken = before(1 + hop);
    std::byte *payloads = exact ? buffers.output : whole;
    Traffic traffic(ranks);
    const Chunks &chunks = operand.resultChunks;
    traffic.send[next()] = {payloads + operand.resultBegins[sent], chunks.payload(sent)};
    traffic.receive[before(1)] = {payloads + operand.resultBegins[taken], chunks.payload(taken)};
    return traffic;
  }

  Status finish() const { return exact ? Status() : operand.decompress(whole, buffers.output); }

private:
  uint32_t next() const { return (self + 1) % ranks; }
  /// The position, and the chunk, `distance` before this one.
  uint32_t before(uint32_t distance) const { return (self + 2 * ranks - distance) % ranks; }
  uint32_t rankOf(uint32_t distance) const {
    return operand.execution.group.ranks[(self + distance) % ranks];
  }

  AllReduceOperand operand;
  OperandBuffers buffers;
  uint32_t self, ranks;
  bool exact; ///< then a chunk is its own payload, and the output that of all
  uint64_t divisor;
  uint32_t prior;      ///< the rank that partial results come from
  std::byte *received; ///< the payload of one chunk
  std::byte *encoded;
  std::byte *whole;
};

} // namespace

Status runRingAllReduce(Execution &execution, Buffers operands) {
  CollectiveCounters &counters = execution.counters;
  std::vector<Running> running;
  for (size_t i = 0; i < operands.size(); ++i)
    running.emplace_back(execution, i, operands[i]);
  uint32_t hops = execution.group.size() - 1;
  std::vector<Traffic> traffic;
  for (uint32_t hop = 0; hop < hops; ++hop) {
    traffic.clear();
    {
      Stopwatch stopwatch(counters.encode);
      for (const Running &operand : running)
        traffic.push_back(operand.reduceTraffic(hop));
    }
    if (Status status = exchange(execution, traffic, kContribution, kAllOperands); !status.ok())
      return status;
    Stopwatch stopwatch(counters.decode);
    for (const Running &operand : running)
      if (Status status = operand.reduce(hop); !status.ok())
        return status;
  }
  {
    Stopwatch stopwatch(counters.encode);
    for (const Running &operand : running)
      operand.compressResult();
  }
  for (uint32_t hop = 0; hop < hops; ++hop) {
    traffic.clear();
    for (const Running &operand : running)
      traffic.push_back(operand.gatherTraffic(hop));
    if (Status status = exchange(execution, traffic, kResult, kAllOperands); !status.ok())
      return status;
  }
  Stopwatch stopwatch(counters.decode);
  for (const Running &operand : running)
    if (Status status = operand.finish(); !status.ok())
      return status;
  return Status();
}

} // namespace cgx
