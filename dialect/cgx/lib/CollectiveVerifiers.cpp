//===-- CollectiveVerifiers.cpp - the constraints of the collectives ------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/JSON.h"

#include <map>
#include <unordered_set>

using namespace mlir;
using namespace cgx;

TypeRange cgx::detail::getResultTensorTypes(Operation *op) {
  if (op->getNumResults() == 1)
    if (auto handle = dyn_cast<HandleType>(op->getResult(0).getType()))
      return handle.getTypes();
  return op->getResultTypes();
}

/// (D1)
static LogicalResult verifyReasons(CollectiveOpInterface op) {
  ArrayAttr reasons = op.getExactReasonsAttr();
  if (!reasons)
    return success();
  if (reasons.size() != op.getInputs().size())
    return op->emitOpError() << "expected exact_reasons to be " << op.getInputs().size()
                             << " strings, one per operand, got " << reasons;
  for (auto reason : reasons.getAsRange<StringAttr>())
    if (!llvm::json::isUTF8(reason))
      return op->emitOpError() << "expected exact_reasons to be UTF-8, got \"" << llvm::json::fixUTF8(reason)
                               << "\"";
  return success();
}

LogicalResult cgx::detail::verifyOrigins(Operation *op, DenseI64ArrayAttr origins, size_t operands) {
  if (origins && size_t(origins.size()) != 2 * operands) // (D2)
    return op->emitOpError() << "expected origins to be " << 2 * operands << " numbers, two per operand, got "
                             << origins;
  return success();
}

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
  if (size_t results = getResultTensorTypes(op).size(); results != operands) // (C2)
    return op->emitOpError() << "expected " << operands << " results, one per operand, got " << results;
  if (failed(verifyReasons(collective)) || failed(verifyOrigins(op, collective.getOriginsAttr(), operands)))
    return failure();
  for (unsigned i = 0; i < operands; ++i) { // (C3)
    auto emitError = [&] { return op->emitOpError() << "operand " << i << ": "; };
    CodecAttrInterface codec = collective.getCodec(i);
    if (failed(codec.verifyElementType(collective.getInputType(i).getElementType(), emitError)))
      return failure();
    if (codec.needsAllReduce() && !collective.isAllReduce()) // (C3)
      return emitError() << "codec " << codec.getFamily() << ": expected an all_reduce";
    if (std::string refusal = codec.getShapeRefusal(collective.getInputType(i)); !refusal.empty()) // (C3)
      return emitError() << "codec " << codec.getFamily() << ": " << refusal;
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
  Type expected = type.clone(shape), actual = cgx::detail::getResultTensorTypes(op)[i];
  if (actual != expected)
    return op.emitOpError() << "expected result " << i << " to be " << expected << ", got " << actual;
  return success();
}

template <typename Op> LogicalResult verifyAllGather(Op op) {
  FailureOr<int64_t> size = verifyUniformGroups(op); // (C4)
  if (failed(size))
    return failure();
  for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i) // (C5), (C6)
    if (failed(verifyDimension(op, i, "dim", op.getDim())) ||
        failed(verifyResultShape(op, i, /*divided=*/-1, /*multiplied=*/op.getDim(), *size)))
      return failure();
  if (!op.getDecodesAgain())
    return success();
  const bool isStart = isa<AllGatherStartOp>(op.getOperation());
  if (isStart || op.getKeepsPayloads()) // (C7)
    return op.emitOpError() << "decodes the payloads of gather " << *op.getDecodesAgain()
                            << " again, expected "
                            << (isStart ? "it not to be started" : "no keeps_payloads");
  for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i) // (C7)
    if (!op.getCodec(i).isRaw())
      return op.emitOpError() << "operand " << i
                              << ": expected #cgx.identity of what decodes the payloads of gather "
                              << *op.getDecodesAgain() << " again, got " << op.getCodec(i);
  return success();
}

template <typename Op> LogicalResult verifyReduceScatter(Op op) {
  FailureOr<int64_t> size = verifyUniformGroups(op); // (C4)
  if (failed(size))
    return failure();
  for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i) // (C5), (C6)
    if (failed(verifyDimension(op, i, "dim", op.getDim())) ||
        failed(verifyResultShape(op, i, /*divided=*/op.getDim(), /*multiplied=*/-1, *size)))
      return failure();
  return verifyReduction(op); // (C7), (C8)
}

template <typename Op> LogicalResult verifyAllToAll(Op op) {
  FailureOr<int64_t> size = verifyUniformGroups(op); // (C4)
  if (failed(size))
    return failure();
  for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i) // (C5), (C6)
    if (failed(verifyDimension(op, i, "split_dim", op.getSplitDim())) ||
        failed(verifyDimension(op, i, "concat_dim", op.getConcatDim())) ||
        failed(verifyResultShape(op, i, op.getSplitDim(), op.getConcatDim(), *size)))
      return failure();
  return success();
}

template <typename Op> LogicalResult verifyBroadcast(Op op) {
  if (op.getRoot() < 0 || op.getRoot() >= op.getGroups().getSmallestSize()) // (C5)
    return op.emitOpError() << "expected root in 0.." << op.getGroups().getSmallestSize() - 1
                            << ", the positions of the smallest group, got " << op.getRoot();
  return success();
}

