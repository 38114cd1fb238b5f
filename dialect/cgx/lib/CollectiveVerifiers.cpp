//===-- CollectiveVerifiers.cpp - the constraints of the collectives ------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace cgx;

LogicalResult cgx::detail::verifyCollective(Operation *op) {
  auto collective = cast<CollectiveOpInterface>(op);
  size_t operands = collective.getInputs().size();
  if (collective.getId() < 0) // (C1)
    return op->emitOpError() << "expected id to be 0 or more, got " << collective.getId();
  if (collective.getCodecs().size() != operands) // (C2)
    return op->emitOpError() << "expected " << operands << " codecs, one per operand, got "
                             << collective.getCodecs().size();
  if (collective.getLayers().size() != operands) // (C2)
    return op->emitOpError() << "expected " << operands << " layers, one per operand, got "
                             << collective.getLayers().size();
  if (op->getNumResults() != operands) // (C2)
    return op->emitOpError() << "expected " << operands << " results, one per operand, got "
                             << op->getNumResults();
  for (unsigned i = 0; i < operands; ++i) { // (C3)
    auto emitError = [&] { return op->emitOpError() << "operand " << i << ": "; };
    if (failed(
            collective.getCodec(i).verifyElementType(collective.getInputType(i).getElementType(), emitError)))
      return failure();
  }
  return success();
}

namespace {

/// Lossy codecs go with sum and mean only, and mean with floating-point operands only.
template <typename Op> LogicalResult verifyReduction(Op op) {
  for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i) {
    if (!op.getCodec(i).isExact() && !op.acceptsLossyCodecs())
      return op.emitOpError() << "operand " << i << ": expected an exact codec with reduction "
                              << stringifyReduction(op.getReduction()) << ", got " << op.getCodec(i);
    if (op.getReduction() == Reduction::Mean && !isa<FloatType>(op.getInputType(i).getElementType()))
      return op.emitOpError() << "operand " << i
                              << ": expected a floating-point element type with reduction mean, got "
                              << op.getInputType(i).getElementType();
  }
  return success();
}

/// The size of all groups, or an error where they differ.
template <typename Op> FailureOr<int64_t> verifyUniformGroups(Op op) {
  if (std::optional<int64_t> size = op.getGroups().getUniformSize())
    return *size;
  return op.emitOpError() << "expected groups of one size, got " << op.getGroups();
}

template <typename Op>
LogicalResult verifyDimension(Op op, unsigned operand, StringRef name, int64_t dimension) {
  RankedTensorType type = op.getInputType(operand);
  if (dimension >= 0 && dimension < type.getRank())
    return success();
  return op.emitOpError() << "operand " << operand << ": expected " << name << " to be a dimension of "
                          << type << ", got " << dimension;
}

/// Operand i with `divided` divided and `multiplied` multiplied by `size` (-1: neither) is
/// result i.
template <typename Op>
LogicalResult verifyResultShape(Op op, unsigned i, int64_t divided, int64_t multiplied, int64_t size) {
  RankedTensorType type = op.getInputType(i);
  SmallVector<int64_t> shape(type.getShape());
  if (divided >= 0) {
    if (shape[divided] % size != 0)
      return op.emitOpError() << "operand " << i << ": expected dimension " << divided
                              << " to be a multiple of the group size " << size << ", got " << shape[divided];
    shape[divided] /= size;
  }
  if (multiplied >= 0)
    shape[multiplied] *= size;
  Type expected = type.clone(shape);
  if (op.getResult(i).getType() != expected)
    return op.emitOpError() << "expected result " << i << " to be " << expected << ", got "
                            << op.getResult(i).getType();
  return success();
}

} // namespace

// (C4) is in the op's definition. (C5), (C6)
LogicalResult AllReduceOp::verify() { return verifyReduction(*this); }

LogicalResult AllGatherOp::verify() {
  FailureOr<int64_t> size = verifyUniformGroups(*this); // (C4)
  if (failed(size))
    return failure();
  for (unsigned i = 0, e = getInputs().size(); i < e; ++i) // (C5), (C6)
    if (failed(verifyDimension(*this, i, "dim", getDim())) ||
        failed(verifyResultShape(*this, i, /*divided=*/-1, /*multiplied=*/getDim(), *size)))
      return failure();
  return success();
}

LogicalResult ReduceScatterOp::verify() {
  FailureOr<int64_t> size = verifyUniformGroups(*this); // (C4)
  if (failed(size))
    return failure();
  for (unsigned i = 0, e = getInputs().size(); i < e; ++i) // (C5), (C6)
    if (failed(verifyDimension(*this, i, "dim", getDim())) ||
        failed(verifyResultShape(*this, i, /*divided=*/getDim(), /*multiplied=*/-1, *size)))
      return failure();
  return verifyReduction(*this); // (C7), (C8)
}

LogicalResult AllToAllOp::verify() {
  FailureOr<int64_t> size = verifyUniformGroups(*this); // (C4)
  if (failed(size))
    return failure();
  for (unsigned i = 0, e = getInputs().size(); i < e; ++i) // (C5), (C6)
    if (failed(verifyDimension(*this, i, "split_dim", getSplitDim())) ||
        failed(verifyDimension(*this, i, "concat_dim", getConcatDim())) ||
        failed(verifyResultShape(*this, i, getSplitDim(), getConcatDim(), *size)))
      return failure();
  return success();
}

LogicalResult BroadcastOp::verify() {
  if (getRoot() < 0 || getRoot() >= getGroups().getSmallestSize()) // (C5)
    return emitOpError() << "expected root in 0.." << getGroups().getSmallestSize() - 1
                         << ", the positions of the smallest group, got " << getRoot();
  return success();
}

LogicalResult PermuteOp::verify() {
  ArrayRef<int64_t> shape = getSourceTargetPairs().getShapedType().getShape();
  bool isEmpty = getSourceTargetPairs().getNumElements() == 0;
  if (!isEmpty && (shape.size() != 2 || shape[1] != 2)) // (C5)
    return emitOpError() << "expected source_target_pairs of shape [n, 2], got [" << shape << "]";
  llvm::DenseMap<int64_t, int64_t> groupOf;
  for (auto [number, row] : llvm::enumerate(getGroups().getRows()))
    for (int64_t rank : row.asArrayRef())
      groupOf[rank] = number;
  llvm::DenseSet<int64_t> sources, targets;
  for (auto [source, target] : getPairs()) {
    if (!sources.insert(source).second) // (C6)
      return emitOpError() << "expected each rank at most once as a source, got rank " << source << " again";
    if (!targets.insert(target).second) // (C6)
      return emitOpError() << "expected each rank at most once as a target, got rank " << target << " again";
    auto of = groupOf.find(source), to = groupOf.find(target);
    bool together =
        source == target || (of != groupOf.end() && to != groupOf.end() && of->second == to->second);
    if (!together) // (C7)
      return emitOpError() << "expected source and target to be in one group, got " << source << " and "
                           << target << " with " << getGroups();
  }
  return success();
}
