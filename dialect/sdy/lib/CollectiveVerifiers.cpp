//===-- CollectiveVerifiers.cpp - verifiers of collectives between shardings -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AxisParts.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace cgx::sdy;

//===----------------------------------------------------------------------===//
// The sharding of a value
//===----------------------------------------------------------------------===//

/// Returns how the part that an argument of a manual computation is, is split further: along the axes that
/// are not manual.
static TensorShardingAttr getShardingInside(ManualComputationOp op, unsigned index) {
  ArrayRef<TensorShardingAttr> shardings = op.getInShardings().getShardings();
  if (index >= shardings.size())
    return {};
  auto getFree = [&](ArrayRef<AxisRefAttr> axes) {
    return llvm::filter_to_vector(axes, [&](AxisRefAttr axis) {
      return llvm::none_of(op.getManualAxes().getAxes(),
                           [&](StringAttr manual) { return manual.getValue() == axis.getName(); });
    });
  };
  TensorShardingAttr whole = shardings[index];
  SmallVector<DimensionShardingAttr> dimensions;
  for (DimensionShardingAttr dimension : whole.getDimensions()) {
    SmallVector<AxisRefAttr> axes = getFree(dimension.getAxes());
    bool isClosedAndEmpty = axes.empty() && dimension.getIsClosed();
    dimensions.push_back(
        DimensionShardingAttr::get(op.getContext(), axes, dimension.getIsClosed(),
                                   isClosedAndEmpty ? std::nullopt : dimension.getPriority()));
  }
  return TensorShardingAttr::get(op.getContext(), whole.getMeshOrRef(), dimensions,
                                 getFree(whole.getReplicatedAxes()), getFree(whole.getUnreducedAxes()),
                                 whole.getReductionOp());
}

std::optional<TensorShardingAttr> cgx::sdy::getSharding(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (auto manual = dyn_cast_or_null<ManualComputationOp>(argument.getOwner()->getParentOp()))
      return getShardingInside(manual, argument.getArgNumber());
    auto function = dyn_cast_or_null<FunctionOpInterface>(argument.getOwner()->getParentOp());
    if (!function || !argument.getOwner()->isEntryBlock())
      return std::nullopt;
    return function.getArgAttrOfType<TensorShardingAttr>(argument.getArgNumber(), kShardingAttrName);
  }
  Operation *op = value.getDefiningOp();
  for (StringRef name : {"out_sharding", "sharding"})
    if (isa<SdyDialect>(op->getDialect()))
      if (auto sharding = op->getInherentAttr(name).value_or(nullptr))
        return dyn_cast<TensorShardingAttr>(sharding);
  auto shardings = op->getAttrOfType<TensorShardingPerValueAttr>(kShardingAttrName);
  unsigned index = cast<OpResult>(value).getResultNumber();
  if (shardings && index < shardings.getShardings().size())
    return shardings.getShardings()[index];
  return TensorShardingAttr();
}

namespace {

/// Both sides of a collective, after the checks that all collectives share.
struct Sides {
  MeshAttr mesh;
  TensorShardingAttr in; // null if it is not known
  TensorShardingAttr out;
};

} // namespace

/// Verifies (C1) of every collective, and returns the shardings of both sides.
static FailureOr<Sides> getSides(Operation *op, Value operand, TensorShardingAttr out,
                                 bool needsOperandSharding, bool allowsOtherOrder = false) {
  auto emitError = [&] { return op->emitOpError(); };
  if (failed(out.verifyForType(operand.getType(), op, emitError)))
    return failure();
  Sides sides{out.getMesh(op), {}, out};
  std::optional<TensorShardingAttr> in = getSharding(operand);
  if (!in)
    return sides;
  if (!*in) {
    if (needsOperandSharding)
      return op->emitOpError() << "expected an operand with a sharding";
    return sides;
  }
  sides.in = *in;
  if (failed(sides.in.verifyForType(operand.getType(), op, emitError)))
    return failure();
  MeshAttr mesh = sides.in.getMesh(op);
  // Two names must not stand for one mesh: they are accepted only where the devices differ.
  if (mesh == sides.mesh && sides.in.getMeshOrRef() != out.getMeshOrRef() &&
      isa<FlatSymbolRefAttr>(sides.in.getMeshOrRef()) && isa<FlatSymbolRefAttr>(out.getMeshOrRef()))
    return op->emitOpError() << "expected the mesh of the operand, " << sides.in.getMeshOrRef() << ", got "
                             << out.getMeshOrRef() << " of the same devices";
  if (mesh != sides.mesh && !(allowsOtherOrder && mesh.getAxes() == sides.mesh.getAxes()))
    return op->emitOpError() << "expected the mesh of the operand, " << mesh << ", got " << sides.mesh;
  return sides;
}

