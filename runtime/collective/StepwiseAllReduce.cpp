//===-- collective/StepwiseAllReduce.cpp - All-reduces, step by step --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs any schedule of an all-reduce in which partial sums travel: around a ring, up a tree, between pairs.
//
//   contributions   A rank adds what has come of a chunk to what it has of it, and sends the sum on, encoded.
//                   The owner of a chunk adds up last, and encodes the result.
//   results         Payloads of results go on unchanged, and every rank, the owner too, decodes them.
//
// A rank encodes each chunk once, as a contribution or as the result, so that error feedback covers every
// encoding and no two of them round with the same random numbers.
//
//===----------------------------------------------------------------------===//

#include "AllReduceAlgorithms.h"
#include "collective/AllReduce.h"

#include <algorithm>

namespace cgx {

namespace {

/// Adds the transfers of a step to the last exchange, or begins another: before a rank sends what depends on
/// what it receives, and where it would have two messages for one rank.
void addStep(std::vector<Step> &exchanges, Step step) {
  const auto sharesRank = [&](const Step &last) {
    return std::ranges::any_of(
               step.sends,
               [&](uint32_t to) { return std::ranges::count(last.sends, to, &Transfer::to) != 0; },
               &Transfer::to) ||
           std::ranges::any_of(
               step.receives,
               [&](uint32_t from) { return std::ranges::count(last.receives, from, &Transfer::from) != 0; },
               &Transfer::from);
  };
  if (step.sends.empty() && step.receives.empty())
    return;
  if (exchanges.empty() || (!step.sends.empty() && !exchanges.back().receives.empty()) ||
      sharesRank(exchanges.back())) {
    exchanges.push_back(std::move(step));
    return;
  }
  exchanges.back().sends.insert(exchanges.back().sends.end(), step.sends.begin(), step.sends.end());
  exchanges.back().receives.insert(exchanges.back().receives.end(), step.receives.begin(),
                                   step.receives.end());
}

/// The steps of this rank, of which those are one that need not wait for each other.
std::vector<Step> exchangesOf(const Execution &execution, uint32_t phase) {
  std::vector<Step> exchanges;
  for (uint32_t step = 0; step < cgx_step_count(&execution.pattern, phase); ++step)
    addStep(exchanges, stepOf(execution.pattern, phase, step, execution.self()));
  return exchanges;
}

/// Consecutive chunks.
struct ChunkRange {
  uint32_t begin, end;
};

ChunkRange chunksOf(const Transfer &transfer) { return {transfer.chunk, transfer.chunk + transfer.count}; }

/// One operand on its way.
class StepwiseTask {
public:
  StepwiseTask(const Execution &execution, size_t index, const OperandBuffers &buffers,
               std::span<const Step> contributions)
      : operand(execution, index), buffers(buffers), self(execution.self()), exact(operand.isRaw()),
        came(operand.chunks.count()), pending(operand.chunks.count()),
        whole(exact ? nullptr : execution.scratch.take(operand.wholeBytes())), sent(execution.scratch),
        received(execution.scratch) {
    for (const Step &step : contributions)
      forEachChunk(step.receives, [&](const Transfer &, uint32_t chunk) { ++came[chunk]; });
  }

  /// Encodes what an exchange of contributions sends, and finds memory for what it receives.
  void prepare(const Step &exchange) {
    outgoing.clear();
    if (!exact) {
      uint64_t bytes = 0;
      for (const Transfer &transfer : exchange.sends)
        bytes += bytesOf(operand.begins, chunksOf(transfer));
      std::byte *memory = sent.atLeast(bytes);
      for (const Transfer &transfer : exchange.sends) {
        outgoing.push_back(memory);
        for (uint32_t chunk = transfer.chunk; chunk < transfer.chunk + transfer.count; ++chunk) {
          operand.codec.encodeChunk(kContribution, partialOf(chunk), operand.chunks.begin(chunk),
                                    operand.chunks.size(chunk), memory);
          memory += operand.chunks.payload(chunk);
        }
      }
    } else {
      // All chunks of a transfer have come the same way: they are in one buffer.
      for (const Transfer &transfer : exchange.sends)
        outgoing.push_back(partialOf(transfer.chunk));
    }
    if (std::ranges::all_of(pending, [](const auto &payloads) { return payloads.empty(); }))
      received.clear(); // all that came before is added up
    incoming.clear();
    for (const Transfer &transfer : exchange.receives)
      incoming.push_back(received.take(bytesOf(operand.begins, chunksOf(transfer))));
  }

