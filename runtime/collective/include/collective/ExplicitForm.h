//===-- collective/ExplicitForm.h - An all-reduce, call by call --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program in explicit form makes the phases of AllReduce.h one by one, on buffers of its own.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_COLLECTIVE_EXPLICITFORM_H
#define CGX_RUNTIME_COLLECTIVE_EXPLICITFORM_H

#include "collective/AllReduce.h"

namespace cgx {

/// From what to what: a tensor, a whole payload, slots, a chunk, the payload of a chunk.
enum class ExplicitCall {
  CompressContribution, ///< tensor -> whole
  PayloadAllToAll,      ///< whole -> slots
  DecompressAccumulate, ///< slots -> chunk
  CompressResult,       ///< chunk -> payload
  PayloadAllGather,     ///< payload -> whole
  Decompress,           ///< whole -> tensor
};

inline bool isCompress(ExplicitCall call) {
  return call == ExplicitCall::CompressContribution || call == ExplicitCall::CompressResult;
}
/// Returns whether the call sends and receives payloads without looking into them.
inline bool isExchange(ExplicitCall call) {
  return call == ExplicitCall::PayloadAllToAll || call == ExplicitCall::PayloadAllGather;
}

/// One call, for one operand.
struct ExplicitStep {
  ExplicitCall call;
  size_t operand;
  OperandBuffers buffers;
};

/// Bytes of its buffers.
struct ExplicitBytes {
  uint64_t input, output;
};
ExplicitBytes explicitBytes(const AllReduceOperand &operand, ExplicitCall call);

/// Runs it, wherever its buffers lie.
Status runExplicit(Execution &execution, const ExplicitStep &step);

/// Runs the call on buffers of the host, and counts nothing.
Status runExplicitOnHost(Execution &execution, const ExplicitStep &step);

} // namespace cgx

#endif // CGX_RUNTIME_COLLECTIVE_EXPLICITFORM_H