/// Returns the axes that split dimension `dim`; none if no sharding says otherwise.
static AxisParts getDimension(TensorShardingAttr sharding, size_t dim, MeshAttr mesh) {
  if (!sharding || dim >= sharding.getDimensions().size())
    return {};
  return getParts(sharding.getDimensions()[dim].getAxes(), mesh);
}

static LogicalResult verifyOutDimension(Operation *op, const Sides &sides, size_t dim,
                                        const AxisParts &expected) {
  AxisParts out = getDimension(sides.out, dim, sides.mesh);
  if (out == expected)
    return success();
  return op->emitOpError() << "expected out_sharding " << textOf(expected, sides.mesh) << " of dimension "
                           << dim << ", got " << textOf(out, sides.mesh);
}

/// Verifies (C2) of collectives whose axes are listed per dimension.
static LogicalResult verifyAxesPerDimension(Operation *op, const Sides &sides, ListOfAxisRefListsAttr axes) {
  size_t rank = sides.out.getDimensions().size();
  if (axes.getDimensions().size() != rank)
    return op->emitOpError() << "expected axes for each of the " << rank << " dimensions, got "
                             << axes.getDimensions().size();
  AxisChecker checker(sides.mesh, [&] { return op->emitOpError(); });
  for (AxisRefListAttr dimension : axes.getDimensions())
    if (failed(checker.check(dimension.getAxes())))
      return failure();
  return success();
}

/// Verifies (C2) of collectives with one list of axes.
static LogicalResult verifyAxisList(Operation *op, const Sides &sides, AxisRefListAttr axes) {
  return AxisChecker(sides.mesh, [&] { return op->emitOpError(); }).checkSorted("axes", axes.getAxes());
}

/// Verifies that each dimension loses its axes at the end.
static LogicalResult verifyGathered(Operation *op, const Sides &sides, ListOfAxisRefListsAttr axes) {
  if (!sides.in)
    return success();
  for (auto [dim, list] : llvm::enumerate(axes.getDimensions())) {
    AxisParts parts = getDimension(sides.in, dim, sides.mesh), own = parts;
    AxisParts gathered = getParts(list.getAxes(), sides.mesh);
    if (failed(dropSuffix(parts, gathered)))
      return op->emitOpError() << "expected axes that end the operand's sharding " << textOf(own, sides.mesh)
                               << " of dimension " << dim << ", got " << textOf(gathered, sides.mesh);
    if (failed(verifyOutDimension(op, sides, dim, parts)))
      return failure();
  }
  return success();
}

/// Verifies that each dimension gets its axes at the end.
static LogicalResult verifySliced(Operation *op, const Sides &sides, ListOfAxisRefListsAttr axes) {
  for (auto [dim, list] : llvm::enumerate(axes.getDimensions())) {
    AxisParts parts = getDimension(sides.in, dim, sides.mesh);
    for (const AxisPart &part : getParts(list.getAxes(), sides.mesh))
      appendPart(parts, part);
    if (failed(verifyOutDimension(op, sides, dim, parts)))
      return failure();
  }
  return success();
}

LogicalResult AllGatherOp::verify() {
  FailureOr<Sides> sides =
      getSides(*this, getTensor(), getOutSharding(), /*needsOperandSharding=*/true); // (C1)
  return success(succeeded(sides) &&
                 succeeded(verifyAxesPerDimension(*this, *sides, getGatheringAxes())) && // (C2)
                 succeeded(verifyGathered(*this, *sides, getGatheringAxes())));          // (C3)
}

LogicalResult AllSliceOp::verify() {
  FailureOr<Sides> sides =
      getSides(*this, getTensor(), getOutSharding(), /*needsOperandSharding=*/false); // (C1)
  return success(succeeded(sides) &&
                 succeeded(verifyAxesPerDimension(*this, *sides, getSlicingAxes())) && // (C2)
                 succeeded(verifySliced(*this, *sides, getSlicingAxes())));            // (C3)
}

//===----------------------------------------------------------------------===//
// Axes that move
//===----------------------------------------------------------------------===//

/// Verifies (C3): dimensions are in range and unique, and sources are in order.
static LogicalResult verifyMoves(AllToAllOp op, int64_t rank) {
  SmallVector<bool> seen(rank);
  int64_t last = -1;
  for (AllToAllParamAttr param : op.getParams().getParams()) {
    for (int64_t dim : {param.getSource(), param.getTarget()}) {
      if (dim < 0 || dim >= rank)
        return op.emitOpError() << "expected dimensions in range [0, " << rank << "), got " << dim;
      if (std::exchange(seen[dim], true))
        return op.emitOpError() << "expected each dimension once, got " << dim << " twice";
    }
    if (param.getSource() < last)
      return op.emitOpError() << "expected source dimensions in increasing order, got " << param.getSource()
                              << " after " << last;
    last = param.getSource();
  }
  return success();
}

