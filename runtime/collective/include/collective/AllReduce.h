//===-- collective/AllReduce.h - Scatter-reduce-allgather --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The phases of an all-reduce, one function each. The explicit form of the C ABI
// calls them on buffers of the program; runAllReduce puts them together.
//
//   rank 0  [a0|a1|a2]     a0 b0 c0          r0           [r0|r1|r2]
//   rank 1  [b0|b1|b2] --> a1 b1 c1 -reduce-> r1 --gather-> [r0|r1|r2]
//   rank 2  [c0|c1|c2]     a2 b2 c2          r2           [r0|r1|r2]
//
// Contributions are encoded, sent to the owner of their chunk, and reduced there in
// the order of the group, the owner's own one among them and encoded like the others:
// the result does not depend on who owns a chunk. The owner encodes the result, and
// everybody, the owner too, decodes that: all ranks hold the same bits.
//
// Payloads have two layouts. The whole payload of a tensor holds those of its chunks one
// behind the other. The slots of a chunk hold N payloads of one chunk, from N ranks, each
// at a multiple of the bytes of the payload of chunk 0, the largest: so the size of the
// buffer does not depend on the rank. Unused bytes of a slot are not sent.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_COLLECTIVE_ALLREDUCE_H
#define CGX_RUNTIME_COLLECTIVE_ALLREDUCE_H

#include "collective/OperandCodec.h"

#include <algorithm>

namespace cgx {

/// One operand on its way through an all-reduce.
class AllReduceOperand {
public:
  AllReduceOperand(const Execution &execution, size_t index)
      : execution(execution), codec(execution, index), resultCodec(execution, index, kResult),
        chunks(codec.chunks()), resultChunks(resultCodec.chunks()), begins(chunks.payloadBegins()),
        resultBegins(resultChunks.payloadBegins()) {}

  bool isRaw() const { return codec.isRaw() && resultCodec.isRaw(); }

  /// Returns the bytes of a payload of this rank's chunk: of a contribution, and of the result.
  uint64_t ownPayload() const { return chunks.payload(execution.self()); }
  uint64_t ownResultPayload() const { return resultChunks.payload(execution.self()); }

  /// Returns the bytes of a whole payload, which has space for a tensor's contributions or its results.
  uint64_t wholeBytes() const { return std::max(begins.back(), resultBegins.back()); }
  uint64_t slotsBytes() const { return chunks.count() * chunks.slot(); }

  /// Encodes this rank's tensor into a whole payload.
  void compressContribution(const std::byte *tensor, std::byte *whole) const;
  /// Encodes this rank's reduced chunk into one payload.
  void compressResult(const std::byte *chunk, std::byte *payload) const;

  /// From a whole payload to slots of this rank's chunk: slot k is what position k
  /// encoded. This rank's own slot is for the caller to copy.
  Traffic scatterTraffic(const std::byte *whole, std::byte *slots) const;
  /// From this rank's result to a whole payload, without its own part.
  Traffic gatherTraffic(const std::byte *payload, std::byte *whole) const;

  /// Where this rank's chunk is in a whole payload of contributions or of results, and its slot.
  uint64_t ownBegin() const { return begins[execution.self()]; }
  uint64_t ownResultBegin() const { return resultBegins[execution.self()]; }
  uint64_t ownSlot() const { return execution.self() * chunks.slot(); }

  /// Reduces the payloads in the slots into elements of this rank's chunk.
  Status reduceOwn(const std::byte *slots, std::byte *chunk) const;
  /// Decodes a whole payload into the tensor.
  Status decompress(const std::byte *whole, std::byte *tensor) const;

  const Execution &execution;
  OperandCodec codec, resultCodec;
  Chunks chunks, resultChunks;                ///< with the same elements
  std::vector<uint64_t> begins, resultBegins; ///< of the chunks, in a whole payload
};

/// The halves of a scatter-reduce-allgather, phase by phase. The first leaves this rank's chunk of the
/// result in its place in the output; the second hands these chunks to all, encoding each once. In a group
/// of one the first copies.
Status runScatterReduce(Execution &execution, Buffers operands);
Status runChunkGather(Execution &execution, Buffers operands);

} // namespace cgx

#endif // CGX_RUNTIME_COLLECTIVE_ALLREDUCE_H
