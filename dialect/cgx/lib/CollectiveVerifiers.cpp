//===-- CollectiveVerifiers.cpp - the constraints of the collectives ------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/LayerCodec.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/JSON.h"

#include <map>
#include <unordered_set>

using namespace mlir;
using namespace cgx;

/// Verifies (D1).
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
  if (size_t results = op->getNumResults(); results != operands) // (C2)
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

/// Verifies that lossy codecs go with sum and mean only, and mean with floating-point operands only.
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

/// Returns the size of all groups, or an error where they differ.
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

/// Verifies that result i has the shape of operand i with `divided` divided and `multiplied` multiplied by
/// `size` (-1: neither).
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
  Type expected = type.clone(shape), actual = op.getResultTypes()[i];
  if (actual != expected)
    return op.emitOpError() << "expected result " << i << " to be " << expected << ", got " << actual;
  return success();
}

LogicalResult verifySends(PermuteOp op) {
  ArrayAttr sends = op.getSends();
  if (!sends)
    return success();
  if (sends.size() != op.getPairs().size())
    return op.emitOpError() << "expected sends of each of " << op.getPairs().size() << " pairs, got "
                            << sends.size();
  size_t runs = 0;
  for (StringRef digits : sends.getAsValueRange<StringAttr>()) {
    runs = runs == 0 ? digits.size() : runs;
    if (digits.empty() || digits.size() != runs || digits.find_first_not_of("01") != StringRef::npos)
      return op.emitOpError() << "expected sends to be strings of as many digits, 0 or 1, got '" << digits
                              << "'";
  }
  return success();
}

} // namespace

// (C4) of the ops whose results have the types of their operands is in their definitions.
LogicalResult AllGatherOp::verify() {
  FailureOr<int64_t> size = verifyUniformGroups(*this); // (C4)
  if (failed(size))
    return failure();
  for (unsigned i = 0, e = getInputs().size(); i < e; ++i) // (C5), (C6)
    if (failed(verifyDimension(*this, i, "dim", getDim())) ||
        failed(verifyResultShape(*this, i, /*divided=*/-1, /*multiplied=*/getDim(), *size)))
      return failure();
  if (!getDecodesAgain())
    return success();
  if (isStarted() || getKeepsPayloads()) // (C7)
    return emitOpError() << "decodes the payloads of gather " << *getDecodesAgain() << " again, expected "
                         << (isStarted() ? "it not to be started" : "no keeps_payloads");
  for (unsigned i = 0, e = getInputs().size(); i < e; ++i) // (C7)
    if (!getCodec(i).isRaw())
      return emitOpError() << "operand " << i
                           << ": expected #cgx.identity of what decodes the payloads of gather "
                           << *getDecodesAgain() << " again, got " << getCodec(i);
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
  std::map<int64_t, int64_t> groupOf;
  for (auto [number, row] : llvm::enumerate(getGroups().getRows()))
    for (int64_t rank : row.asArrayRef())
      groupOf[rank] = number;
  std::unordered_set<int64_t> sources, targets;
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
  return verifySends(*this); // (C8)
}

LogicalResult AllReduceOp::verify() {
  if (failed(verifyReduction(*this))) // (C5), (C6)
    return failure();
  std::optional<HierarchyAttr> hierarchy = getHierarchy();
  const auto algorithm = cgx_algorithm(getAlgorithm());
  if (bool(cgx_algorithm_has_hosts(algorithm)) != hierarchy.has_value()) // (C7)
    return emitOpError() << "expected " << (hierarchy ? "no hierarchy" : "a hierarchy")
                         << " with the algorithm " << stringifyAlgorithm(getAlgorithm());
  if (hierarchy || !cgx_algorithm_sends_results(algorithm)) {
    layers::Collective collective;
    collective.algorithm = algorithm;
    collective.hierarchy = toLayerHierarchy(hierarchy);
    for (DenseI64ArrayAttr row : getGroups().getRows())
      collective.groups.emplace_back(row.asArrayRef().begin(), row.asArrayRef().end());
    collective.operands.resize(getInputs().size());
    for (auto [i, operand] : llvm::enumerate(collective.operands))
      operand.codec = toLayerCodec(getCodec(i));
    if (std::string wrong = layers::checkAlgorithm(collective); !wrong.empty()) // (C8), (C10)
      return emitOpError() << wrong;
  }
  if (!hierarchy)
    return success();
  for (unsigned i = 0, e = getInputs().size(); i < e; ++i) { // (C9)
    auto emitError = [&] { return emitOpError() << "inside of hosts, operand " << i << ": "; };
    if (!getCodec(i).isExact() &&
        failed(hierarchy->getInside().verifyElementType(getInputType(i).getElementType(), emitError)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Starts and waits
//===----------------------------------------------------------------------===//

LogicalResult StartOp::verifyRegions() {
  Block &body = *getBody();
  if (!llvm::hasSingleElement(body) || !isa<CollectiveOpInterface>(body.front())) // (C1)
    return emitOpError("expected one collective inside, and nothing else");
  auto results = HandleType::get(getContext(), SmallVector<Type>(body.front().getResultTypes()));
  if (getHandle().getType() != results) // (C2)
    return emitOpError() << "expected a handle of type " << results << ", got " << getHandle().getType();
  if (!getHandle().hasOneUse()) // (C3)
    return emitOpError() << "expected one cgx.wait for the handle, got " << getHandle().getNumUses()
                         << " users";
  Operation *user = *getHandle().user_begin();
  if (!isa<WaitOp>(user) || user->getBlock() != (*this)->getBlock()) {
    InFlightDiagnostic diagnostic =
        emitOpError("expected a cgx.wait in the same block as the user of the handle");
    diagnostic.attachNote(user->getLoc()) << "it is used here";
    return diagnostic;
  }
  if (getCondition() && !isa<AllReduceOp>(body.front())) // (C4)
    return emitOpError() << "has a condition, expected an all_reduce, got "
                         << body.front().getName().stripDialect();
  return success();
}

LogicalResult WaitOp::verify() {
  auto start = getHandle().getDefiningOp<StartOp>();
  if (!start || start->getBlock() != (*this)->getBlock()) // (C1)
    return emitOpError("expected the handle of a collective started in the same block");
  return success();
}
