//===-- PayloadOps.cpp - the explicit form of a compressed collective -----===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/CgxDialect.h"

using namespace mlir;
using namespace cgx;

PayloadType CompressOp::getPayloadType() { return getResult().getType(); }
PayloadType PayloadAllToAllOp::getPayloadType() { return getResult().getType(); }
PayloadType DecompressAccumulateOp::getPayloadType() { return getInput().getType(); }
PayloadType PayloadAllGatherOp::getPayloadType() { return getResult().getType(); }
PayloadType DecompressOp::getPayloadType() { return getInput().getType(); }

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

namespace {

/// Verifies (C1) of every op of the explicit form.
template <typename Op> LogicalResult verifyOrigin(Op op) {
  if (op.getId() < 0)
    return op.emitOpError() << "expected id to be 0 or more, got " << op.getId();
  if (op.getOperandNumber() < 0)
    return op.emitOpError() << "expected operand_number to be 0 or more, got " << op.getOperandNumber();
  return success();
}

template <typename Op> LogicalResult verifyType(Op op, StringRef name, Type actual, Type expected) {
  if (actual == expected)
    return success();
  return op.emitOpError() << "expected the " << name << " to be " << expected << ", got " << actual;
}

/// Verifies (C2) of the payload collectives: position k of a group owns chunk k.
template <typename Op> LogicalResult verifyGroups(Op op) {
  std::optional<int64_t> size = op.getGroups().getUniformSize();
  if (size == op.getPayloadType().getChunks())
    return success();
  return op.emitOpError() << "expected groups of " << op.getPayloadType().getChunks()
                          << " ranks, one per chunk, got " << op.getGroups();
}

} // namespace

LogicalResult CompressOp::verify() {
  if (failed(verifyOrigin(*this)) ||
      failed(cgx::detail::verifyOrigins(*this, getOriginsAttr(), /*operands=*/1))) // (D2)
    return failure();
  PayloadType payload = getPayloadType();
  if (getPhase() == Phase::Contribution) { // (C2)
    if (failed(verifyType(*this, "operand", getInput().getType(), payload.getTensorType())))
      return failure();
    return verifyType(*this, "result", payload, payload.getWhole());
  }
  if (failed(verifyType(*this, "operand", getInput().getType(), payload.getChunkTensorType()))) // (C3)
    return failure();
  return verifyType(*this, "result", payload, payload.getOwnChunk(/*slots=*/1));
}

LogicalResult PayloadAllToAllOp::verify() {
  if (failed(verifyOrigin(*this)) || failed(verifyGroups(*this)))
    return failure();
  PayloadType input = getInput().getType();
  if (failed(verifyType(*this, "operand", input, input.getWhole()))) // (C3)
    return failure();
  return verifyType(*this, "result", getResult().getType(), input.getOwnChunk(input.getChunks())); // (C4)
}

LogicalResult DecompressAccumulateOp::verify() {
  PayloadType payload = getPayloadType();
  if (failed(verifyOrigin(*this)))
    return failure();
  if (payload.isWhole()) // (C2)
    return emitOpError() << "expected a payload with slots, got " << payload;
  if (failed(verifyType(*this, "result", getResult().getType(), payload.getChunkTensorType()))) // (C3)
    return failure();
  bool adds = getReduction() == Reduction::Sum || getReduction() == Reduction::Mean;
  if (!adds && !payload.getCodec().isExact()) // (C4)
    return emitOpError() << "expected an exact codec with reduction " << stringifyReduction(getReduction())
                         << ", got " << payload.getCodec();
  return success();
}

LogicalResult PayloadAllGatherOp::verify() {
  if (failed(verifyOrigin(*this)) || failed(verifyGroups(*this)))
    return failure();
  PayloadType input = getInput().getType();
  if (failed(verifyType(*this, "operand", input, input.getOwnChunk(/*slots=*/1)))) // (C3)
    return failure();
  return verifyType(*this, "result", getResult().getType(), input.getWhole()); // (C4)
}

LogicalResult DecompressOp::verify() {
  PayloadType payload = getPayloadType();
  if (failed(verifyOrigin(*this)) ||
      failed(verifyType(*this, "operand", payload, payload.getWhole()))) // (C2)
    return failure();
  return verifyType(*this, "result", getResult().getType(), payload.getTensorType()); // (C3)
}

//===----------------------------------------------------------------------===//
// Wire bytes
//===----------------------------------------------------------------------===//

uint64_t PayloadAllToAllOp::getWireBytes(int64_t rank) {
  auto membership = getGroups().getMembership(rank);
  if (!membership)
    return 0;
  PayloadType payload = getPayloadType();
  return payload.getWhole().getBytes() - payload.getChunkBytes(membership->position);
}

uint64_t PayloadAllGatherOp::getWireBytes(int64_t rank) {
  auto membership = getGroups().getMembership(rank);
  if (!membership)
    return 0;
  return (membership->group.size() - 1) * getPayloadType().getChunkBytes(membership->position);
}

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

// Pattern: decompress(compress(x)) -> x, if the codec is exact
OpFoldResult DecompressOp::fold(FoldAdaptor) {
  auto compress = getInput().getDefiningOp<CompressOp>();
  if (!compress || compress.getPhase() != Phase::Contribution || !getPayloadType().getCodec().isExact())
    return {};
  return compress.getInput();
}