template <typename Op> LogicalResult verifyPermute(Op op) {
  ArrayRef<int64_t> shape = op.getSourceTargetPairs().getShapedType().getShape();
  bool isEmpty = op.getSourceTargetPairs().getNumElements() == 0;
  if (!isEmpty && (shape.size() != 2 || shape[1] != 2)) // (C5)
    return op.emitOpError() << "expected source_target_pairs of shape [n, 2], got [" << shape << "]";
  std::map<int64_t, int64_t> groupOf;
  for (auto [number, row] : llvm::enumerate(op.getGroups().getRows()))
    for (int64_t rank : row.asArrayRef())
      groupOf[rank] = number;
  std::unordered_set<int64_t> sources, targets;
  for (auto [source, target] : op.getPairs()) {
    if (!sources.insert(source).second) // (C6)
      return op.emitOpError() << "expected each rank at most once as a source, got rank " << source
                              << " again";
    if (!targets.insert(target).second) // (C6)
      return op.emitOpError() << "expected each rank at most once as a target, got rank " << target
                              << " again";
    auto of = groupOf.find(source), to = groupOf.find(target);
    bool together =
        source == target || (of != groupOf.end() && to != groupOf.end() && of->second == to->second);
    if (!together) // (C7)
      return op.emitOpError() << "expected source and target to be in one group, got " << source << " and "
                              << target << " with " << op.getGroups();
  }
  return success();
}

template <typename Op> LogicalResult verifyAllReduce(Op op) {
  if (failed(verifyReduction(op))) // (C5), (C6)
    return failure();
  std::optional<HierarchyAttr> hierarchy = op.getHierarchy();
  if ((op.getAlgorithm() == Algorithm::Hierarchical) != hierarchy.has_value()) // (C7)
    return op.emitOpError() << "expected " << (hierarchy ? "no hierarchy" : "a hierarchy")
                            << " with the algorithm " << stringifyAlgorithm(op.getAlgorithm());
  if (!hierarchy)
    return success();
  for (DenseI64ArrayAttr row : op.getGroups().getRows())
    if (row.size() % hierarchy->getLocal() != 0) // (C8)
      return op.emitOpError() << "expected groups of hosts of " << hierarchy->getLocal()
                              << " ranks, got a group of " << row.size();
  for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i) { // (C9)
    auto emitError = [&] { return op.emitOpError() << "inside of hosts, operand " << i << ": "; };
    if (!op.getCodec(i).isExact() &&
        failed(hierarchy->getInside().verifyElementType(op.getInputType(i).getElementType(), emitError)))
      return failure();
  }
  return success();
}

} // namespace

// (C4) of the ops whose results have the types of their operands is in their definitions.
LogicalResult AllReduceOp::verify() { return verifyAllReduce(*this); }
LogicalResult AllGatherOp::verify() { return verifyAllGather(*this); }
LogicalResult ReduceScatterOp::verify() { return verifyReduceScatter(*this); }
LogicalResult AllToAllOp::verify() { return verifyAllToAll(*this); }
LogicalResult BroadcastOp::verify() { return verifyBroadcast(*this); }
LogicalResult PermuteOp::verify() { return verifyPermute(*this); }

//===----------------------------------------------------------------------===//
// Starts and waits
//===----------------------------------------------------------------------===//

/// (S2)
static LogicalResult verifyHandle(Operation *start) {
  Value handle = start->getResult(0);
  size_t users = std::distance(handle.user_begin(), handle.user_end());
  if (users != 1)
    return start->emitOpError() << "expected one cgx.wait for the handle, got " << users << " users";
  Operation *user = *handle.user_begin();
  if (isa<WaitOp>(user) && user->getBlock() == start->getBlock())
    return success();
  InFlightDiagnostic diagnostic = start->emitOpError()
                                  << "expected a cgx.wait in the same block as the user of the handle";
  diagnostic.attachNote(user->getLoc()) << "it is used here";
  return diagnostic;
}

/// (S1) where the results have the types of the operands.
template <typename Op> static LogicalResult verifySameTypes(Op op) {
  for (auto [i, input, result] : llvm::enumerate(op.getInputs(), op.getHandle().getType().getTypes()))
    if (input.getType() != result)
      return op.emitOpError() << "expected result " << i << " to be " << input.getType() << ", got "
                              << result;
  return success();
}

LogicalResult AllReduceStartOp::verify() {
  return failure(failed(verifySameTypes(*this)) || failed(verifyReduction(*this)) ||
                 failed(verifyHandle(*this)));
}
LogicalResult AllGatherStartOp::verify() {
  return failure(failed(verifyAllGather(*this)) || failed(verifyHandle(*this)));
}
LogicalResult ReduceScatterStartOp::verify() {
  return failure(failed(verifyReduceScatter(*this)) || failed(verifyHandle(*this)));
}
LogicalResult AllToAllStartOp::verify() {
  return failure(failed(verifyAllToAll(*this)) || failed(verifyHandle(*this)));
}
LogicalResult BroadcastStartOp::verify() {
  return failure(failed(verifySameTypes(*this)) || failed(verifyBroadcast(*this)) ||
                 failed(verifyHandle(*this)));
}
LogicalResult PermuteStartOp::verify() {
  return failure(failed(verifySameTypes(*this)) || failed(verifyPermute(*this)) ||
                 failed(verifyHandle(*this)));
}

LogicalResult WaitOp::verify() {
  Operation *definition = getHandle().getDefiningOp();
  if (!definition || !isa<CollectiveOpInterface>(definition) ||
      definition->getBlock() != (*this)->getBlock()) // (C1)
    return emitOpError("expected the handle of a collective started in the same block");
  return success();
}
