//===-- DeviceAllReduce.cpp - An all-reduce that is encoded on a GPU ------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/DeviceAllReduce.h"

#include "cgx/kernels/cuda_peers.h"
#include "cuda/DeviceUse.h"
#include "cuda/MessageRoute.h"
#include "cuda/PeerRoute.h"

#include <algorithm>

namespace cgx {

/// Whether all pieces of a chunk but the first begin where kernels can write: behind whole words.
static bool arePiecesAligned(const OperandInfo &operand) {
  const uint64_t piece = cgx_piece_elements(&operand.codec);
  return piece == 0 || cgx_payload_bytes(&operand.codec, operand.type, piece) % 8 == 0;
}

bool DeviceAllReduce::takes(const Execution &execution) {
  const CollectiveInfo &collective = execution.collective;
  if (collective.kind != CollectiveKind::AllReduce || execution.group.size() == 1 ||
      collective.schedule.algorithm > CGX_ALGORITHM_SCATTER_REDUCE_ALLGATHER ||
      (collective.reduction != ReduceKind::Sum && collective.reduction != ReduceKind::Mean))
    return false;
  for (size_t i = 0; i < collective.operands.size(); ++i) {
    const OperandInfo &operand = collective.operands[i];
    const bool isFloat = operand.type == CGX_F32 || operand.type == CGX_F16 || operand.type == CGX_BF16;
    if (!isFloat || operand.back || cuda::checkCodec(operand.codec, operand.type) ||
        !arePiecesAligned(operand))
      return false;
    if (operand.errorFeedback && !DeviceResidual::fit(AllReduceOperand(execution, i), execution.states[i]))
      return false;
  }
  return true;
}

static std::vector<AllReduceOperand> operandsOf(const Execution &execution) {
  std::vector<AllReduceOperand> operands;
  for (size_t i = 0; i < execution.collective.operands.size(); ++i)
    operands.emplace_back(execution, i);
  return operands;
}

/// The shortest way for payloads that the group has: NCCL where it was asked for, then memory that all see.
static Result<std::unique_ptr<PayloadRoute>> chooseRoute(const Execution &execution,
                                                         RunningOperands operands) {
  const std::vector<uint32_t> &ranks = execution.group.ranks;
  const DeviceLink *link = execution.transport.deviceLink();
  if (!link || !std::all_of(ranks.begin(), ranks.end(), [&](uint32_t rank) { return link->reaches(rank); })) {
    Result<std::unique_ptr<PayloadRoute>> route = PeerRoute::make(execution, operands);
    if (!route.ok() || *route)
      return route;
  }
  return MessageRoute::make(execution, operands);
}

Result<std::unique_ptr<ResidentCollective>> DeviceAllReduce::make(const Execution &execution,
                                                                  cuda::Stream stream) {
  std::unique_ptr<DeviceAllReduce> made(new DeviceAllReduce);
  Result<std::unique_ptr<PayloadRoute>> route = chooseRoute(execution, operandsOf(execution));
  if (!route.ok())
    return route.status();
  made->route = std::move(*route);
  if (Status status = made->step.make(); !status.ok())
    return status;
  if (Status status = made->makeResiduals(execution, stream); !status.ok())
    return status;
  return std::unique_ptr<ResidentCollective>(std::move(made));
}

Status DeviceAllReduce::makeResiduals(const Execution &execution, cuda::Stream stream) {
  for (size_t i = 0; i < execution.collective.operands.size(); ++i) {
    if (!execution.collective.operands[i].errorFeedback)
      continue;
    OperandState &state = execution.states[i];
    for (auto [onDevice, onHost] : {std::pair(&residuals[i].contribution, &*state.contribution),
                                    {&residuals[i].result, &*state.result}})
      if (Status status = onDevice->make(*onHost, stream); !status.ok())
        return status;
  }
  return Status();
}

Status DeviceAllReduce::fetchState(cuda::Stream stream) {
  if (!lead.end())
    return Status();
  for (const auto &[operand, of] : residuals)
    for (const DeviceResidual *residual : {&of.contribution, &of.result})
      if (Status status = residual->fetch(stream); !status.ok())
        return status;
  return statusOf(cuda::waitFor(stream));
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

static cuda::EncodedLayer encodedLayer(const AllReduceOperand &operand, uint32_t phase, uint64_t first,
                                       uint64_t elements, std::byte *payload) {
  const OperandInfo &info = operand.codec.info();
  const bool isShared = cgx_codec_shares_randomness(&info.codec);
  return {.codec = info.codec,
          .type = info.type,
          .elements = elements,
          .firstElement = first,
          .layerId = info.layerId,
          .rank = isShared ? 0 : operand.execution.encoder,
          .phase = isShared ? 0 : phase,
          .payload = payload};
}

static float decayOf(const AllReduceOperand &operand) { return operand.codec.info().errorFeedback->decay; }

void DeviceAllReduce::listContribution(const AllReduceOperand &operand, size_t index,
                                       std::vector<cuda::EncodeLayer> &list) const {
  for (uint32_t chunk = 0; chunk < operand.chunks.count; ++chunk)
    forEachPiece(operand, chunk, [&](uint64_t first, uint64_t elements, uint64_t bytes) {
      const uint64_t position = operand.chunks.begin(chunk) + first;
      cuda::EncodeLayer &layer = list.emplace_back();
      layer.encoded =
          encodedLayer(operand, kContribution, position, elements, route->contribution(index, chunk) + bytes);
      layer.encoded.optimizer = lent.of(index);
      layer.input = buffers[index].input + position * operand.codec.elementBytes();
      if (auto kept = residuals.find(index); kept != residuals.end())
        layer.encoded.feedback = kept->second.contribution.from(position, decayOf(operand));
    });
}

void DeviceAllReduce::listOwner(const AllReduceOperand &operand, size_t index,
                                std::vector<cuda::OwnerLayer> &list) {
  const Group &group = operand.execution.group;
  const uint32_t self = operand.execution.self();
  forEachPiece(operand, self, [&](uint64_t first, uint64_t elements, uint64_t bytes) {
    cuda::OwnerLayer &owner = list.emplace_back();
    owner.encoded = encodedLayer(operand, kResult, operand.chunks.begin(self) + first, elements,
                                 route->ownResult(index) + bytes);
    owner.encoded.optimizer = lent.of(index);
    if (auto kept = residuals.find(index); kept != residuals.end())
      owner.encoded.feedback = kept->second.result.from(operand.chunks.begin(self) + first, decayOf(operand));
    if (operand.execution.collective.reduction == ReduceKind::Mean)
      owner.divisor = group.size();
    for (uint32_t position = 0; position < group.size(); ++position) {
      owner.contributions.push_back(route->received(index, position) + bytes);
      ownedSenders.push_back({index, group.ranks[position]});
    }
  });
}

void DeviceAllReduce::listResult(const AllReduceOperand &operand, size_t index,
                                 std::vector<cuda::DecodeLayer> &list) {
  const OperandInfo &info = operand.codec.info();
  for (uint32_t chunk = 0; chunk < operand.chunks.count; ++chunk)
    forEachPiece(operand, chunk, [&](uint64_t first, uint64_t elements, uint64_t bytes) {
      std::byte *output =
          buffers[index].output + (operand.chunks.begin(chunk) + first) * operand.codec.elementBytes();
      list.push_back({info.codec, info.type, route->result(index, chunk) + bytes,
                      operand.codec.payloadBytes(elements), elements, output});
      resultSenders.push_back({index, operand.execution.group.ranks[chunk]});
    });
}

Status DeviceAllReduce::makeKernels(RunningOperands running) {
  ownedSenders.clear();
  resultSenders.clear();
  std::vector<cuda::EncodeLayer> contributions;
  std::vector<cuda::OwnerLayer> owned;
  std::vector<cuda::DecodeLayer> results;
  for (size_t i = 0; i < running.size(); ++i) {
    listContribution(running[i], i, contributions);
    listOwner(running[i], i, owned);
    listResult(running[i], i, results);
  }
  cuda::Outcome outcome;
  encode = cuda::makeEncodeGroup(contributions, outcome);
  if (outcome.ok())
    own = cuda::makeOwnerGroup(owned, outcome);
  if (outcome.ok())
    decode = cuda::makeDecodeGroup(results, outcome);
  return statusOf(outcome);
}

Status DeviceAllReduce::put(Execution &execution, Buffers operands, cuda::Stream stream) {
  CollectiveCounters &counters = execution.counters;
  const std::vector<AllReduceOperand> running = operandsOf(execution);
  {
    Stopwatch stopwatch(counters.encode);
    Result<bool> isElsewhere = lent.bring(execution, /*toDevice=*/true, stream);
    if (!isElsewhere.ok())
      return isElsewhere.status();
    if (*isElsewhere)
      buffers.forget();
    if (Status status = buffers.bind(operands, stream, [&] { return makeKernels(running); }); !status.ok())
      return status;
    if (Status status = step.put(execution, stream); !status.ok())
      return status;
    lead.change(cuda::isCapturing(stream));
    if (Status status = statusOf(encode->run(stream, step.get())); !status.ok())
      return status;
  }
  if (Status status = route->scatter(execution, running, stream); !status.ok())
    return status;
  {
    Stopwatch stopwatch(counters.decode);
    if (Status status = statusOf(own->run(stream, step.get())); !status.ok())
      return status;
  }
  if (Status status = route->gather(execution, running, stream); !status.ok())
    return status;
  Stopwatch stopwatch(counters.decode);
  return statusOf(decode->run(stream, nullptr));
}

Status DeviceAllReduce::check(const CollectiveInfo &collective, cuda::Stream stream) {
  if (!decode)
    return Status();
  if (Status status = check(*own, ownedSenders, collective, stream); !status.ok())
    return status;
  return check(*decode, resultSenders, collective, stream);
}

Status DeviceAllReduce::check(cuda::Group &group, const std::vector<Sender> &senders,
                              const CollectiveInfo &collective, cuda::Stream stream) {
  std::vector<DecodeError> errors;
  if (Status status = statusOf(group.results(stream, errors)); !status.ok())
    return status;
  for (size_t i = 0; i < errors.size(); ++i)
    if (errors[i] != DecodeError::ok)
      return Status::error(CGX_BAD_PAYLOAD, "layer '", collective.operands[senders[i].operand].layer,
                           "', payload of rank ", senders[i].rank, ": ", decodeErrorText(errors[i]));
  return Status();
}

} // namespace cgx
