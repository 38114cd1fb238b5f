//===-- CollectiveVerifiers.cpp - groups, and the shapes that they make -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Constraints.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <unordered_set>

using namespace mlir;
using namespace cgx::stablehlo;

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// Replica groups
//===----------------------------------------------------------------------===//

/// A bound far above the number of devices of any machine, and too small to overflow anything.
static constexpr int64_t kMostDevices = int64_t(1) << 30;

LogicalResult MeshAxisAttr::verify(EmitError emitError, StringRef name, int64_t size) {
  if (size < 1) // (C1)
    return emitError() << "expected a positive size of axis \"" << name << "\", got " << size;
  return success();
}

LogicalResult MeshAttr::verify(EmitError emitError, ArrayRef<MeshAxisAttr> axes,
                               DenseIntElementsAttr deviceIds) {
  llvm::StringSet<> names;
  int64_t devices = 1;
  for (MeshAxisAttr axis : axes) {
    if (!names.insert(axis.getName()).second) // (C1)
      return emitError() << "expected unique axis names, got \"" << axis.getName() << "\" twice";
    std::optional<int64_t> product = llvm::checkedMul(devices, axis.getSize());
    if (!product || *product > kMostDevices)
      return emitError() << "expected a mesh of at most " << kMostDevices << " devices";
    devices = *product;
  }
  if (!deviceIds)
    return success();
  SmallVector<int64_t> ids;
  for (const APInt &id : deviceIds.getValues<APInt>())
    ids.push_back(id.getSExtValue());
  llvm::sort(ids);
  if (!llvm::equal(ids, llvm::seq<int64_t>(0, devices))) // (C2)
    return emitError() << "expected device_ids to be a permutation of the numbers below " << devices
                       << ", got " << deviceIds;
  return success();
}

/// Checks one axis against the mesh and against the parts of axes that were named before it.
static LogicalResult verifyAxis(EmitError emitError, MeshAttr mesh, AxisRefAttr axis,
                                ArrayRef<AxisRefAttr> before) {
  const auto *found =
      llvm::find_if(mesh.getAxes(), [&](MeshAxisAttr known) { return known.getName() == axis.getName(); });
  if (found == mesh.getAxes().end()) // (C2)
    return emitError() << "axis \"" << axis.getName() << "\" is not in the mesh " << mesh;
  auto partOf = [&](AxisRefAttr ref) {
    SubAxisInfoAttr part = ref.getSubAxisInfo();
    if (!part)
      return std::pair<int64_t, int64_t>(1, found->getSize());
    return std::pair(part.getPreSize(), llvm::checkedMul(part.getPreSize(), part.getSize()).value_or(0));
  };
  auto [begin, end] = partOf(axis);
  if (begin < 1 || end < 1 || found->getSize() % end != 0) // (C3)
    return emitError() << "expected a sub-axis that divides \"" << axis.getName() << "\" of size "
                       << found->getSize() << ", got (" << begin << ")" << axis.getSubAxisInfo().getSize();
  for (AxisRefAttr other : before)
    if (other.getName() == axis.getName() && begin < partOf(other).second &&
        partOf(other).first < end) // (C4)
      return emitError() << "axis \"" << axis.getName() << "\" is named twice";
  return success();
}

LogicalResult ReplicaGroupMeshAxesAttr::verify(EmitError emitError, Attribute mesh,
                                               ArrayRef<AxisRefAttr> axes) {
  if (isa<FlatSymbolRefAttr>(mesh))
    return success();
  auto known = dyn_cast<MeshAttr>(mesh);
  if (!known) // (C1)
    return emitError() << "expected the symbol of a mesh or #stablehlo.mesh<...>, got " << mesh;
  for (auto [index, axis] : llvm::enumerate(axes))
    if (failed(verifyAxis(emitError, known, axis, axes.take_front(index))))
      return failure();
  return success();
}

/// The rules for groups: whether -1 may pad rows of fewer processes, and whether each process must be in a
/// group.
struct GroupRules {
  bool mayBeFilled = false;
  bool coverAll = true;
};

bool cgx::stablehlo::isCollective(Operation *op) {
  return isa<AllReduceOp, AllGatherOp, AllToAllOp, CollectiveBroadcastOp, CollectivePermuteOp,
             ReduceScatterOp>(op);
}

/// Verifies that a mesh without a symbol here has at least one in the module.
static LogicalResult verifyMesh(Operation *op, ReplicaGroupMeshAxesAttr groups) {
  auto symbol = dyn_cast<FlatSymbolRefAttr>(groups.getMesh());
  auto module = op->getParentOfType<ModuleOp>();
  if (!symbol || !module || module.lookupSymbol(symbol.getValue()))
    return success();
  return op->emitOpError() << "expected the symbol of a mesh in replica_groups, got " << symbol;
}

