//===-- MhloDialect.cpp - registration of mhlo -------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Stablehlo/MhloDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cgx::mhlo;

#include "cgx/Dialect/Stablehlo/MhloDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "cgx/Dialect/Stablehlo/MhloAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "cgx/Dialect/Stablehlo/MhloOps.cpp.inc"

namespace {

struct MhloInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};

} // namespace

void MhloDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "cgx/Dialect/Stablehlo/MhloOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "cgx/Dialect/Stablehlo/MhloAttrs.cpp.inc"
      >();
  addInterfaces<MhloInlinerInterface>();
  allowUnknownOperations();
}

Attribute MhloDialect::parseAttribute(DialectAsmParser &parser, Type) const {
  return UnknownAttr::get(getContext(), parser.getFullSymbolSpec());
}

void MhloDialect::printAttribute(Attribute attribute, DialectAsmPrinter &printer) const {
  printer << cast<UnknownAttr>(attribute).getText();
}

OpFoldResult CopyOp::fold(FoldAdaptor) { return getOperand(); }

LogicalResult FusionOp::verify() {
  Block &body = getFusedComputation().front();
  if (body.getArgumentTypes() != getInputs().getTypes()) // (C1)
    return emitOpError() << "expected block arguments of the operands' types " << getInputs().getTypes()
                         << ", got " << body.getArgumentTypes();
  Operation *end = body.empty() ? nullptr : &body.back();
  if (!isa_and_nonnull<ReturnOp>(end) || end->getOperandTypes() != getOutputs().getTypes()) // (C2)
    return emitOpError() << "expected an 'mhlo.return' of the results' types " << getOutputs().getTypes();
  return success();
}