LogicalResult AllToAllOp::verify() {
  FailureOr<Sides> sides =
      getSides(*this, getTensor(), getOutSharding(), /*needsOperandSharding=*/true); // (C1)
  if (failed(sides))
    return failure();
  if (getParams().getParams().empty()) // (C2)
    return emitOpError() << "expected axes to move, got none";
  AxisChecker checker(sides->mesh, [&] { return emitOpError(); });
  for (AllToAllParamAttr param : getParams().getParams())
    if (failed(checker.check(param.getAxes())))
      return failure();
  size_t rank = sides->out.getDimensions().size();
  if (failed(verifyMoves(*this, rank))) // (C3)
    return failure();
  if (!sides->in)
    return success();
  SmallVector<AxisParts> dims;
  for (size_t dim = 0; dim < rank; ++dim)
    dims.push_back(getDimension(sides->in, dim, sides->mesh));
  for (AllToAllParamAttr param : getParams().getParams()) { // (C4)
    AxisParts moved = getParts(param.getAxes(), sides->mesh), own = dims[param.getSource()];
    if (failed(dropSuffix(dims[param.getSource()], moved)))
      return emitOpError() << "expected axes that end the operand's sharding " << textOf(own, sides->mesh)
                           << " of dimension " << param.getSource() << ", got " << textOf(moved, sides->mesh);
    for (const AxisPart &part : moved)
      appendPart(dims[param.getTarget()], part);
  }
  for (size_t dim = 0; dim < rank; ++dim)
    if (failed(verifyOutDimension(*this, *sides, dim, dims[dim])))
      return failure();
  return success();
}

LogicalResult CollectivePermuteOp::verify() {
  FailureOr<Sides> sides = getSides(*this, getTensor(), getOutSharding(), /*needsOperandSharding=*/true,
                                    /*allowsOtherOrder=*/true); // (C1)
  if (failed(sides))
    return failure();
  if (!sides->in)
    return success();
  auto count = [&](TensorShardingAttr sharding, size_t dim) {
    int64_t product = 1;
    for (const AxisPart &part : getDimension(sharding, dim, sides->mesh))
      product *= part.end / part.begin;
    return product;
  };
  for (size_t dim = 0; dim < sides->out.getDimensions().size(); ++dim) // (C2)
    if (count(sides->in, dim) != count(sides->out, dim))
      return emitOpError() << "expected dimension " << dim << " in as many parts as before, "
                           << count(sides->in, dim) << ", got " << count(sides->out, dim);
  return success();
}

//===----------------------------------------------------------------------===//
// Partial values
//===----------------------------------------------------------------------===//

static bool overlaps(const AxisParts &some, const AxisPart &part) {
  return llvm::any_of(some, [&](const AxisPart &other) { return part.overlaps(other); });
}

static AxisParts getUnreduced(TensorShardingAttr sharding, MeshAttr mesh) {
  return sharding ? getParts(sharding.getUnreducedAxes(), mesh) : AxisParts();
}

/// Fails if one of `axes` splits a dimension of the operand, or is among `others`.
static LogicalResult verifyDisjoint(Operation *op, const Sides &sides, const AxisParts &axes,
                                    const AxisParts &others, StringRef what) {
  for (const AxisPart &axis : axes) {
    for (size_t dim = 0; dim < sides.out.getDimensions().size(); ++dim)
      if (overlaps(getDimension(sides.in, dim, sides.mesh), axis))
        return op->emitOpError() << "expected axes that split no dimension of the operand, got "
                                 << textOf({axis}, sides.mesh) << ", which splits dimension " << dim;
    if (overlaps(others, axis))
      return op->emitOpError() << "expected axes other than the " << what << " " << textOf(others, sides.mesh)
                               << ", got " << textOf({axis}, sides.mesh);
  }
  return success();
}

static LogicalResult verifySameDimensions(Operation *op, const Sides &sides) {
  for (size_t dim = 0; dim < sides.out.getDimensions().size(); ++dim)
    if (failed(verifyOutDimension(op, sides, dim, getDimension(sides.in, dim, sides.mesh))))
      return failure();
  return success();
}