/// Verifies that dense groups have a row each, and no process is in two groups.
static LogicalResult verifyGroups(Operation *op, Attribute groups, GroupRules rules = {}) {
  if (auto axes = dyn_cast<ReplicaGroupMeshAxesAttr>(groups))
    return verifyMesh(op, axes);
  auto dense = dyn_cast<DenseIntElementsAttr>(groups);
  if (!dense)
    return success();
  if (dense.getType().getRank() != 2)
    return op->emitOpError() << "expected replica_groups of rank 2, got " << dense.getType();
  int64_t least = rules.mayBeFilled ? -1 : 0;
  std::unordered_set<int64_t> seen;
  for (int64_t id : dense.getValues<int64_t>()) {
    if (id < least)
      return op->emitOpError() << "expected replica_groups of numbers from 0"
                               << (rules.mayBeFilled ? ", or -1 as filling" : "") << ", got " << id;
    if (id >= 0 && !seen.insert(id).second)
      return op->emitOpError() << "expected each process in one group, got " << id << " twice";
  }
  if (!rules.coverAll)
    return success();
  if (seen.empty())
    return op->emitOpError() << "expected processes in replica_groups, got none";
  for (int64_t id = 0, count = seen.size(); id < count; ++id)
    if (!seen.contains(id))
      return op->emitOpError() << "expected each process in one group, got " << count << " numbers without "
                               << id;
  return success();
}

/// Verifies the channel: ids of devices mean something only among all partitions, which a channel says.
template <typename CollectiveOp> static LogicalResult verifyChannel(CollectiveOp op) {
  int64_t channel = op.getChannelHandle() ? op.getChannelHandle()->getHandle() : 0;
  if (!op.getUseGlobalDeviceIds() || channel > 0)
    return success();
  return op.emitOpError() << "expected a positive channel with use_global_device_ids, got " << channel;
}

/// Returns the number of ids in each group, if the op alone tells it.
static std::optional<int64_t> getGroupSize(Attribute groups) {
  if (auto dense = dyn_cast<DenseIntElementsAttr>(groups)) {
    auto values = dense.getValues<int64_t>();
    if (dense.empty() || llvm::is_contained(values, -1))
      return std::nullopt;
    return dense.getType().getDimSize(1);
  }
  return std::nullopt;
}

