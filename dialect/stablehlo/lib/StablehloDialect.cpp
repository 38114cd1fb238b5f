//===-- StablehloDialect.cpp - registration, constants, inlining -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "AssemblyDirectives.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cgx::stablehlo;

#include "cgx/Dialect/Stablehlo/StablehloDialect.cpp.inc"
#include "cgx/Dialect/Stablehlo/StablehloEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "cgx/Dialect/Stablehlo/StablehloAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "cgx/Dialect/Stablehlo/StablehloTypes.cpp.inc"

namespace {

/// JAX outlines functions; any op of the dialect may be inlined with its function.
struct StablehloInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Operation *, bool) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};

} // namespace

void StablehloDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "cgx/Dialect/Stablehlo/StablehloOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "cgx/Dialect/Stablehlo/StablehloAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "cgx/Dialect/Stablehlo/StablehloTypes.cpp.inc"
      >();
  addInterfaces<StablehloInlinerInterface>();
  allowUnknownOperations();
}

Attribute StablehloDialect::parseAttribute(DialectAsmParser &parser, Type type) const {
  StringRef mnemonic;
  Attribute attribute;
  OptionalParseResult known = generatedAttributeParser(parser, &mnemonic, type, attribute);
  if (known.has_value())
    return attribute;
  if (mnemonic == "type_extensions")
    return parseTypeExtensions(parser);
  return UnknownAttr::get(getContext(), parser.getFullSymbolSpec());
}

void StablehloDialect::printAttribute(Attribute attribute, DialectAsmPrinter &printer) const {
  if (auto unknown = dyn_cast<UnknownAttr>(attribute))
    printer << unknown.getText();
  else
    (void)generatedAttributePrinter(attribute, printer);
}

Operation *StablehloDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                                 Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, elements);
}
