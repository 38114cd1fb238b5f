//===-- SdyVerifiers.cpp - the rules of meshes and shardings ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AxisParts.h"
#include "PartitionerText.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace cgx::sdy;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// A bound far above the number of devices of any machine, and too small to overflow anything.
static constexpr int64_t kMostDevices = int64_t(1) << 30;

LogicalResult MeshAttr::verify(EmitError emitError, ArrayRef<MeshAxisAttr> axes,
                               ArrayRef<int64_t> deviceIds) {
  llvm::SmallDenseSet<StringRef> names;
  int64_t devices = 1;
  for (MeshAxisAttr axis : axes) {
    if (!llvm::json::isUTF8(axis.getName()))
      return emitError() << "expected axis names in UTF-8, got \"" << llvm::json::fixUTF8(axis.getName())
                         << "\"";
    if (!names.insert(axis.getName()).second) // (C1)
      return emitError() << "expected unique axis names, got \"" << axis.getName() << "\" twice";
    if (axis.getSize() <= 0) // (C2)
      return emitError() << "expected a positive size of axis \"" << axis.getName() << "\", got "
                         << axis.getSize();
    std::optional<int64_t> product = llvm::checkedMul(devices, axis.getSize());
    if (!product || *product > kMostDevices) // (C2)
      return emitError() << "expected a mesh of at most " << kMostDevices << " devices";
    devices = *product;
  }
  if (deviceIds.empty())
    return success();
  if (axes.empty()) { // (C4)
    if (deviceIds.size() != 1 || deviceIds.front() < 0)
      return emitError() << "expected at most one device id of a mesh without axes, and none negative, got ["
                         << deviceIds << "]";
    return success();
  }
  SmallVector<int64_t> sorted(deviceIds);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, devices))) // (C3)
    return emitError() << "expected device_ids to be a permutation of the numbers below " << devices
                       << ", got [" << deviceIds << "]";
  return success();
}

LogicalResult AxisRefAttr::verify(EmitError emitError, StringRef name, int64_t preSize, int64_t size) {
  if (preSize == 0 && size == 0)
    return success();
  if (preSize < 1 || size < 2)
    return emitError() << "expected a sub-axis of \"" << name << "\" of size 2 or more under 1 or more, got ("
                       << preSize << ")" << size;
  return success();
}

/// Returns whether the sharding only names a mesh, and splits nothing.
static bool isWholeValue(TensorShardingAttr sharding) {
  return sharding.getDimensions().empty() && sharding.getReplicatedAxes().empty() &&
         sharding.getUnreducedAxes().empty();
}

LogicalResult TensorShardingAttr::verifyForType(Type type, Operation *user, EmitError emitError) const {
  MeshAttr mesh = getMesh(user);
  if (!mesh) // (C1)
    return emitError() << "unknown mesh " << getMeshOrRef();
  // On a single device there is nothing to split, and JAX names no dimensions then.
  if (mesh.getAxes().empty() && isWholeValue(*this))
    return success();
  if (mesh.getAxes().empty() && !mesh.getDeviceIds().empty()) // (C8)
    return emitError() << "expected no dimensions and axes of a sharding on a single device, got " << *this;
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor && (isa<ShapedType>(type) || !isWholeValue(*this))) // (C7)
    return emitError() << "expected a sharding with dimensions or axes on a tensor with a rank only, got "
                       << type;
  int64_t rank = tensor ? tensor.getRank() : 0;
  if (rank != static_cast<int64_t>(getDimensions().size())) // (C2)
    return emitError() << "expected one dimension sharding for each of the " << rank << " dimensions of "
                       << type << ", got " << getDimensions().size();
  AxisChecker checker(mesh, emitError);
  for (auto [index, dimension] : llvm::enumerate(getDimensions())) { // (C3), (C4), (C5)
    if (failed(checker.check(dimension.getAxes())))
      return failure();
    if (dimension.getPriority() && dimension.getIsClosed() && dimension.getAxes().empty()) // (C9)
      return emitError() << "expected no priority of dimension " << index
                         << ", which has no axes and is closed, got p" << *dimension.getPriority();
  }
  return success(succeeded(checker.checkSorted("replicated axes", getReplicatedAxes())) && // (C6)
                 succeeded(checker.checkSorted("unreduced axes", getUnreducedAxes())));
}

//===----------------------------------------------------------------------===//
// sdy.sharding on functions and on ops of any dialect
//===----------------------------------------------------------------------===//

