//===-- DeviceFactors.cpp - Low-rank all-reduces on a GPU -----------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceFactors.h"

#include "cuda/stream/DeviceStatus.h"
#include "cuda/stream/StreamWait.h"

namespace cgx {

/// Returns true if the two all-reduces that replace the collective can stay on the GPU.
static bool canTravel(const Execution &execution, const FactorCollectives &travelling) {
  return canBeResident(inPlaceOf(execution, travelling.left)) &&
         canBeResident(inPlaceOf(execution, travelling.right));
}

bool DeviceFactors::takes(const Execution &execution) {
  const CollectiveInfo &collective = execution.collective;
  if (collective.kind != CollectiveKind::AllReduce || !hasFactors(collective))
    return false;
  for (size_t i = 0; i < collective.operands.size(); ++i) {
    const OperandInfo &operand = collective.operands[i];
    if (operand.hasFactors() && operand.errorFeedback &&
        !DeviceResidual::keeps(execution.states[i].contribution, 0, operand.elements))
      return false;
  }
  return canTravel(execution, FactorCollectives(collective));
}

Result<std::unique_ptr<ResidentCollective>> DeviceFactors::make(const Execution &execution,
                                                                cuda::Stream stream) {
  std::unique_ptr<DeviceFactors> made(new DeviceFactors(execution.collective));
  for (auto [resident, collective] :
       {std::pair(&made->left, &made->travelling.left), {&made->right, &made->travelling.right}}) {
    Result<std::unique_ptr<ResidentCollective>> one = makeResident(inPlaceOf(execution, *collective), stream);
    if (!one.ok())
      return one.status();
    *resident = std::move(*one);
  }
  if (Status status = made->step.make(); !status.ok())
    return status;
  if (Status status = made->makeFactors(execution, stream); !status.ok())
    return status;
  return std::unique_ptr<ResidentCollective>(std::move(made));
}

Status DeviceFactors::makeFactors(const Execution &execution, cuda::Stream stream) {
  for (size_t i = 0; i < execution.collective.operands.size(); ++i) {
    const OperandInfo &operand = execution.collective.operands[i];
    if (!operand.hasFactors())
      continue;
    Factored &one = factored.emplace_back();
    one.operand = i;
    const uint64_t leftElements = travelling.left.operands[i].elements,
                   rightElements = travelling.right.operands[i].elements;
    for (auto [memory, elements] :
         {std::pair(&one.left, leftElements), {&one.ownRight, rightElements}, {&one.right, rightElements}})
      if (Status status = statusOf(memory->allocate(cuda::MemoryKind::device, elements * sizeof(float)));
          !status.ok())
        return status;
    OperandState &state = execution.states[i];
    const std::span<float> begin = std::span(state.warmStart).first(rightElements);
    if (Status status = one.warmStart.make(std::as_writable_bytes(begin), stream); !status.ok())
      return status;
    if (operand.errorFeedback)
      if (Status status = one.residual.emplace().make(*state.contribution, stream); !status.ok())
        return status;
  }
  return Status();
}

Status DeviceFactors::makeKernels(const CollectiveInfo &collective) {
  leftBuffers.clear();
  for (size_t i = 0; i < collective.operands.size(); ++i)
    leftBuffers.push_back(buffers[i]);
  // The remaining operands have nothing left to send.
  rightBuffers = leftBuffers;
  std::vector<cuda::LowrankLayer> layers;
  for (const Factored &one : factored) {
    const OperandInfo &operand = collective.operands[one.operand];
    cuda::LowrankLayer &layer = layers.emplace_back();
    layer.codec = operand.codec;
    layer.type = operand.type;
    layer.elements = operand.elements;
    layer.layerId = operand.layerId;
    layer.input = buffers[one.operand].input;
    layer.output = buffers[one.operand].output;
    layer.warmStart = one.warmStart.get<float>();
    layer.left = one.left.get<float>();
    layer.ownRight = one.ownRight.get<float>();
    layer.right = one.right.get<float>();
    if (one.residual)
      layer.feedback = one.residual->from(/*first=*/0, operand.errorFeedback->decay);
    leftBuffers[one.operand] = {one.left.get<std::byte>(), one.left.get<std::byte>()};
    rightBuffers[one.operand] = {one.ownRight.get<std::byte>(), one.right.get<std::byte>()};
  }
  cuda::Outcome outcome;
  kernels = cuda::makeLowrankGroup(layers, outcome);
  return statusOf(outcome);
}

Status DeviceFactors::put(Execution &execution, Buffers operands, cuda::Stream stream) {
  CollectiveCounters &counters = execution.counters;
  {
    Stopwatch stopwatch(counters.encode);
    const auto make = [&] {
      // This wait precedes making kernels, as in RoutedCollective.
      Status status = waitForStream(execution.transport, execution.timeout, stream);
      return status.ok() ? makeKernels(execution.collective) : status;
    };
    if (Status status = buffers.bind(operands, stream, make); !status.ok())
      return status;
    if (Status status = step.put(execution, stream); !status.ok())
      return status;
    unfetched.change(cuda::isCapturing(stream));
    if (Status status = statusOf(kernels->makeLeft(stream, step.get())); !status.ok())
      return status;
  }
  Execution first = inPlaceOf(execution, travelling.left), second = inPlaceOf(execution, travelling.right);
  if (Status status = left->put(first, leftBuffers, stream); !status.ok())
    return status;
  {
    Stopwatch stopwatch(counters.encode);
    if (Status status = statusOf(kernels->makeRight(stream)); !status.ok())
      return status;
  }
  if (Status status = right->put(second, rightBuffers, stream); !status.ok())
    return status;
  Stopwatch stopwatch(counters.decode);
  return statusOf(kernels->finish(stream));
}

Status DeviceFactors::finish(Execution &execution) {
  Execution first = inPlaceOf(execution, travelling.left), second = inPlaceOf(execution, travelling.right);
  Status status = left->finish(first);
  return status.ok() ? right->finish(second) : status;
}

Status DeviceFactors::check(const CollectiveInfo &collective, cuda::Stream stream) {
  for (const auto &travelled : {&left, &right})
    if (Status status = (*travelled)->check(collective, stream); !status.ok())
      return status;
  return Status();
}

Status DeviceFactors::fetchState(cuda::Stream stream) {
  for (const auto &travelled : {&left, &right})
    if (Status status = (*travelled)->fetchState(stream); !status.ok())
      return status;
  if (!unfetched.end())
    return Status();
  for (const Factored &one : factored) {
    if (Status status = one.warmStart.fetch(stream); !status.ok())
      return status;
    if (one.residual)
      if (Status status = one.residual->fetch(stream); !status.ok())
        return status;
  }
  return statusOf(cuda::waitFor(stream));
}

} // namespace cgx
