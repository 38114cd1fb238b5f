//===-- DeviceExplicitForm.cpp - The explicit form on a GPU ---------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/algorithm/DeviceExplicitForm.h"

#include "cuda/layers/OperandLayers.h"
#include "cuda/stream/DeviceStatus.h"
#include "cuda/stream/StreamWait.h"

namespace cgx {

namespace {

/// A payload, one piece of a chunk, in the buffer of a call.
struct Payload {
  uint64_t first, elements; ///< counted from the operand's first element
  Extent extent;
  PayloadSender sender;
};

} // namespace

/// Returns all payloads that a call reads or writes, by chunk or by slot.
static std::vector<Payload> payloadsOf(const AllReduceOperand &operand, size_t index, ExplicitCall call) {
  std::vector<Payload> payloads;
  const auto add = [&](uint64_t chunk, uint64_t begin, uint32_t position) {
    const uint64_t first = operand.chunks.begin(chunk);
    operand.codec.forEachPiece(operand.chunks.size(chunk), [&](const OperandCodec::Piece &piece) {
      payloads.push_back({first + piece.first,
                          piece.elements,
                          {begin + piece.begin, piece.bytes},
                          {index, operand.execution.group.ranks[position]}});
    });
  };
  const uint32_t self = operand.execution.self();
  if (call == ExplicitCall::CompressResult)
    add(self, 0, self);
  for (uint32_t position = 0; position < operand.chunks.count(); ++position) {
    if (call == ExplicitCall::DecompressAccumulate)
      add(self, position * operand.chunks.slot(), position);
    else if (call != ExplicitCall::CompressResult)
      add(position, operand.begins[position], position);
  }
  return payloads;
}

/// Returns the element of the operand with which the buffer of elements begins.
static uint64_t firstElement(const AllReduceOperand &operand, ExplicitCall call) {
  const bool isTensor = call == ExplicitCall::CompressContribution || call == ExplicitCall::Decompress;
  return isTensor ? 0 : operand.chunks.begin(operand.execution.self());
}

/// Returns true if there are kernels for a call whose buffers lie on a GPU.
static bool hasKernels(const AllReduceOperand &operand, const ExplicitStep &step) {
  const Execution &execution = operand.execution;
  const OperandInfo &info = operand.codec.info();
  const std::byte *elements = isCompress(step.call) ? step.buffers.input : step.buffers.output;
  if (isExchange(step.call) || !hasKernels(info) ||
      reinterpret_cast<uintptr_t>(elements) % operand.codec.elementBytes() != 0)
    return false;
  if (isCompress(step.call))
    return !info.errorFeedback || DeviceResidual::fit(operand, execution.states[step.operand]);
  return step.call == ExplicitCall::Decompress || isLinear(execution.collective.reduction) ||
         info.isUncompressed();
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
  // Allocating may make CUDA wait for the stream, without noticing that ranks are gone.
  Status status = waitForStream(operand.execution.transport, operand.execution.timeout, stream);
  Resident made;
  if (status.ok())
    status = made.step.make();
  if (!status.ok())
    return status;
  status = made.residuals.make(operand.codec.info(), operand.execution.states[key.second], stream);
  if (!status.ok())
    return status;
  return &residents.emplace(key, std::move(made)).first->second;
}

namespace {

/// The parameters from which the layers of a call are listed.
struct Listed {
  const AllReduceOperand &operand;
  const ExplicitStep &step;
  const AlignedPayloads &places;
  const std::vector<Payload> &payloads;