/// Verifies a sharding. `what` names the holder: "argument 2", "result 0".
static LogicalResult verifyShardingOf(NamedAttribute attribute, Type type, Operation *user, StringRef what,
                                      unsigned index) {
  if (attribute.getName() != kShardingAttrName)
    return success();
  auto emitError = [&] { return user->emitOpError() << what << " " << index << ": "; };
  auto sharding = dyn_cast<TensorShardingAttr>(attribute.getValue());
  if (!sharding)
    return emitError() << "expected #sdy.sharding<...>, got " << attribute.getValue();
  if (auto tuple = dyn_cast<TupleType>(type); tuple && tuple.size() == 1)
    type = tuple.getType(0);
  return sharding.verifyForType(type, user, emitError);
}

LogicalResult SdyDialect::verifyRegionArgAttribute(Operation *op, unsigned regionIndex, unsigned argIndex,
                                                   NamedAttribute attribute) {
  Type type = op->getRegion(regionIndex).empty() ? cast<FunctionOpInterface>(op).getArgumentTypes()[argIndex]
                                                 : op->getRegion(regionIndex).getArgument(argIndex).getType();
  return verifyShardingOf(attribute, type, op, "argument", argIndex);
}

LogicalResult SdyDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned resultIndex,
                                                      NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return success();
  return verifyShardingOf(attribute, function.getResultTypes()[resultIndex], op, "result", resultIndex);
}

