//===-- DeviceExplicitForm.cpp - An all-reduce on a GPU, call by call -----===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/DeviceExplicitForm.h"

#include "collective/WideReduction.h"
#include "cuda/DeviceUse.h"
#include "cuda/StreamWait.h"

namespace cgx {

namespace {

/// A payload in the buffer of a call: a piece of a chunk.
struct Payload {
  uint64_t first, elements; ///< from the operand's first
  Extent extent;
  uint32_t sender; ///< a rank
};

} // namespace

/// All that a call reads or writes, chunk by chunk, or slot by slot.
static std::vector<Payload> payloadsOf(const AllReduceOperand &operand, ExplicitCall call) {
  std::vector<Payload> payloads;
  const auto add = [&](uint64_t chunk, uint64_t begin, uint32_t position) {
    const uint64_t first = operand.chunks.begin(chunk);
    operand.codec.forEachPiece(operand.chunks.size(chunk), [&](const OperandCodec::Piece &piece) {
      payloads.push_back({first + piece.first,
                          piece.elements,
                          {begin + piece.begin, piece.bytes},
                          operand.execution.group.ranks[position]});
    });
  };
  const uint32_t self = operand.execution.self();
  if (call == ExplicitCall::CompressResult)
    add(self, 0, self);
  for (uint32_t position = 0; position < operand.chunks.count; ++position) {
    if (call == ExplicitCall::DecompressAccumulate)
      add(self, position * operand.chunks.slot(), position);
    else if (call != ExplicitCall::CompressResult)
      add(position, operand.begins[position], position);
  }
  return payloads;
}

/// The element of the operand that the buffer of elements begins with.
static uint64_t firstElement(const AllReduceOperand &operand, ExplicitCall call) {
  const bool isTensor = call == ExplicitCall::CompressContribution || call == ExplicitCall::Decompress;
  return isTensor ? 0 : operand.chunks.begin(operand.execution.self());
}

/// Whether there are kernels for a call whose buffers lie on a GPU.
static bool hasKernels(const AllReduceOperand &operand, const ExplicitStep &step) {
  const Execution &execution = operand.execution;
  const OperandInfo &info = operand.codec.info();
  const std::byte *elements = isCompress(step.call) ? step.buffers.input : step.buffers.output;
  if (isExchange(step.call) || !hasKernels(info) ||
      reinterpret_cast<uintptr_t>(elements) % operand.codec.elementBytes() != 0)
    return false;
  if (isCompress(step.call))
    return !info.errorFeedback || DeviceResidual::fit(operand, execution.states[step.operand]);
  return step.call == ExplicitCall::Decompress || isLinear(execution.collective.reduction) || info.isRaw();
}

Status DeviceExplicitForm::run(Execution &execution, const ExplicitStep &step, cuda::Stream stream) {
  const AllReduceOperand operand(execution, step.operand);
  const bool isInputHere = isOnDevice(step.buffers.input), isOutputHere = isOnDevice(step.buffers.output);
  if (isInputHere && isOutputHere && hasKernels(operand, step))
    return runKernels(operand, step, stream);
  if (auto known = residents.find({execution.collective.id, step.operand});
      known != residents.end() && isCompress(step.call)) {
    Status status = waitForStream(execution.transport, execution.timeout, stream);
    if (status.ok())
      status = fetch(known->second, stream);
    if (!status.ok())
      return status;
    residents.erase(known);
  }
  if (!isInputHere && !isOutputHere)
    return runExplicitOnHost(execution, step);
  return runStaged(execution, step, explicitBytes(operand, step.call), stream);
}

Result<DeviceExplicitForm::Resident *> DeviceExplicitForm::residentFor(const AllReduceOperand &operand,
                                                                       const Key &key, cuda::Stream stream) {
  if (auto known = residents.find(key); known != residents.end())
    return &known->second;
  // CUDA may wait for the stream to take or give memory, and knows nothing of ranks that are gone.
  Status status = waitForStream(operand.execution.transport, operand.execution.timeout, stream);
  Resident made;
  if (status.ok())
    status = made.step.make();
  if (!status.ok())
    return status;
  const OperandInfo &info = operand.codec.info();
  OperandState &state = operand.execution.states[key.second];
  for (auto [onDevice, onHost] : {std::pair(&made.residuals.contribution, &state.contribution),
                                  {&made.residuals.result, &state.result}})
    if (info.errorFeedback && *onHost && !info.isRaw())
      if (status = onDevice->emplace().make(**onHost, stream); !status.ok())
        return status;
  return &residents.emplace(key, std::move(made)).first->second;
}

/// How a payload is encoded, with error feedback if the operand has some.
static cuda::EncodedLayer encodedLayer(const AllReduceOperand &operand, uint32_t phase,
                                       const Payload &payload, std::byte *memory,
                                       const DeviceResidual *residual) {
  const OperandInfo &info = operand.codec.info();
  const bool isShared = cgx_codec_shares_randomness(&info.codec);
  cuda::EncodedLayer layer = {.codec = info.codec,
                              .type = info.type,
                              .elements = payload.elements,
                              .firstElement = payload.first,
                              .layerId = info.layerId,
                              .rank = isShared ? 0 : operand.execution.encoder,
                              .phase = isShared ? 0 : phase,
                              .payload = memory};
  if (residual)
    layer.feedback = residual->from(payload.first, info.errorFeedback->decay);
  return layer;
}

Status DeviceExplicitForm::makeKernels(const AllReduceOperand &operand, const ExplicitStep &step,
                                       const OperandResiduals &residuals, Kernels &kernels,
                                       cuda::Stream stream) {
  if (Status status = waitForStream(operand.execution.transport, operand.execution.timeout, stream);
      !status.ok())
    return status;
  kernels.group.reset();
  kernels.senders.clear();
  const std::vector<Payload> payloads = payloadsOf(operand, step.call);
  std::vector<Extent> extents;
  for (const Payload &payload : payloads)
    extents.push_back(payload.extent);
  const auto &[input, output] = step.buffers;
  if (Status status = kernels.payloads.make(isCompress(step.call) ? output : input, std::move(extents));
      !status.ok() || payloads.empty())
    return status;

  const Execution &execution = operand.execution;
  const OperandInfo &info = operand.codec.info();
  const auto byteOf = [&](const Payload &payload) {
    return (payload.first - firstElement(operand, step.call)) * operand.codec.elementBytes();
  };
  cuda::Outcome outcome;
  if (isCompress(step.call)) {
    const uint32_t phase = step.call == ExplicitCall::CompressResult ? kResult : kContribution;
    std::vector<cuda::EncodeLayer> layers;
    for (size_t i = 0; i < payloads.size(); ++i)
      layers.push_back(
          {encodedLayer(operand, phase, payloads[i], kernels.payloads.at(i, output), residuals.of(phase)),
           input + byteOf(payloads[i])});
    kernels.group = cuda::makeEncodeGroup(layers, outcome);
  } else if (step.call == ExplicitCall::Decompress) {
    std::vector<cuda::DecodeLayer> layers;
    for (size_t i = 0; i < payloads.size(); ++i) {
      layers.push_back({info.codec, info.type, kernels.payloads.at(i, input), payloads[i].extent.bytes,
                        payloads[i].elements, output + byteOf(payloads[i])});
      kernels.senders.push_back(payloads[i].sender);
    }
    kernels.group = cuda::makeDecodeGroup(layers, outcome);
  } else {
    // Slot by slot they lie, piece by piece they are added up.
    std::vector<cuda::ReduceLayer> layers(payloads.size() / operand.chunks.count);
    for (size_t piece = 0; piece < layers.size(); ++piece) {
      cuda::ReduceLayer &layer = layers[piece];
      layer.codec = info.codec;
      layer.type = info.type;
      layer.elements = payloads[piece].elements;
      layer.divisor = execution.collective.reduction == ReduceKind::Mean ? uint32_t(operand.chunks.count) : 1;
      layer.reduction = kernelReduction(execution.collective.reduction);
      layer.output = output + byteOf(payloads[piece]);
      for (size_t i = piece; i < payloads.size(); i += layers.size()) {
        layer.contributions.push_back(kernels.payloads.at(i, input));
        kernels.senders.push_back(payloads[i].sender);
      }
    }
    kernels.group = cuda::makeReduceGroup(layers, outcome);
  }
  return statusOf(outcome);
}

/// Why a payload was refused, as on the host.
static Status check(const OperandInfo &info, cuda::Group &group, const std::vector<uint32_t> &senders,
                    cuda::Stream stream) {
  std::vector<DecodeError> errors;
  if (Status status = statusOf(group.results(stream, errors)); !status.ok())
    return status;
  for (size_t i = 0; i < errors.size(); ++i)
    if (errors[i] != DecodeError::ok)
      return Status::error(CGX_BAD_PAYLOAD, "layer '", info.layer, "', payload of rank ", senders[i], ": ",
                           decodeErrorText(errors[i]));
  return Status();
}

Status DeviceExplicitForm::runKernels(const AllReduceOperand &operand, const ExplicitStep &step,
                                      cuda::Stream stream) {
  const Execution &execution = operand.execution;
  Result<Resident *> found = residentFor(operand, {execution.collective.id, step.operand}, stream);
  if (!found.ok())
    return found.status();
  Resident &resident = **found;
  Kernels &kernels = resident.kernels[step.call];
  if (Status status = kernels.buffers.bind(
          {&step.buffers, 1}, stream,
          [&] { return makeKernels(operand, step, resident.residuals, kernels, stream); });
      !status.ok() || !kernels.group)
    return status;
  Status status;
  if (isCompress(step.call)) {
    status = resident.step.put({execution.seed, execution.step, execution.states[step.operand].runs}, stream);
    resident.lead.change(/*isCaptured=*/false);
  } else {
    status = kernels.payloads.copyFrom(step.buffers.input, stream);
  }
  if (status.ok())
    status = statusOf(kernels.group->run(stream, resident.step.get()));
  if (status.ok() && isCompress(step.call))
    status = kernels.payloads.copyTo(step.buffers.output, stream);
  if (status.ok())
    status = waitForStream(execution.transport, execution.timeout, stream);
  if (!status.ok() || isCompress(step.call))
    return status;
  return check(operand.codec.info(), *kernels.group, kernels.senders, stream);
}

Status DeviceExplicitForm::runStaged(Execution &execution, const ExplicitStep &step,
                                     const ExplicitBytes &bytes, cuda::Stream stream) {
  const auto &[from, to] = step.buffers;
  const bool isInputHere = isOnDevice(from), isOutputHere = isOnDevice(to);
  if (isInputHere && isOutputHere && isExchange(step.call) && execution.group.size() == 1) {
    if (from != to)
      if (Status status = statusOf(cuda::copy(to, from, bytes.output, stream)); !status.ok())
        return status;
    return waitForStream(execution.transport, execution.timeout, stream);
  }
  for (auto [memory, size] :
       {std::pair(&input, isInputHere ? bytes.input : 0), {&output, isOutputHere ? bytes.output : 0}})
    if (memory->bytes() < size)
      if (Status status = statusOf(memory->allocate(cuda::MemoryKind::pinned, size)); !status.ok())
        return status;
  if (isInputHere)
    if (Status status = statusOf(cuda::copy(input.get(), from, bytes.input, stream)); !status.ok())
      return status;
  // The program's work on the stream may read what is written below.
  if (Status status = waitForStream(execution.transport, execution.timeout, stream); !status.ok())
    return status;
  const OperandBuffers staged = {isInputHere ? input.get<std::byte>() : from,
                                 isOutputHere ? output.get<std::byte>() : to};
  if (Status status = runExplicitOnHost(execution, {step.call, step.operand, staged});
      !status.ok() || !isOutputHere)
    return status;
  if (Status status = statusOf(cuda::copy(to, output.get(), bytes.output, stream)); !status.ok())
    return status;
  return waitForStream(execution.transport, execution.timeout, stream);
}

Status DeviceExplicitForm::fetch(Resident &resident, cuda::Stream stream) {
  if (!resident.lead.end())
    return Status();
  for (const DeviceResidual *residual :
       {resident.residuals.of(kContribution), resident.residuals.of(kResult)})
    if (residual)
      if (Status status = residual->fetch(stream); !status.ok())
        return status;
  return statusOf(cuda::waitFor(stream));
}

Status DeviceExplicitForm::fetchState(cuda::Stream stream) {
  for (auto &[key, resident] : residents)
    if (Status status = fetch(resident, stream); !status.ok())
      return status;
  return Status();
}

bool DeviceExplicitForm::knows(uint32_t collective) const {
  auto next = residents.lower_bound({collective, 0});
  return next != residents.end() && next->first.first == collective;
}

Status DeviceExplicitForm::leave(uint32_t collective, cuda::Stream stream) {
  for (auto next = residents.lower_bound({collective, 0});
       next != residents.end() && next->first.first == collective; next = residents.erase(next))
    if (Status status = fetch(next->second, stream); !status.ok())
      return status;
  return Status();
}

} // namespace cgx
