//===-- DiscardableAttrs.cpp - cgx attributes on modules, arguments and results -===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace cgx;

static LogicalResult verifyMesh(Operation *op, NamedAttribute attribute) {
  if (!isa<ModuleOp>(op))
    return op->emitOpError() << "has " << attribute.getName().getValue() << ", which belongs on a module";
  auto mesh = dyn_cast<MeshAttr>(attribute.getValue());
  if (!mesh)
    return op->emitOpError() << "expected " << attribute.getName().getValue() << " to be a #cgx.mesh, got "
                             << attribute.getValue();
  auto numRanks = op->getAttrOfType<IntegerAttr>(kNumRanksAttrName);
  if (numRanks && numRanks.getInt() != mesh.getNumRanks())
    return op->emitOpError() << "expected " << kNumRanksAttrName << " to be " << mesh.getNumRanks()
                             << ", the size of the mesh, got " << numRanks.getInt();
  return success();
}

static LogicalResult verifyNumRanks(Operation *op, NamedAttribute attribute) {
  if (!isa<ModuleOp>(op))
    return op->emitOpError() << "has " << attribute.getName().getValue() << ", which belongs on a module";
  auto numRanks = dyn_cast<IntegerAttr>(attribute.getValue());
  if (!numRanks || !numRanks.getType().isSignlessInteger(64) || numRanks.getInt() < 1)
    return op->emitOpError() << "expected " << attribute.getName().getValue() << " to be a positive i64, got "
                             << attribute.getValue();
  return success();
}

/// Rejects an earlier name where it is not read: the parsers of collectives read it, and the generic form has
/// no such parser.
static LogicalResult refuseEarlierName(Operation *op, NamedAttribute attribute, StringRef name) {
  if (isa<CollectiveOpInterface, CompressOp>(op))
    return op->emitOpError() << "expected " << name << ", got " << attribute.getName().getValue()
                             << ", as earlier programs have it in pretty form only";
  return op->emitOpError() << "has " << attribute.getName().getValue() << ", which belongs on a collective";
}

static LogicalResult verifyEvery(Operation *op, NamedAttribute attribute) {
  auto every = dyn_cast<IntegerAttr>(attribute.getValue());
  auto start = dyn_cast<StartOp>(op);
  if (op->getNumRegions() == 0 || (start && !start.getCondition()))
    return op->emitOpError() << "has " << attribute.getName().getValue()
                             << ", which belongs on a branch, or on a start with a condition";
  if (!every || !every.getType().isSignlessInteger(64) || every.getInt() < 1)
    return op->emitOpError() << "expected " << attribute.getName().getValue() << " to be a positive i64, got "
                             << attribute.getValue();
  return success();
}

static LogicalResult verifyTurn(Operation *op, NamedAttribute attribute) {
  auto turn = dyn_cast<IntegerAttr>(attribute.getValue());
  auto every = op->getAttrOfType<IntegerAttr>(kEveryAttrName);
  if (!turn || !turn.getType().isSignlessInteger(64) || !every || turn.getInt() < 1 ||
      turn.getInt() > every.getInt())
    return op->emitOpError() << "expected " << attribute.getName().getValue() << " to be an i64 from 1 to "
                             << kEveryAttrName << ", got " << attribute.getValue();
  return success();
}

LogicalResult CgxDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == kMeshAttrName)
    return verifyMesh(op, attribute);
  if (attribute.getName() == kNumRanksAttrName)
    return verifyNumRanks(op, attribute);
  if (attribute.getName() == kEarlierExactReasonName)
    return refuseEarlierName(op, attribute, "exact_reasons");
  if (attribute.getName() == kEarlierOriginsName)
    return refuseEarlierName(op, attribute, "origins");
  if (attribute.getName() == kEveryAttrName)
    return verifyEvery(op, attribute);
  if (attribute.getName() == kTurnAttrName)
    return verifyTurn(op, attribute);
  return success();
}

/// Verifies the attributes that arguments and results share.
static LogicalResult verifyValueAttribute(Operation *op, const Twine &value, Type type,
                                          NamedAttribute attribute) {
  if (attribute.getName() == kNameAttrName && !isa<StringAttr>(attribute.getValue()))
    return op->emitOpError() << "expected " << attribute.getName().getValue() << " of " << value
                             << " to be a string, got " << attribute.getValue();
  if (auto name = dyn_cast<StringAttr>(attribute.getValue()); name && !llvm::json::isUTF8(name))
    return op->emitOpError() << "expected " << attribute.getName().getValue() << " of " << value
                             << " to be UTF-8, got \"" << llvm::json::fixUTF8(name) << "\"";
  if (attribute.getName() == kGlobalTypeAttrName && !isa<TypeAttr>(attribute.getValue()))
    return op->emitOpError() << "expected " << attribute.getName().getValue() << " of " << value
                             << " to be a type, got " << attribute.getValue();
  if (attribute.getName() != kShardingAttrName)
    return success();
  auto sharding = dyn_cast<ShardingAttr>(attribute.getValue());
  if (!sharding)
    return op->emitOpError() << "expected " << attribute.getName().getValue() << " of " << value
                             << " to be a #cgx.sharding, got " << attribute.getValue();
  auto shaped = dyn_cast<ShapedType>(type);
  if (shaped && shaped.hasRank() && shaped.getRank() != static_cast<int64_t>(sharding.getDimensions().size()))
    return op->emitOpError() << "expected " << attribute.getName().getValue() << " of " << value
                             << " to have " << shaped.getRank() << " dimensions, as its type has, got "
                             << sharding.getDimensions().size();
  return success();
}

LogicalResult CgxDialect::verifyRegionArgAttribute(Operation *op, unsigned region, unsigned argument,
                                                   NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  Type type = function && argument < function.getNumArguments()
                  ? function.getArgumentTypes()[argument]
                  : op->getRegion(region).getArgument(argument).getType();
  if (auto value = dyn_cast<IntegerAttr>(attribute.getValue()); attribute.getName() == kInitialAttrName &&
                                                                !isa<StringAttr>(attribute.getValue()) &&
                                                                (!value || value.getInt() != 0))
    return op->emitOpError() << "expected " << attribute.getName().getValue() << " of argument " << argument
                             << " to be 0 or the name of a tensor, got " << attribute.getValue();
  return verifyValueAttribute(op, "argument " + Twine(argument), type, attribute);
}

LogicalResult CgxDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned result,
                                                      NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return success();
  if (attribute.getName() == kFeedsAttrName || attribute.getName() == kUpdatesAttrName) {
    auto feeds = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!feeds || !feeds.getType().isSignlessInteger(64) || feeds.getInt() < 0 ||
        feeds.getInt() >= function.getNumArguments())
      return op->emitOpError() << "expected " << attribute.getName().getValue() << " of result " << result
                               << " to be the number of one of " << function.getNumArguments()
                               << " arguments as i64, got " << attribute.getValue();
  }
  return verifyValueAttribute(op, "result " + Twine(result), function.getResultTypes()[result], attribute);
}