LogicalResult SdyDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != kShardingAttrName)
    return verifyPartitionerText(op, attribute);
  auto shardings = dyn_cast<TensorShardingPerValueAttr>(attribute.getValue());
  if (!shardings)
    return op->emitOpError() << "expected #sdy.sharding_per_value<...>, got " << attribute.getValue();
  // An op without results says by one sharding on which device it runs: JAX's callbacks.
  if (op->getNumResults() == 0 && shardings.getShardings().size() == 1) {
    MeshAttr mesh = shardings.getShardings()[0].getMesh(op);
    if (mesh && mesh.getAxes().empty() && !isWholeValue(shardings.getShardings()[0])) // (C8)
      return op->emitOpError() << "expected no dimensions and axes of a sharding on a single device, got "
                               << shardings.getShardings()[0];
    return success();
  }
  if (shardings.getShardings().size() != op->getNumResults())
    return op->emitOpError() << "expected one sharding per result, " << op->getNumResults() << ", got "
                             << shardings.getShardings().size();
  for (auto [index, sharding] : llvm::enumerate(shardings.getShardings())) {
    NamedAttribute single(attribute.getName(), sharding);
    auto emitError = [&, index = index] { return op->emitOpError() << "result " << index << ": "; };
    if (failed(verifyShardingOf(single, op->getResult(index).getType(), op, "result", index)) ||
        failed(verifyFreeAxes(op, sharding, emitError)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Returns the innermost manual computation around `op` that has the axis; null if there is none.
static ManualComputationOp findManual(Operation *op, StringRef axis) {
  for (auto parent = op->getParentOfType<ManualComputationOp>(); parent;
       parent = parent->getParentOfType<ManualComputationOp>())
    for (StringAttr name : parent.getManualAxes().getAxes())
      if (name == axis)
        return parent;
  return {};
}

static LogicalResult verifyFree(Operation *op, StringRef axis, EmitError emitError) {
  ManualComputationOp parent = findManual(op, axis);
  if (!parent)
    return success();
  InFlightDiagnostic error = emitError() << "expected axes that are not manual here, got \"" << axis << "\"";
  error.attachNote(parent.getLoc()) << "manual since here";
  return error;
}

LogicalResult cgx::sdy::verifyFreeAxes(Operation *op, TensorShardingAttr sharding, EmitError emitError) {
  SmallVector<AxisRefAttr> axes(sharding.getReplicatedAxes());
  llvm::append_range(axes, sharding.getUnreducedAxes());
  for (DimensionShardingAttr dimension : sharding.getDimensions())
    llvm::append_range(axes, dimension.getAxes());
  for (AxisRefAttr axis : axes)
    if (failed(verifyFree(op, axis.getName(), emitError)))
      return failure();
  return success();
}

/// Verifies an op that changes the sharding of a value: unreduced axes of the operand keep their reduction,
/// and new ones are sums.
template <typename OpTy> static LogicalResult verifyOtherSharding(OpTy op) {
  auto emitError = [&] { return op.emitOpError(); };
  TensorShardingAttr out = op.getSharding();
  if (failed(out.verifyForType(op.getType(), op, emitError)) || // (C1)
      failed(verifyFreeAxes(op, out, emitError)))               // (C2)
    return failure();
  if (out.getUnreducedAxes().empty())
    return success();
  TensorShardingAttr in = getSharding(op.getInput()).value_or(TensorShardingAttr());
  MeshAttr mesh = out.getMesh(op);
  bool isKept = false, isNew = false;
  AxisParts before = in ? getParts(in.getUnreducedAxes(), mesh) : AxisParts();
  for (const AxisPart &part : getParts(out.getUnreducedAxes(), mesh))
    (llvm::any_of(before, [&](const AxisPart &other) { return part.overlaps(other); }) ? isKept : isNew) =
        true;
  if (isKept && in.getReductionOp() != out.getReductionOp()) // (C3)
    return op.emitOpError() << "expected " << stringifyReductionOp(in.getReductionOp())
                            << ", by which the operand is unreduced, got "
                            << stringifyReductionOp(out.getReductionOp());
  if (in && isNew && out.getReductionOp() != ReductionOp::Sum) // (C4)
    return op.emitOpError() << "expected new unreduced axes to be sums, got "
                            << stringifyReductionOp(out.getReductionOp());
  return success();
}

LogicalResult ShardingConstraintOp::verify() { return verifyOtherSharding(*this); }

LogicalResult ReshardOp::verify() { return verifyOtherSharding(*this); }

/// One side of a manual computation: the global values that it takes or gives
/// and the local values in its region.
struct ManualSide {
  StringRef globalName;
  StringRef localName;
  TypeRange global;
  TypeRange local;
  ArrayRef<TensorShardingAttr> shardings;
};

/// Verifies that pieces along manual axes are whole pieces of those that other axes split further.
static LogicalResult verifyManualFirst(TensorShardingAttr sharding, ArrayRef<StringAttr> manualAxes,
                                       EmitError emitError) {
  for (DimensionShardingAttr dimension : sharding.getDimensions()) {
    StringRef free;
    for (AxisRefAttr axis : dimension.getAxes()) {
      bool isManual = llvm::any_of(manualAxes, [&](StringAttr name) { return name == axis.getName(); });
      if (isManual && !free.empty())
        return emitError() << "expected manual axes before others in each dimension, got \"" << axis.getName()
                           << "\" after \"" << free << "\"";
      if (!isManual)
        free = axis.getName();
    }
  }
  return success();
}

static LogicalResult verifyManualSide(ManualComputationOp op, MeshAttr mesh, const ManualSide &side) {
  if (side.global.size() != side.shardings.size()) // (C1)
    return op.emitOpError() << "expected one sharding per " << side.globalName << ", " << side.global.size()
                            << ", got " << side.shardings.size();
  if (side.global.size() != side.local.size()) // (C3), (C4)
    return op.emitOpError() << "expected one " << side.localName << " per " << side.globalName << ", "
                            << side.global.size() << ", got " << side.local.size();
  for (size_t i = 0; i < side.global.size(); ++i) {
    auto emitError = [&] { return op.emitOpError() << side.globalName << " " << i << ": "; };
    TensorShardingAttr sharding = side.shardings[i];
    if (failed(sharding.verifyForType(side.global[i], op, emitError))) // (C1)
      return failure();
    MeshAttr own = sharding.getMesh(op);
    if (!own.getAxes().empty() && own != mesh) // (C2)
      return emitError() << "expected all shardings to name one mesh, got " << own << " and " << mesh;
    if (failed(verifyManualFirst(sharding, op.getManualAxes().getAxes(), emitError))) // (C5)
      return failure();
    Type local = getLocalType(side.global[i], sharding, own, op.getManualAxes().getAxes());
    if (!local)
      return emitError() << side.global[i] << " is not divisible as " << sharding << " says";
    if (local != side.local[i]) // (C3), (C4)
      return emitError() << "expected " << side.localName << " " << i << " to be " << local << ", got "
                         << side.local[i];
  }
  return success();
}

LogicalResult ManualComputationOp::verify() {
  auto terminator = dyn_cast<sdy::ReturnOp>(getBody().front().getTerminator());
  if (!terminator)
    return emitOpError() << "expected the region to end in sdy.return";
  MeshAttr mesh = getMesh();
  bool isEmpty = getInShardings().getShardings().empty() && getOutShardings().getShardings().empty();
  for (StringAttr axis : isEmpty ? ArrayRef<StringAttr>() : getManualAxes().getAxes()) // (C2)
    if (!mesh || !mesh.getAxisSize(axis))
      return emitOpError() << "manual axis " << axis << " is not in the mesh of the shardings";
  for (StringAttr axis : getManualAxes().getAxes()) // (C6)
    if (failed(verifyFree(*this, axis.getValue(), [&] { return emitOpError(); })))
      return failure();
  ManualSide operands{"operand", "block argument", getTensors().getTypes(), getBody().getArgumentTypes(),
                      getInShardings().getShardings()};
  ManualSide results{"result", "returned value", getResultTypes(), terminator.getOperandTypes(),
                     getOutShardings().getShardings()};
  return success(succeeded(verifyManualSide(*this, mesh, operands)) &&
                 succeeded(verifyManualSide(*this, mesh, results)));
}
