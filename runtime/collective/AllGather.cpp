//===-- collective/AllGather.cpp - Concatenate the ranks' tensors ----- ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank encodes its tensor once and sends it to all; everybody, itself too, decodes.
//
//===----------------------------------------------------------------------===//

#include "Changes.h"
#include "OneExchange.h"
#include "collective/OperandCodec.h"
#include "collective/Slices.h"

namespace cgx {

namespace {

class AllGatherTask {
public:
  AllGatherTask(const Execution &execution, size_t index, const OperandBuffers &buffers)
      : execution(execution), codec(execution, index), buffers(buffers), count(execution.group.size()),
        slices(resultShape(), execution.collective.dim, count, codec.elementBytes()),
        payloadBytes(codec.payloadBytes(codec.info().elements)), direct(codec.isRaw() && slices.contiguous()),
        payloads(direct ? buffers.output : execution.scratch.take(count * payloadBytes)) {}

  Traffic traffic() const {
    codec.encode(kContribution, buffers.input, /*first=*/0, codec.info().elements, payload(execution.self()));
    return stepTraffic(
        execution, kResult, /*step=*/0,
        [&](uint32_t chunk) { return std::span(payload(chunk), payloadBytes); },
        [&](uint32_t, uint32_t chunk) { return std::span(payload(chunk), payloadBytes); });
  }

  Status finish() const {
    if (direct)
      return Status();
    std::byte *dense = slices.contiguous() ? nullptr : execution.scratch.take(slices.bytes());
    for (uint32_t position = 0; position < count; ++position) {
      std::byte *slice = dense ? dense : buffers.output + position * slices.bytes();
      Status status = codec.decode({payload(position), payloadBytes}, execution.group.ranks[position],
                                   slices.elements(), slice);
      if (!status.ok())
        return status;
      if (dense)
        slices.insert(dense, position, buffers.output);
    }
    return Status();
  }

private:
  std::vector<uint64_t> resultShape() const {
    std::vector<uint64_t> shape = codec.info().shape;
    shape[execution.collective.dim] *= count;
    return shape;
  }

  std::byte *payload(uint32_t position) const { return payloads + position * payloadBytes; }

  const Execution &execution;
  OperandCodec codec;
  OperandBuffers buffers;
  uint32_t count;
  Slices slices; ///< of the result
  uint64_t payloadBytes;
  bool direct; ///< payloads are the result as it is
  std::byte *payloads;
};

} // namespace

Status runAllGather(Execution &execution, Buffers operands) {
  const std::vector<OperandInfo> &infos = execution.collective.operands;
  if (std::any_of(infos.begin(), infos.end(),
                  [](const OperandInfo &info) { return info.changes.has_value(); }))
    return runGatherOfChanges(execution, operands);
  return runInOneExchange<AllGatherTask>(execution, operands);
}

} // namespace cgx
