//===-- collective/ExplicitForm.cpp - An all-reduce, call by call -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "collective/ExplicitForm.h"

#include "collective/DeviceExecutor.h"

#include <cstring>

namespace cgx {

ExplicitBytes explicitBytes(const AllReduceOperand &operand, ExplicitCall call) {
  const uint64_t tensor = operand.chunks.elements * operand.codec.elementBytes(),
                 chunk = operand.chunks.bytes(operand.execution.self());
  switch (call) {
  case ExplicitCall::CompressContribution:
    return {tensor, operand.begins.back()};
  case ExplicitCall::PayloadAllToAll:
    return {operand.begins.back(), operand.slotsBytes()};
  case ExplicitCall::DecompressAccumulate:
    return {operand.slotsBytes(), chunk};
  case ExplicitCall::CompressResult:
    return {chunk, operand.ownResultPayload()};
  case ExplicitCall::PayloadAllGather:
    return {operand.ownResultPayload(), operand.resultBegins.back()};
  case ExplicitCall::Decompress:
    break;
  }
  return {operand.resultBegins.back(), tensor};
}

static void copyBytes(std::byte *output, const std::byte *input, uint64_t bytes) {
  if (bytes != 0 && output != input)
    std::memcpy(output, input, bytes);
}

Status runExplicitOnHost(Execution &execution, const ExplicitStep &step) {
  const AllReduceOperand operand(execution, step.operand);
  const auto &[input, output] = step.buffers;
  const auto bring = [&](const Traffic &traffic, uint32_t phase) {
    return exchange(execution, {&traffic, 1}, phase, uint32_t(1 + step.operand), step.operand);
  };
  switch (step.call) {
  case ExplicitCall::CompressContribution:
    operand.compressContribution(input, output);
    return Status();
  case ExplicitCall::PayloadAllToAll:
    copyBytes(output + operand.ownSlot(), input + operand.ownBegin(), operand.ownPayload());
    return bring(operand.scatterTraffic(input, output), kContribution);
  case ExplicitCall::DecompressAccumulate:
    return operand.reduceOwn(input, output);
  case ExplicitCall::CompressResult:
    operand.compressResult(input, output);
    return Status();
  case ExplicitCall::PayloadAllGather:
    copyBytes(output + operand.ownResultBegin(), input, operand.ownResultPayload());
    return bring(operand.gatherTraffic(input, output), kResult);
  case ExplicitCall::Decompress:
    break;
  }
  return operand.decompress(input, output);
}

/// Counts a call. The calls of all operands together are one run of the collective.
static void count(Execution &execution, const ExplicitStep &step) {
  if (step.call == ExplicitCall::PayloadAllToAll) {
    if (step.operand == 0)
      ++execution.counters.runs;
    const cgx_codec exact{};
    const OperandInfo &operand = execution.collective.operands[step.operand];
    execution.counters.operands[step.operand].rawBytes += cgx_pattern_wire_bytes(
        &execution.pattern, &exact, &exact, operand.type, operand.elements, execution.self());
  } else if (step.call == ExplicitCall::PayloadAllGather) {
    ++execution.states[step.operand].runs; // nothing is encoded behind this
  }
}

static Status runWhereItLies(Execution &execution, const ExplicitStep &step) {
  if (!execution.device)
    return runExplicitOnHost(execution, step);
  return execution.device->runExplicit(execution, step);
}

Status runExplicit(Execution &execution, const ExplicitStep &step) {
  const cgx_collective phases{.kind = CGX_ALL_REDUCE, .ranks = execution.group.size()};
  execution.pattern = cgx_pattern_of(&phases); // the phases of AllReduce.h, whatever the algorithm
  count(execution, step);
  if (isExchange(step.call)) // has a stopwatch of its own
    return runWhereItLies(execution, step);
  Stopwatch stopwatch(isCompress(step.call) ? execution.counters.encode : execution.counters.decode);
  return runWhereItLies(execution, step);
}

} // namespace cgx