  const Execution &execution() const { return operand.execution; }
  const OperandInfo &info() const { return operand.codec.info(); }
  /// Returns the byte in the buffer of elements at which a payload's elements begin.
  uint64_t byteOf(const Payload &payload) const {
    return (payload.first - firstElement(operand, step.call)) * operand.codec.elementBytes();
  }
};

} // namespace

static std::unique_ptr<cuda::Group> makeEncoding(const Listed &of, const OperandResiduals &residuals,
                                                 cuda::Outcome &outcome) {
  const uint32_t phase = of.step.call == ExplicitCall::CompressResult ? kResult : kContribution;
  std::vector<cuda::EncodeLayer> layers;
  for (size_t i = 0; i < of.payloads.size(); ++i) {
    const Payload &payload = of.payloads[i];
    layers.push_back({encodedLayer(of.execution(), of.info(), residuals, phase, payload.first,
                                   payload.elements, of.places.at(i, of.step.buffers.output)),
                      of.step.buffers.input + of.byteOf(payload)});
  }
  return cuda::makeEncodeGroup(layers, outcome);
}

static std::unique_ptr<cuda::Group> makeDecoding(const Listed &of, std::vector<PayloadSender> &senders,
                                                 cuda::Outcome &outcome) {
  std::vector<cuda::DecodeLayer> layers;
  for (size_t i = 0; i < of.payloads.size(); ++i) {
    const Payload &payload = of.payloads[i];
    layers.push_back({of.info().codec, of.info().type, of.places.at(i, of.step.buffers.input),
                      payload.extent.bytes, payload.elements, of.step.buffers.output + of.byteOf(payload)});
    senders.push_back(payload.sender);
  }
  return cuda::makeDecodeGroup(layers, outcome);
}

/// Payloads lie slot by slot, and are added up piece by piece.
static std::unique_ptr<cuda::Group> makeReduction(const Listed &of, std::vector<PayloadSender> &senders,
                                                  cuda::Outcome &outcome) {
  const size_t pieces = of.payloads.size() / of.execution().group.size();
  std::vector<cuda::ReduceLayer> layers;
  for (size_t piece = 0; piece < pieces; ++piece) {
    const Payload &payload = of.payloads[piece];
    cuda::ReduceLayer &layer =
        layers.emplace_back(reduceLayer(of.execution(), of.info(), payload.elements, of.execution().divisor(),
                                        of.step.buffers.output + of.byteOf(payload)));
    for (size_t i = piece; i < of.payloads.size(); i += pieces) {
      layer.contributions.push_back(of.places.at(i, of.step.buffers.input));
      senders.push_back(of.payloads[i].sender);
    }
  }
  return cuda::makeReduceGroup(layers, outcome);
}

Status DeviceExplicitForm::makeKernels(const AllReduceOperand &operand, const ExplicitStep &step,
                                       const OperandResiduals &residuals, Kernels &kernels,
                                       cuda::Stream stream) {
  if (Status status = waitForStream(operand.execution.transport, operand.execution.timeout, stream);
      !status.ok())
    return status;
  kernels.group.reset();
  kernels.senders.clear();
  const std::vector<Payload> payloads = payloadsOf(operand, step.operand, step.call);
  std::vector<Extent> extents;
  for (const Payload &payload : payloads)
    extents.push_back(payload.extent);
  const auto &[input, output] = step.buffers;
  if (Status status = kernels.payloads.make(isCompress(step.call) ? output : input, std::move(extents));
      !status.ok() || payloads.empty())
    return status;
  const Listed listed = {operand, step, kernels.payloads, payloads};
  cuda::Outcome outcome;
  if (isCompress(step.call))
    kernels.group = makeEncoding(listed, residuals, outcome);
  else if (step.call == ExplicitCall::Decompress)
    kernels.group = makeDecoding(listed, kernels.senders, outcome);
  else
    kernels.group = makeReduction(listed, kernels.senders, outcome);
  return statusOf(outcome);
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
    resident.unfetched.change(/*isCaptured=*/false);
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
  return checkPayloads(*kernels.group, kernels.senders, execution.collective, stream);
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
  // Work of the program on the stream may read the memory that is written below.
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
  if (!resident.unfetched.end())
    return Status();
  Status status = resident.residuals.fetch(stream);
  return status.ok() ? statusOf(cuda::waitFor(stream)) : status;
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