/// Verifies that the reduction is the one that the operand is unreduced by: a pending maximum is not
/// completed by a sum.
static LogicalResult verifyReductionOp(Operation *op, const Sides &sides, ReductionOp reduction) {
  if (!sides.in || sides.in.getUnreducedAxes().empty() || sides.in.getReductionOp() == reduction)
    return success();
  return op->emitOpError() << "expected " << stringifyReductionOp(sides.in.getReductionOp())
                           << ", as the operand is unreduced, got " << stringifyReductionOp(reduction);
}

LogicalResult AllReduceOp::verify() {
  FailureOr<Sides> sides =
      getSides(*this, getTensor(), getOutSharding(), /*needsOperandSharding=*/false); // (C1)
  if (failed(sides) || failed(verifyAxisList(*this, *sides, getReductionAxes())) ||   // (C2)
      failed(verifySameDimensions(*this, *sides)))                                    // (C3)
    return failure();
  AxisParts axes = getParts(getReductionAxes().getAxes(), sides->mesh), replicated;
  if (sides->in)
    replicated = getParts(sides->in.getReplicatedAxes(), sides->mesh);
  if (failed(verifyDisjoint(*this, *sides, axes, replicated, "replicated axes of the operand")) || // (C4)
      failed(verifyDisjoint(*this, *sides, axes, getUnreduced(sides->out, sides->mesh),
                            "unreduced axes of the result"))) // (C5)
    return failure();
  AxisParts before = getUnreduced(sides->in, sides->mesh);
  for (const AxisPart &part : getUnreduced(sides->out, sides->mesh))
    if (sides->in && !overlaps(before, part)) // (C5)
      return emitOpError() << "expected a result unreduced along axes of the operand, "
                           << textOf(before, sides->mesh) << ", got " << textOf({part}, sides->mesh);
  return verifyReductionOp(*this, *sides, getReductionOp()); // (C6)
}

LogicalResult ReduceScatterOp::verify() {
  FailureOr<Sides> sides =
      getSides(*this, getTensor(), getOutSharding(), /*needsOperandSharding=*/false); // (C1)
  return success(succeeded(sides) &&
                 succeeded(verifyAxesPerDimension(*this, *sides, getReduceScatterAxes())) && // (C2)
                 succeeded(verifySliced(*this, *sides, getReduceScatterAxes())) &&           // (C3)
                 succeeded(verifyReductionOp(*this, *sides, getReductionOp())));             // (C4)
}

/// Verifies that the result is unreduced, by a sum, along `axes` and the axes along which the operand was
/// unreduced.
static LogicalResult verifyUnreduced(Operation *op, const Sides &sides, const AxisParts &axes) {
  if (sides.out.getReductionOp() != ReductionOp::Sum)
    return op->emitOpError() << "expected a result that is unreduced by sum, got "
                             << stringifyReductionOp(sides.out.getReductionOp());
  if (!sides.in)
    return success();
  AxisParts expected = getUnreduced(sides.in, sides.mesh);
  llvm::append_range(expected, axes);
  expected = sortParts(expected, sides.mesh);
  AxisParts out = sortParts(getUnreduced(sides.out, sides.mesh), sides.mesh);
  if (out == expected)
    return success();
  return op->emitOpError() << "expected a result unreduced along " << textOf(expected, sides.mesh) << ", got "
                           << textOf(out, sides.mesh);
}

LogicalResult ShardedToUnreducedOp::verify() {
  FailureOr<Sides> sides =
      getSides(*this, getTensor(), getOutSharding(), /*needsOperandSharding=*/true); // (C1)
  if (failed(sides) || failed(verifyAxesPerDimension(*this, *sides, getAxes())) ||   // (C2)
      failed(verifyGathered(*this, *sides, getAxes())))                              // (C3)
    return failure();
  AxisParts axes;
  for (AxisRefListAttr dimension : getAxes().getDimensions())
    llvm::append_range(axes, getParts(dimension.getAxes(), sides->mesh));
  return verifyUnreduced(*this, *sides, axes); // (C4)
}

LogicalResult ReplicatedToUnreducedOp::verify() {
  FailureOr<Sides> sides =
      getSides(*this, getTensor(), getOutSharding(), /*needsOperandSharding=*/true); // (C1)
  if (failed(sides))
    return failure();
  if (getAxes().getAxes().empty()) // (C2)
    return emitOpError() << "expected axes, got none";
  AxisParts axes = getParts(getAxes().getAxes(), sides->mesh);
  if (failed(verifyAxisList(*this, *sides, getAxes())) ||
      (sides->in && failed(verifySameDimensions(*this, *sides))) || // (C3)
      failed(verifyDisjoint(*this, *sides, axes, getUnreduced(sides->in, sides->mesh),
                            "unreduced axes of the operand"))) // (C4)
    return failure();
  return verifyUnreduced(*this, *sides, axes); // (C5)
}
