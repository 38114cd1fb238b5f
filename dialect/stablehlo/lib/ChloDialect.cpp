//===-- ChloDialect.cpp - the few chlo ops of StableHLO text --------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Stablehlo/ChloDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cgx::chlo;

#include "cgx/Dialect/Stablehlo/ChloDialect.cpp.inc"
#include "cgx/Dialect/Stablehlo/ChloEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "cgx/Dialect/Stablehlo/ChloAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "cgx/Dialect/Stablehlo/ChloOps.cpp.inc"

namespace {

struct ChloInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};

} // namespace

void ChloDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "cgx/Dialect/Stablehlo/ChloOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "cgx/Dialect/Stablehlo/ChloAttrs.cpp.inc"
      >();
  addInterfaces<ChloInlinerInterface>();
  allowUnknownOperations();
}

Operation *ChloDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  return elements && elements.getType() == type ? ConstantOp::create(builder, loc, elements).getOperation()
                                                : nullptr;
}