/// Returns the number of processes in each group of an all_gather or reduce_scatter. With a channel, but
/// without global ids, a group has all partitions of its replicas, and the module may say how many those are.
template <typename OpTy> static std::optional<int64_t> getProcessCount(OpTy op) {
  std::optional<int64_t> ids = getGroupSize(op.getReplicaGroups());
  auto channel = op.getChannelHandle();
  if (!ids || !channel || channel->getHandle() <= 0 || op.getUseGlobalDeviceIds())
    return ids;
  auto module = op->template getParentOfType<ModuleOp>();
  auto partitions =
      module ? module->template getAttrOfType<IntegerAttr>("mhlo.num_partitions") : IntegerAttr();
  return partitions ? std::optional(*ids * partitions.getInt()) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static LogicalResult verifyDimension(Operation *op, StringRef name, int64_t dim, RankedTensorType type) {
  if (dim >= 0 && dim < type.getRank())
    return success();
  return op->emitOpError() << "expected " << name << " in range [0, " << type.getRank() << "), got " << dim;
}

static LogicalResult verifyResult(Operation *op, Type result, RankedTensorType expected) {
  if (!expected)
    return op->emitOpError() << "expected a result within 64 bits";
  if (isCompatibleElement(getElementTypeOrSelf(result), expected.getElementType()) &&
      succeeded(verifyCompatibleShape(result, expected)))
    return success();
  return op->emitOpError() << "expected a result of type " << expected << ", got " << result;
}

/// Returns `type` with dimension `dim` times or divided by the size of a group. Null if it cannot be divided,
/// or is beyond what 64 bits hold.
static RankedTensorType scaled(RankedTensorType type, int64_t dim, int64_t factor, int64_t divisor) {
  SmallVector<int64_t> shape(type.getShape());
  if (!ShapedType::isDynamic(shape[dim])) {
    std::optional<int64_t> product = llvm::checkedMul(shape[dim], factor);
    if (!product || *product % divisor != 0)
      return {};
    shape[dim] = *product / divisor;
  }
  return type.clone(shape);
}

/// Verifies that `whole` is `part` a whole number of times along `dim`, where the size of groups is not
/// known.
static LogicalResult verifyMultiple(Operation *op, int64_t dim, RankedTensorType part,
                                    RankedTensorType whole) {
  bool fits = part.getRank() == whole.getRank();
  for (int64_t i = 0; fits && i < part.getRank(); ++i) {
    int64_t size = part.getDimSize(i), all = whole.getDimSize(i);
    bool isKnown = !ShapedType::isDynamic(size) && !ShapedType::isDynamic(all);
    fits = !isKnown || (i == dim && size != 0 ? all % size == 0 : all == size);
  }
  if (fits)
    return success();
  return op->emitOpError() << "expected operand and result to differ along dimension " << dim
                           << " only, by the processes of a group, got " << part << " and " << whole;
}

/// Verifies an op that combines operands: the results have the operands' shapes, and the element types of the
/// computation.
static LogicalResult verifyReduction(Operation *op, OperandRange operands, Region &computation) {
  if (operands.empty())
    return op->emitOpError() << "expected at least one operand";
  if (op->getNumResults() != operands.size())
    return op->emitOpError() << "expected " << operands.size() << " results, one per operand, got "
                             << op->getNumResults();
  SmallVector<Type> expected;
  for (Value operand : operands) { // one computation for all of them
    SmallVector<Type> elements;
    if (failed(verifyReducer(op, "the computation", computation, operand.getType(), operand.getType(),
                             elements)))
      return failure();
    expected.push_back(tensorOf(operand).clone(elements[0]));
  }
  for (auto [type, result] : llvm::zip_equal(expected, op->getResultTypes()))
    if (!isCompatibleElement(getElementTypeOrSelf(type), getElementTypeOrSelf(result)) ||
        failed(verifyCompatibleShape(type, result)))
      return op->emitOpError() << "expected results of the types of the operands, " << expected << ", got "
                               << op->getResultTypes();
  return success();
}

/// Verifies the last of `operands`, which holds the root process of each other, and drops it.
static LogicalResult verifyDynamicRoots(Operation *op, OperandRange &operands) {
  if (operands.size() < 2)
    return op->emitOpError() << "expected operands and their dynamic roots, got " << operands.size()
                             << " operands";
  RankedTensorType roots = tensorOf(operands.back());
  operands = operands.drop_back();
  if (roots.getRank() == 1 && roots.getElementType().isInteger(32) &&
      (roots.isDynamicDim(0) || roots.getDimSize(0) == static_cast<int64_t>(operands.size())))
    return success();
  return op->emitOpError() << "expected the last operand to be tensor<" << operands.size()
                           << "xi32>, the dynamic roots, got " << roots;
}

LogicalResult AllReduceOp::verify() {
  return success(
      succeeded(verifyGroups(*this, getReplicaGroups(),
                             {.mayBeFilled = true, .coverAll = !getUseGlobalDeviceIds()})) && // (C1) to (C3)
      succeeded(verifyChannel(*this)) &&                                                      // (C4)
      succeeded(verifyReduction(*this, getOperands(), getComputation())));                    // (C5) to (C7)
}

LogicalResult CollectiveReduceOp::verify() {
  OperandRange operands = getOperands();
  if (failed(verifyGroups(*this, getReplicaGroups(),
                          {.mayBeFilled = true, .coverAll = !getUseGlobalDeviceIds()})) ||
      failed(verifyChannel(*this)) || (getHasDynamicRoot() && failed(verifyDynamicRoots(*this, operands))))
    return failure();
  return verifyReduction(*this, operands, getComputation());
}

LogicalResult CrossReplicaSumOp::verify() { // (C1)
  return success(
      succeeded(verifyGroups(*this, getReplicaGroups(), {.mayBeFilled = true, .coverAll = false})) &&
      succeeded(verifyResult(*this, getResult().getType(), tensorOf(getOperand()))));
}

/// Verifies that the result is one number without shape.
static LogicalResult verifyId(Operation *op) {
  if (op->getResult(0).getType() ==
      RankedTensorType::get({}, IntegerType::get(op->getContext(), 32, IntegerType::Unsigned)))
    return success();
  return op->emitOpError() << "expected a result of type tensor<ui32>, got " << op->getResult(0).getType();
}

LogicalResult PartitionIdOp::verify() { return verifyId(*this); }

LogicalResult ReplicaIdOp::verify() { return verifyId(*this); }

LogicalResult ReduceScatterOp::verify() {
  RankedTensorType operand = tensorOf(getOperand());
  int64_t dim = getScatterDimension();
  SmallVector<Type> elements;
  if (failed(verifyGroups(*this, getReplicaGroups(), {.coverAll = !getUseGlobalDeviceIds()})) ||
      failed(verifyChannel(*this)) || // (C3) to (C6)
      failed(verifyReducer(*this, "the computation", getComputation(), getOperand().getType(),
                           getOperand().getType(), elements)) ||         // (C7)
      failed(verifyDimension(*this, "scatter_dimension", dim, operand))) // (C2)
    return failure();
  std::optional<int64_t> size = getProcessCount(*this);
  if (!size)
    return verifyMultiple(*this, dim, tensorOf(getResult()), operand); // (C8)
  RankedTensorType expected = scaled(operand, dim, 1, *size);
  if (!expected) // (C1)
    return emitOpError() << "expected dimension " << dim << " of the operand to be a multiple of " << *size
                         << ", the processes of a group, got " << operand;
  return verifyResult(*this, getResult().getType(), expected.clone(elements[0])); // (C8), (C9)
}

LogicalResult AllGatherOp::verify() {
  if (getOperands().empty())
    return emitOpError() << "expected at least one operand";
  if (getNumResults() != getOperands().size())
    return emitOpError() << "expected " << getOperands().size() << " results, one per operand, got "
                         << getNumResults();
  if (failed(verifyGroups(*this, getReplicaGroups(), {.coverAll = !getUseGlobalDeviceIds()})) ||
      failed(verifyChannel(*this))) // (C2) to (C5)
    return failure();
  std::optional<int64_t> size = getProcessCount(*this);
  for (auto [operand, result] : llvm::zip_equal(getOperands(), getResults())) {
    auto type = cast<RankedTensorType>(operand.getType());
    int64_t dim = getAllGatherDim();
    if (failed(verifyDimension(*this, "all_gather_dim", dim, type)) ||
        (size && failed(verifyResult(*this, result.getType(), scaled(type, dim, *size, 1)))) ||
        (!size && failed(verifyMultiple(*this, dim, type, tensorOf(result)))))
      return failure();
    if (type.getDimSize(dim) == 0)
      return emitOpError() << "expected operands with elements along all_gather_dim " << dim << ", got "
                           << type;
  }
  return success();
}

LogicalResult AllToAllOp::verify() {
  if (getOperands().empty())
    return emitOpError() << "expected at least one operand";
  if (getNumResults() != getOperands().size())
    return emitOpError() << "expected " << getOperands().size() << " results, one per operand, got "
                         << getNumResults();
  int64_t count = getSplitCount();
  if (count < 1)
    return emitOpError() << "expected a positive split_count, got " << count;
  if (failed(verifyGroups(*this, getReplicaGroups())))
    return failure();
  std::optional<int64_t> size = getGroupSize(getReplicaGroups());
  if (size && *size != count)
    return emitOpError() << "expected split_count to be " << *size << ", the processes of a group, got "
                         << count;
  for (auto [operand, result] : llvm::zip_equal(getOperands(), getResults())) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (failed(verifyDimension(*this, "split_dimension", getSplitDimension(), type)) ||
        failed(verifyDimension(*this, "concat_dimension", getConcatDimension(), type)))
      return failure();
    RankedTensorType split = scaled(type, getSplitDimension(), 1, count);
    if (!split)
      return emitOpError() << "expected dimension " << getSplitDimension()
                           << " of the operand to be a multiple of " << count << ", the split_count, got "
                           << type;
    if (failed(verifyResult(*this, result.getType(), scaled(split, getConcatDimension(), count, 1))))
      return failure();
  }
  return success();
}