  /// Returns the memory of a range of the chunks of transfer `index` of the exchange.
  std::span<const std::byte> sends(const Transfer &transfer, size_t index, ChunkRange range) const {
    return {outgoing[index] + bytesOf(operand.begins, {transfer.chunk, range.begin}),
            bytesOf(operand.begins, range)};
  }
  std::span<std::byte> receives(const Transfer &transfer, size_t index, ChunkRange range) const {
    return {incoming[index] + bytesOf(operand.begins, {transfer.chunk, range.begin}),
            bytesOf(operand.begins, range)};
  }

  /// Adds up the chunks of which all contributions to this rank have come.
  Status reduce(const Step &exchange) {
    for (size_t i = 0; i < exchange.receives.size(); ++i) {
      const Transfer &transfer = exchange.receives[i];
      for (uint32_t chunk = transfer.chunk; chunk < transfer.chunk + transfer.count; ++chunk) {
        pending[chunk].push_back({incoming[i] + bytesOf(operand.begins, {transfer.chunk, chunk}),
                                  operand.execution.group.ranks[transfer.from]});
        if (pending[chunk].size() < came[chunk])
          continue;
        const uint64_t first = operand.chunks.beginByte(chunk);
        if (Status status = operand.codec.accumulateChunk(
                buffers.input + first, pending[chunk], operand.chunks.size(chunk),
                chunk == self ? operand.execution.divisor() : 1, buffers.output + first);
            !status.ok())
          return status;
        pending[chunk].clear();
      }
    }
    return Status();
  }

  /// Encodes this rank's result.
  void compressResult() const {
    if (!exact)
      operand.compressResult(buffers.output + operand.chunks.beginByte(self),
                             whole + operand.ownResultBegin());
  }

  /// The payloads of results, which are sent and received where they stay.
  std::span<std::byte> results(ChunkRange range) const {
    return {(exact ? buffers.output : whole) + operand.resultBegins[range.begin],
            bytesOf(operand.resultBegins, range)};
  }

  Status finish() const { return exact ? Status() : operand.decompress(whole, buffers.output); }

private:
  /// Memory of which all is given back at once.
  class Pool {
  public:
    explicit Pool(Scratch &scratch) : scratch(scratch) {}
    std::byte *take(uint64_t bytes) {
      if (size - used < bytes) {
        memory = scratch.take(bytes);
        size = bytes;
        used = 0;
      }
      used += bytes;
      return memory + used - bytes;
    }
    void clear() { used = 0; }

  private:
    Scratch &scratch;
    std::byte *memory = nullptr;
    uint64_t size = 0, used = 0;
  };

  static uint64_t bytesOf(const std::vector<uint64_t> &begins, ChunkRange range) {
    return begins[range.end] - begins[range.begin];
  }

  /// This rank's own part of a chunk, or the sum of that and of what has come.
  const std::byte *partialOf(uint32_t chunk) const {
    return (came[chunk] == 0 ? buffers.input : buffers.output) + operand.chunks.beginByte(chunk);
  }

