//===-- SdyDialect.cpp - registration of the sdy dialect -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Sdy/SdyDialect.h"

#include "OpSyntax.h"
#include "PartitionerText.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cgx::sdy;

#include "cgx/Dialect/Sdy/SdyDialect.cpp.inc"
#include "cgx/Dialect/Sdy/SdyEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "cgx/Dialect/Sdy/SdyAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "cgx/Dialect/Sdy/SdyOps.cpp.inc"

namespace {
/// No op of this dialect depends on the function that it stands in.
struct SdyInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void SdyDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "cgx/Dialect/Sdy/SdyAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "cgx/Dialect/Sdy/SdyOps.cpp.inc"
      >();
  addInterfaces<SdyInlinerInterface>();
  allowUnknownOperations();
}

Attribute SdyDialect::parseAttribute(DialectAsmParser &parser, Type type) const {
  StringRef mnemonic;
  Attribute attribute;
  OptionalParseResult known = generatedAttributeParser(parser, &mnemonic, type, attribute);
  if (known.has_value())
    return attribute;
  StringRef text = parser.getFullSymbolSpec();
  if (std::string wrong = refuseText(text); !wrong.empty()) {
    parser.emitError(parser.getNameLoc()) << wrong;
    return {};
  }
  return UnknownAttr::get(getContext(), text);
}

void SdyDialect::printAttribute(Attribute attribute, DialectAsmPrinter &printer) const {
  if (auto unknown = dyn_cast<UnknownAttr>(attribute))
    printer << unknown.getText();
  else
    (void)generatedAttributePrinter(attribute, printer);
}

std::optional<int64_t> MeshAttr::getAxisSize(StringRef name) const {
  for (MeshAxisAttr axis : getAxes())
    if (axis.getName() == name)
      return axis.getSize();
  return std::nullopt;
}

int64_t MeshAttr::getDeviceCount() const {
  int64_t count = 1;
  for (MeshAxisAttr axis : getAxes())
    count *= axis.getSize();
  return count;
}

MeshAttr TensorShardingAttr::getMesh(Operation *user) const {
  if (auto mesh = dyn_cast<MeshAttr>(getMeshOrRef()))
    return mesh;
  // The search starts from the module, not from `user`: an op around it that no dialect defines might be a
  // symbol table of its own and would end the search.
  auto module = user->getParentOfType<ModuleOp>();
  if (!module)
    return {};
  auto op = module.lookupSymbol<MeshOp>(cast<FlatSymbolRefAttr>(getMeshOrRef()).getValue());
  return op ? op.getMesh() : MeshAttr();
}

MeshAttr ManualComputationOp::getMesh() {
  for (TensorShardingPerValueAttr shardings : {getInShardings(), getOutShardings()})
    for (TensorShardingAttr sharding : shardings.getShardings())
      if (MeshAttr mesh = sharding.getMesh(*this); mesh && !mesh.getAxes().empty())
        return mesh;
  return {};
}

/// Operands and results are whole, the region has the pieces of a device: values pass, types change.
void ManualComputationOp::getSuccessorRegions(RegionBranchPoint point,
                                              SmallVectorImpl<RegionSuccessor> &successors) {
  if (point.isParent())
    successors.emplace_back(&getOperation()->getRegion(0), getOperation()->getRegion(0).getArguments());
  else
    successors.emplace_back(getOperation(), getOperation()->getResults());
}

OperandRange ManualComputationOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getOperation()->getOperands();
}

bool ManualComputationOp::areTypesCompatible(Type, Type) { return true; }

Type cgx::sdy::getLocalType(Type global, TensorShardingAttr sharding, MeshAttr mesh,
                            ArrayRef<StringAttr> manualAxes) {
  auto tensor = dyn_cast<RankedTensorType>(global);
  if (!tensor)
    return global;
  if (tensor.getRank() != static_cast<int64_t>(sharding.getDimensions().size()))
    return {};
  SmallVector<int64_t> shape(tensor.getShape());
  for (auto [size, dimension] : llvm::zip_equal(shape, sharding.getDimensions()))
    for (AxisRefAttr axis : dimension.getAxes()) {
      bool isManual = llvm::any_of(manualAxes, [&](StringAttr name) { return name == axis.getName(); });
      if (!isManual || ShapedType::isDynamic(size))
        continue;
      int64_t parts = axis.isWhole() ? mesh.getAxisSize(axis.getName()).value_or(1) : axis.getSize();
      if (size % parts != 0)
        return {};
      size /= parts;
    }
  return tensor.clone(shape);
}