LogicalResult CollectivePermuteOp::verify() {
  DenseIntElementsAttr pairs = getSourceTargetPairs();
  if (pairs.getType().getRank() != 2 || pairs.getType().getDimSize(1) != 2)
    return emitOpError() << "expected source_target_pairs of type tensor<Nx2xi64>, got " << pairs.getType();
  std::unordered_set<int64_t> sources, targets;
  for (auto [index, id] : llvm::enumerate(pairs.getValues<int64_t>())) {
    if (id < 0)
      return emitOpError() << "expected processes from 0 in source_target_pairs, got " << id;
    if (!(index % 2 ? targets : sources).insert(id).second)
      return emitOpError() << "expected unique " << (index % 2 ? "targets" : "sources")
                           << " in source_target_pairs, got " << id << " twice";
  }
  return verifyResult(*this, getResult().getType(), cast<RankedTensorType>(getOperand().getType()));
}

LogicalResult CollectiveBroadcastOp::verify() {
  // A process in no group has zeros.
  if (failed(verifyGroups(*this, getReplicaGroups(), {.mayBeFilled = true, .coverAll = false}))) // (C1)
    return failure();
  OperandRange operands = getOperands();
  if (operands.empty()) // (C2)
    return emitOpError() << "expected at least one operand";
  if (getHasDynamicRoot() && failed(verifyDynamicRoots(*this, operands))) // (C4)
    return failure();
  if (operands.size() != getNumResults()) // (C2)
    return emitOpError() << "expected " << operands.size() << " results, one per operand, got "
                         << getNumResults();
  for (auto [operand, result] : llvm::zip_equal(operands, getResults())) // (C3)
    if (failed(verifyResult(*this, result.getType(), tensorOf(operand))))
      return failure();
  return success();
}