  AllReduceOperand operand;
  OperandBuffers buffers;
  uint32_t self;
  bool exact;                 ///< then a chunk is its own payload, and the output that of all
  std::vector<uint32_t> came; ///< how many contributions to each chunk this rank receives
  std::vector<std::vector<OperandCodec::PeerPayload>> pending; ///< received and not added up, of each chunk
  std::byte *whole;
  ScratchRoom sent;
  Pool received;
  std::vector<const std::byte *> outgoing; ///< what each transfer of the exchange sends
  std::vector<std::byte *> incoming;
};

/// Exchanges what `sends` and `receives` give of each operand, transfer and range of chunks. All chunks of a
/// transfer are one message, but for payloads that vary in size, of which each is.
template <typename Sends, typename Receives>
Status exchangeRanges(Execution &execution, size_t operands, const Step &exchange, uint32_t phase,
                      Sends sends, Receives receives) {
  const bool areFixed = std::ranges::all_of(execution.collective.operands, [&](const OperandInfo &operand) {
    return cgx_payload_is_fixed(&operand.codecOf(phase));
  });
  uint32_t rounds = 1;
  for (const std::vector<Transfer> *transfers : {&exchange.sends, &exchange.receives})
    for (const Transfer &transfer : *transfers)
      rounds = std::max(rounds, areFixed ? 1 : transfer.count);
  for (uint32_t round = 0; round < rounds; ++round) {
    const auto rangeOf = [&](const Transfer &transfer) {
      if (areFixed)
        return chunksOf(transfer);
      const uint32_t begin = transfer.chunk + std::min(round, transfer.count);
      return ChunkRange{begin, std::min(begin + 1, chunksOf(transfer).end)};
    };
    std::vector<Traffic> traffic(operands, Traffic(execution.group.size()));
    for (size_t operand = 0; operand < operands; ++operand) {
      for (size_t i = 0; i < exchange.sends.size(); ++i)
        traffic[operand].send[exchange.sends[i].to] = sends(operand, i, rangeOf(exchange.sends[i]));
      for (size_t i = 0; i < exchange.receives.size(); ++i)
        traffic[operand].receive[exchange.receives[i].from] =
            receives(operand, i, rangeOf(exchange.receives[i]));
    }
    if (Status status = cgx::exchange(execution, traffic, phase, kAllOperands); !status.ok())
      return status;
  }
  return Status();
}

} // namespace

Status runStepwiseAllReduce(Execution &execution, Buffers operands) {
  CollectiveCounters &counters = execution.counters;
  const std::vector<Step> contributions = exchangesOf(execution, kContribution),
                          results = exchangesOf(execution, kResult);
  std::vector<StepwiseTask> tasks;
  for (size_t i = 0; i < operands.size(); ++i)
    tasks.emplace_back(execution, i, operands[i], contributions);
  for (const Step &exchange : contributions) {
    {
      Stopwatch stopwatch(counters.encode);
      for (StepwiseTask &task : tasks)
        task.prepare(exchange);
    }
    const auto sends = [&](size_t operand, size_t i, ChunkRange range) {
      return tasks[operand].sends(exchange.sends[i], i, range);
    };
    const auto receives = [&](size_t operand, size_t i, ChunkRange range) {
      return tasks[operand].receives(exchange.receives[i], i, range);
    };
    if (Status status = exchangeRanges(execution, tasks.size(), exchange, kContribution, sends, receives);
        !status.ok())
      return status;
    Stopwatch stopwatch(counters.decode);
    for (StepwiseTask &task : tasks)
      if (Status status = task.reduce(exchange); !status.ok())
        return status;
  }
  {
    Stopwatch stopwatch(counters.encode);
    for (const StepwiseTask &task : tasks)
      task.compressResult();
  }
  const auto payloads = [&](size_t operand, size_t, ChunkRange range) {
    return tasks[operand].results(range);
  };
  for (const Step &exchange : results)
    if (Status status = exchangeRanges(execution, tasks.size(), exchange, kResult, payloads, payloads);
        !status.ok())
      return status;
  Stopwatch stopwatch(counters.decode);
  for (const StepwiseTask &task : tasks)
    if (Status status = task.finish(); !status.ok())
      return status;
  return Status();
}

} // namespace cgx
