//===-- DeviceAllReduce.cpp - An all-reduce that is encoded on a GPU ------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/DeviceAllReduce.h"

#include "cuda/DeviceUse.h"

#include <algorithm>
#include <cstring>

namespace cgx {

static constexpr uint64_t kChunkAlignment = 256;

/// Whether all pieces of a chunk but the first begin where kernels can write: behind whole words.
static bool arePiecesAligned(const OperandInfo &operand) {
  const uint64_t piece = cgx_piece_elements(&operand.codec);
  return piece == 0 || cgx_payload_bytes(&operand.codec, operand.type, piece) % 8 == 0;
}

bool DeviceAllReduce::takes(const Execution &execution, Buffers operands) {
  const CollectiveInfo &collective = execution.collective;
  if (collective.kind != CollectiveKind::AllReduce || execution.group.size() == 1 ||
      collective.schedule.algorithm > CGX_ALGORITHM_SCATTER_REDUCE_ALLGATHER ||
      (collective.reduction != ReduceKind::Sum && collective.reduction != ReduceKind::Mean))
    return false;
  for (size_t i = 0; i < operands.size(); ++i) {
    const OperandInfo &operand = collective.operands[i];
    if (operand.isExact() || operand.back || operand.errorFeedback ||
        cuda::checkCodec(operand.codec, operand.type) || !cuda::canSum(operand.codec) ||
        cgx_codec_shares_randomness(&operand.codec) || !arePiecesAligned(operand) ||
        cuda::memoryKindOf(operands[i].input) != cuda::MemoryKind::device ||
        cuda::memoryKindOf(operands[i].output) != cuda::MemoryKind::device)
      return false;
  }
  return true;
}

bool DeviceAllReduce::isOf(const Execution &execution, Buffers operands) const {
  for (size_t i = 0; i < codecs.size(); ++i) // plans may change them
    if (std::memcmp(&codecs[i], &execution.collective.operands[i].codec, sizeof(cgx_codec)) != 0)
      return false;
  return std::equal(operands.begin(), operands.end(), buffers.begin(), buffers.end(),
                    [](const OperandBuffers &a, const OperandBuffers &b) {
                      return a.input == b.input && a.output == b.output;
                    });
}

/// Calls visit(first, elements, payload) for the pieces of a chunk: elements from the chunk's first, bytes
/// from its beginning.
template <typename Visit> static void forEachPiece(const AllReduceOperand &of, uint64_t chunk, Visit visit) {
  const uint64_t elements = of.chunks.size(chunk);
  for (uint64_t done = 0, bytes = 0, count = 0; done < elements; done += count) {
    count = std::min(of.codec.pieceElements(elements), elements - done);
    visit(done, count, bytes);
    bytes += of.codec.payloadBytes(count);
  }
}

Status DeviceAllReduce::prepare(const Execution &execution, Buffers operands) {
  buffers.assign(operands.begin(), operands.end());
  payloads.resize(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    const AllReduceOperand operand(execution, i);
    codecs.push_back(operand.codec.info().codec);
    if (Status status = allocate(operand, payloads[i]); !status.ok())
      return status;
    listContribution(operand, i, payloads[i]);
    listOwner(operand, i, payloads[i]);
    listResult(operand, i, payloads[i]);
  }
  if (Status status = statusOf(state.allocate(cuda::MemoryKind::device, sizeof(cuda::StepState)));
      !status.ok())
    return status;
  if (Status status = statusOf(hostState.allocate(cuda::MemoryKind::pinned, sizeof(cuda::StepState)));
      !status.ok())
    return status;
  return makeGroups();
}

Status DeviceAllReduce::allocate(const AllReduceOperand &operand, Payloads &of) {
  of.apart = (operand.chunks.slot() + kChunkAlignment - 1) / kChunkAlignment * kChunkAlignment;
  const uint64_t onDevice = std::max<uint64_t>(of.apart, 1) * operand.chunks.count;
  for (cuda::Memory *memory : {&of.whole, &of.slots, &of.gathered})
    if (Status status = statusOf(memory->allocate(cuda::MemoryKind::device, onDevice)); !status.ok())
      return status;
  if (Status status = statusOf(
          of.hostWhole.allocate(cuda::MemoryKind::pinned, std::max<uint64_t>(operand.wholeBytes(), 1)));
      !status.ok())
    return status;
  return statusOf(
      of.hostSlots.allocate(cuda::MemoryKind::pinned, std::max<uint64_t>(operand.slotsBytes(), 1)));
}

static cuda::EncodedLayer encodedLayer(const AllReduceOperand &operand, uint32_t phase, uint64_t first,
                                       uint64_t elements, std::byte *payload) {
  const OperandInfo &info = operand.codec.info();
  return {.codec = info.codec,
          .type = info.type,
          .elements = elements,
          .firstElement = first,
          .layerId = info.layerId,
          .rank = operand.execution.encoder,
          .phase = phase,
          .payload = payload};
}

void DeviceAllReduce::listContribution(const AllReduceOperand &operand, size_t index, const Payloads &of) {
  for (uint64_t chunk = 0; chunk < operand.chunks.count; ++chunk)
    forEachPiece(operand, chunk, [&](uint64_t first, uint64_t elements, uint64_t bytes) {
      const uint64_t position = operand.chunks.begin(chunk) + first;
      contributions.push_back(
          {encodedLayer(operand, kContribution, position, elements, of.chunk(of.whole, chunk) + bytes),
           buffers[index].input + position * operand.codec.elementBytes()});
    });
}

void DeviceAllReduce::listOwner(const AllReduceOperand &operand, size_t index, const Payloads &of) {
  const Group &group = operand.execution.group;
  const uint32_t self = operand.execution.self();
  forEachPiece(operand, self, [&](uint64_t first, uint64_t elements, uint64_t bytes) {
    cuda::OwnerLayer &owner = owned.emplace_back();
    owner.encoded = encodedLayer(operand, kResult, operand.chunks.begin(self) + first, elements,
                                 of.chunk(of.gathered, self) + bytes);
    if (operand.execution.collective.reduction == ReduceKind::Mean)
      owner.divisor = group.size();
    for (uint32_t position = 0; position < group.size(); ++position) {
      const cuda::Memory &from = position == self ? of.whole : of.slots;
      owner.contributions.push_back(of.chunk(from, position) + bytes);
      ownedSenders.push_back({index, group.ranks[position]});
    }
  });
}

void DeviceAllReduce::listResult(const AllReduceOperand &operand, size_t index, const Payloads &of) {
  const OperandInfo &info = operand.codec.info();
  for (uint64_t chunk = 0; chunk < operand.chunks.count; ++chunk)
    forEachPiece(operand, chunk, [&](uint64_t first, uint64_t elements, uint64_t bytes) {
      std::byte *output =
          buffers[index].output + (operand.chunks.begin(chunk) + first) * operand.codec.elementBytes();
      results.push_back({info.codec, info.type, of.chunk(of.gathered, chunk) + bytes,
                         operand.codec.payloadBytes(elements), elements, output});
      resultSenders.push_back({index, operand.execution.group.ranks[chunk]});
    });
}

Status DeviceAllReduce::makeGroups() {
  cuda::Outcome outcome;
  encode = cuda::makeEncodeGroup(contributions, outcome);
  if (outcome.ok())
    own = cuda::makeOwnerGroup(owned, outcome);
  if (outcome.ok())
    decode = cuda::makeDecodeGroup(results, outcome);
  return statusOf(outcome);
}

Status DeviceAllReduce::putState(const Execution &execution) {
  // Operands of a collective are exchanged together, so they count alike.
  const uint64_t runs = execution.states.empty() ? 0 : execution.states[0].runs;
  *hostState.get<cuda::StepState>() = {execution.seed, execution.step, runs};
  return statusOf(cuda::copy(state.get(), hostState.get(), sizeof(cuda::StepState), stream));
}

Status DeviceAllReduce::run(Execution &execution) {
  CollectiveCounters &counters = execution.counters;
  std::vector<AllReduceOperand> running;
  for (size_t i = 0; i < buffers.size(); ++i) {
    running.emplace_back(execution, i);
    counters.operands[i].rawBytes += running[i].rawBytes();
  }
  if (Status status = scatter(execution, running); !status.ok())
    return status;
  {
    Stopwatch stopwatch(counters.decode);
    if (Status status = reduce(running); !status.ok())
      return status;
  }
  if (Status status = gather(execution, running); !status.ok())
    return status;
  Stopwatch stopwatch(counters.decode);
  return finish(running);
}

Status DeviceAllReduce::scatter(Execution &execution, std::span<const AllReduceOperand> running) {
  std::vector<Traffic> traffic;
  {
    Stopwatch stopwatch(execution.counters.encode);
    if (Status status = putState(execution); !status.ok())
      return status;
    if (Status status = statusOf(encode->run(stream, state.get<cuda::StepState>())); !status.ok())
      return status;
    for (size_t i = 0; i < running.size(); ++i) {
      auto *host = payloads[i].hostWhole.get<std::byte>();
      for (uint64_t chunk = 0; chunk < running[i].chunks.count; ++chunk)
        if (chunk != execution.self())
          if (Status status = statusOf(cuda::copy(host + running[i].begins[chunk],
                                                  payloads[i].chunk(payloads[i].whole, chunk),
                                                  running[i].chunks.payload(chunk), stream));
              !status.ok())
            return status;
      traffic.push_back(running[i].scatterTraffic(host, payloads[i].hostSlots.get<std::byte>()));
    }
    if (Status status = statusOf(cuda::waitFor(stream)); !status.ok())
      return status;
  }
  return exchange(execution, traffic, kContribution, kAllOperands);
}

Status DeviceAllReduce::reduce(std::span<const AllReduceOperand> running) {
  for (size_t i = 0; i < running.size(); ++i) {
    const AllReduceOperand &operand = running[i];
    const uint32_t self = operand.execution.self();
    for (uint32_t position = 0; position < operand.execution.group.size(); ++position)
      if (position != self)
        if (Status status =
                statusOf(cuda::copy(payloads[i].chunk(payloads[i].slots, position),
                                    payloads[i].hostSlots.get<std::byte>() + position * operand.chunks.slot(),
                                    operand.ownPayload(), stream));
            !status.ok())
          return status;
  }
  if (Status status = statusOf(own->run(stream, state.get<cuda::StepState>())); !status.ok())
    return status;
  for (size_t i = 0; i < running.size(); ++i) {
    const uint32_t self = running[i].execution.self();
    if (Status status = statusOf(cuda::copy(payloads[i].hostWhole.get<std::byte>() + running[i].ownBegin(),
                                            payloads[i].chunk(payloads[i].gathered, self),
                                            running[i].ownPayload(), stream));
        !status.ok())
      return status;
  }
  return check(*own, ownedSenders, running);
}

Status DeviceAllReduce::gather(Execution &execution, std::span<const AllReduceOperand> running) {
  std::vector<Traffic> traffic;
  for (size_t i = 0; i < running.size(); ++i) {
    auto *host = payloads[i].hostWhole.get<std::byte>();
    traffic.push_back(running[i].gatherTraffic(host + running[i].ownBegin(), host));
  }
  return exchange(execution, traffic, kResult, kAllOperands);
}

Status DeviceAllReduce::finish(std::span<const AllReduceOperand> running) {
  for (size_t i = 0; i < running.size(); ++i)
    for (uint64_t chunk = 0; chunk < running[i].chunks.count; ++chunk)
      if (chunk != running[i].execution.self())
        if (Status status =
                statusOf(cuda::copy(payloads[i].chunk(payloads[i].gathered, chunk),
                                    payloads[i].hostWhole.get<std::byte>() + running[i].begins[chunk],
                                    running[i].chunks.payload(chunk), stream));
            !status.ok())
          return status;
  if (Status status = statusOf(decode->run(stream, nullptr)); !status.ok())
    return status;
  return check(*decode, resultSenders, running);
}

Status DeviceAllReduce::check(cuda::Group &group, const std::vector<Sender> &senders,
                              std::span<const AllReduceOperand> running) {
  std::vector<DecodeError> errors;
  if (Status status = statusOf(group.results(stream, errors)); !status.ok())
    return status;
  for (size_t i = 0; i < errors.size(); ++i)
    if (errors[i] != DecodeError::ok)
      return Status::error(CGX_BAD_PAYLOAD, "layer '", running[senders[i].operand].codec.info().layer,
                           "', payload of rank ", senders[i].rank, ": ", decodeErrorText(errors[i]));
  return Status();
}

} // namespace cgx
