//===-- collective/AllReduce.cpp - Scatter-reduce-allgather ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "collective/AllReduce.h"
#include "AllReduceAlgorithms.h"
#include "PipelinedAllReduce.h"

#include <cstring>

namespace cgx {

void AllReduceOperand::compressContribution(const std::byte *tensor, std::byte *whole) const {
  for (uint64_t chunk = 0; chunk < chunks.count(); ++chunk)
    codec.encodeChunk(kContribution, tensor + chunks.beginByte(chunk), chunks.begin(chunk),
                      chunks.size(chunk), whole + begins[chunk]);
}

void AllReduceOperand::compressResult(const std::byte *chunk, std::byte *payload) const {
  resultCodec.encodeChunk(kResult, chunk, chunks.begin(execution.self()), chunks.size(execution.self()),
                          payload);
}

Traffic AllReduceOperand::scatterTraffic(const std::byte *whole, std::byte *slots) const {
  return stepTraffic(
      execution, kContribution, /*step=*/0,
      [&](uint32_t chunk) { return std::span(whole + begins[chunk], chunks.payload(chunk)); },
      [&](uint32_t from, uint32_t chunk) {
        return std::span(slots + from * chunks.slot(), chunks.payload(chunk));
      });
}

Traffic AllReduceOperand::gatherTraffic(const std::byte *payload, std::byte *whole) const {
  return stepTraffic(
      execution, kResult, /*step=*/0,
      [&](uint32_t chunk) { return std::span(payload, resultChunks.payload(chunk)); },
      [&](uint32_t, uint32_t chunk) {
        return std::span(whole + resultBegins[chunk], resultChunks.payload(chunk));
      });
}

Status AllReduceOperand::reduceOwn(const std::byte *slots, std::byte *chunk) const {
  std::vector<const std::byte *> payloads;
  for (uint32_t position = 0; position < execution.group.size(); ++position)
    payloads.push_back(slots + position * chunks.slot());
  return codec.reduceChunk(payloads, chunks.size(execution.self()), chunk);
}

Status AllReduceOperand::decompress(const std::byte *whole, std::byte *tensor) const {
  for (uint32_t chunk = 0; chunk < chunks.count(); ++chunk) {
    std::span<const std::byte> payload(whole + resultBegins[chunk], resultChunks.payload(chunk));
    if (Status status = resultCodec.decodeChunk(payload, execution.group.ranks[chunk], chunks.size(chunk),
                                                tensor + chunks.beginByte(chunk));
        !status.ok())
      return status;
  }
  return Status();
}

namespace {

/// An operand of runAllReduce and its payloads. Exact operands have none: their tensors
/// are sent from and received into where they are.
class ChunkedTask {
public:
  ChunkedTask(const Execution &execution, size_t index, const OperandBuffers &buffers)
      : operand(execution, index), buffers(buffers), self(execution.self()), exact(operand.isRaw()),
        slots(execution.scratch.take(operand.slotsBytes())),
        whole(exact ? nullptr : execution.scratch.take(operand.wholeBytes())) {}

  /// Encodes the contributions and says where they go.
  Traffic scatter() const {
    if (!exact)
      operand.compressContribution(buffers.input, whole);
    return operand.scatterTraffic(exact ? buffers.input : whole, slots);
  }

  /// Reduces this rank's chunk into its place in the output.
  Status reduce(const Execution &execution) const {
    std::vector<const std::byte *> payloads;
    for (uint32_t position = 0; position < execution.group.size(); ++position)
      payloads.push_back(slots + position * operand.chunks.slot());
    payloads[self] = (exact ? buffers.input : whole) + operand.ownBegin();
    uint64_t bytes = operand.chunks.bytes(self);
    // In place, the exact sum would overwrite this rank's own contribution.
    bool overwrites = ownOutput() == payloads[self] && bytes != 0;
    std::byte *sum = overwrites ? execution.scratch.take(bytes) : ownOutput();
    Status status = operand.codec.reduceChunk(payloads, operand.chunks.size(self), sum);
    if (overwrites)
      std::memcpy(ownOutput(), sum, bytes);
    return status;
  }

  /// Encodes the result and says where it goes. The contributions' memory is free now.
  Traffic gather() const {
    if (exact)
      return operand.gatherTraffic(ownOutput(), buffers.output);
    operand.compressResult(ownOutput(), whole + operand.ownResultBegin());
    return operand.gatherTraffic(whole + operand.ownResultBegin(), whole);
  }

  Status finish() const { return exact ? Status() : operand.decompress(whole, buffers.output); }

  AllReduceOperand operand;

private:
  std::byte *ownOutput() const { return buffers.output + operand.chunks.beginByte(self); }

  OperandBuffers buffers;
  uint32_t self;
  bool exact; ///< then a tensor is its own whole payload, and needs no other
  std::byte *slots;
  std::byte *whole;
};

} // namespace

static std::vector<ChunkedTask> makeTasks(const Execution &execution, Buffers operands) {
  std::vector<ChunkedTask> tasks;
  for (size_t i = 0; i < operands.size(); ++i)
    tasks.emplace_back(execution, i, operands[i]);
  return tasks;
}

static Status scatterReduce(Execution &execution, std::span<const ChunkedTask> tasks) {
  std::vector<Traffic> traffic;
  {
    Stopwatch stopwatch(execution.counters.encode);
    for (const ChunkedTask &operand : tasks)
      traffic.push_back(operand.scatter());
  }
  if (Status status = exchange(execution, traffic, kContribution, kAllOperands); !status.ok())
    return status;
  Stopwatch stopwatch(execution.counters.decode);
  for (const ChunkedTask &operand : tasks)
    if (Status status = operand.reduce(execution); !status.ok())
      return status;
  return Status();
}

static Status gatherChunks(Execution &execution, std::span<const ChunkedTask> tasks) {
  std::vector<Traffic> traffic;
  {
    Stopwatch stopwatch(execution.counters.encode);
    for (const ChunkedTask &operand : tasks)
      traffic.push_back(operand.gather());
  }
  if (Status status = exchange(execution, traffic, kResult, kAllOperands); !status.ok())
    return status;
  Stopwatch stopwatch(execution.counters.decode);
  for (const ChunkedTask &operand : tasks)
    if (Status status = operand.finish(); !status.ok())
      return status;
  return Status();
}

Status runScatterReduce(Execution &execution, Buffers operands) {
  if (execution.group.size() > 1)
    return scatterReduce(execution, makeTasks(execution, operands));
  for (size_t i = 0; i < operands.size(); ++i)
    copyWhole(execution.collective.operands[i], operands[i]);
  return Status();
}

Status runChunkGather(Execution &execution, Buffers operands) {
  if (execution.group.size() == 1)
    return Status();
  return gatherChunks(execution, makeTasks(execution, operands));
}

Status runScatterReduceAllGather(Execution &execution, Buffers operands) {
  if (canPipelineAllReduce(execution))
    return runPipelinedAllReduce(execution, operands);
  // Phase after phase, for any codec over any transport.
  std::vector<ChunkedTask> tasks = makeTasks(execution, operands);
  if (Status status = scatterReduce(execution, tasks); !status.ok())
    return status;
  return gatherChunks(execution, tasks);
}

} // namespace cgx
