//===-- RegionOps.cpp - reduce, while and their text -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AssemblyDirectives.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cgx::stablehlo;

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//
//
// With one op of the dialect as the body:
//   stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (X, C) -> R
// Otherwise:
//   stablehlo.reduce(%x init: %c), (%y init: %d) across dimensions = [0] : (X, Y, C, D) -> (R, S)
//    reducer(%a: C, %b: C) (%p: D, %q: D) { ... }

/// Returns the one op of the body, if the body applies it to its arguments in their order.
static Operation *getSimpleReducer(ReduceOp op) {
  if (op.getInputs().size() != 1 || !llvm::hasSingleElement(op.getBody()))
    return nullptr;
  Block &body = op.getBody().front();
  if (body.getOperations().size() != 2 || body.getNumArguments() != 2)
    return nullptr;
  Operation &inner = body.front();
  if (inner.getNumOperands() != 2 || inner.getNumResults() != 1 || inner.getNumRegions() != 0 ||
      inner.getOperands() != ValueRange(body.getArguments()) || !inner.getAttrs().empty() ||
      !isa<StablehloDialect>(inner.getDialect()) || !inner.hasTrait<OpTrait::IsCommutative>() ||
      inner.getResult(0).getType() != body.getArgument(0).getType() ||
      body.getArgument(0).getType() != body.getArgument(1).getType())
    return nullptr;
  // The short form has no place for a location of its own nor for properties.
  if (inner.getPropertiesStorageSize() != 0)
    return nullptr;
  // The types of the arguments are those of the initial value, without shape: check, since the short
  // form leaves them out.
  auto initial = cast<RankedTensorType>(op.getInitValues()[0].getType());
  if (body.getArgument(0).getType() != RankedTensorType::get({}, initial.getElementType()))
    return nullptr;
  auto *terminator = body.getTerminator();
  return terminator->getOperands() == ValueRange(inner.getResults()) ? &inner : nullptr;
}

void ReduceOp::print(OpAsmPrinter &printer) {
  unsigned count = getInputs().size();
  for (unsigned i = 0; i < count; ++i)
    printer << (i ? ", (" : "(") << getInputs()[i] << " init: " << getInitValues()[i] << ')';
  Operation *simple = getSimpleReducer(*this);
  if (simple)
    printer << " applies " << simple->getName().getStringRef();
  printer << " across dimensions = ";
  printDims(printer, getDimensions());
  printer.printOptionalAttrDict((*this)->getAttrs(), {getDimensionsAttrName()});
  printer << " : ";
  printer.printFunctionalType(*this);
  if (simple)
    return;
  printer.printNewline();
  printer << " reducer";
  Block &body = getBody().front();
  for (unsigned i = 0; i < count; ++i) {
    printer << (i ? " (" : "(");
    printer.printRegionArgument(body.getArgument(i));
    printer << ", ";
    printer.printRegionArgument(body.getArgument(i + count));
    printer << ')';
  }
  printer << "  ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

/// Builds the body that the short form stands for.
static ParseResult buildSimpleReducer(OpAsmParser &parser, SMLoc location, OperationName name, Type initial,
                                      Region &body) {
  if (name.getDialectNamespace() != StablehloDialect::getDialectNamespace())
    return parser.emitError(location) << "expected an op of stablehlo as reducer, got '" << name << "'";
  if (!name.hasTrait<OpTrait::IsCommutative>())
    return parser.emitError(location) << "expected a commutative op as reducer, got '" << name << "'";
  auto tensor = dyn_cast<RankedTensorType>(initial);
  if (!tensor)
    return parser.emitError(location) << "expected the initial value to be a ranked tensor, got " << initial;
  Type type = RankedTensorType::get({}, tensor.getElementType());
  Location loc = parser.getEncodedSourceLoc(location);
  Block &block = body.emplaceBlock();
  block.addArguments({type, type}, {loc, loc});
  // The region has no op around it yet, so the block cannot tell the builder its context.
  OpBuilder builder(parser.getContext());
  builder.setInsertionPointToStart(&block);
  OperationState inner(loc, name);
  inner.addOperands(block.getArguments());
  inner.addTypes(type);
  Operation *op = builder.create(inner);
  ReturnOp::create(builder, loc, op->getResults());
  return success();
}

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  SMLoc operandsLocation = parser.getCurrentLocation();
  SmallVector<OpAsmParser::UnresolvedOperand> operands, initials;
  do {
    if (parser.parseLParen() || parser.parseOperand(operands.emplace_back()) || parser.parseKeyword("init") ||
        parser.parseColon() || parser.parseOperand(initials.emplace_back()) || parser.parseRParen())
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  llvm::append_range(operands, initials);

  std::optional<OperationName> simple;
  SMLoc reducerLocation = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword("applies"))) {
    reducerLocation = parser.getCurrentLocation();
    FailureOr<OperationName> name = parser.parseCustomOperationName();
    if (failed(name))
      return failure();
    simple = *name;
  }
  SmallVector<int64_t> dimensions;
  FunctionType type;
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") || parser.parseEqual() ||
      parseDims(parser, dimensions) || parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), operandsLocation, result.operands))
    return failure();
  result.addTypes(type.getResults());
  result.getOrAddProperties<Properties>().dimensions = parser.getBuilder().getDenseI64ArrayAttr(dimensions);

  Region *body = result.addRegion();
  if (simple) {
    if (operands.size() != 2)
      return parser.emitError(reducerLocation)
             << "expected one operand with 'applies', got " << operands.size() / 2;
    return buildSimpleReducer(parser, reducerLocation, *simple, type.getInput(1), *body);
  }
  if (parser.parseKeyword("reducer"))
    return failure();
  SmallVector<OpAsmParser::Argument> lhs, rhs;
  for (size_t i = 0; i < initials.size(); ++i)
    if (parser.parseLParen() || parser.parseArgument(lhs.emplace_back(), /*allowType=*/true) ||
        parser.parseComma() || parser.parseArgument(rhs.emplace_back(), /*allowType=*/true) ||
        parser.parseRParen())
      return failure();
  llvm::append_range(lhs, rhs);
  return parser.parseRegion(*body, lhs);
}

//===----------------------------------------------------------------------===//
// while
//===----------------------------------------------------------------------===//
//
//   %r:2 = stablehlo.while(%iterArg = %a, %iterArg_0 = %b) : A, B
//    cond { ... } do { ... }

void WhileOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments())
    setName(argument, "iterArg");
}

void WhileOp::print(OpAsmPrinter &printer) {
  printer << '(';
  llvm::interleaveComma(llvm::zip(getCond().getArguments(), getOperand()), printer, [&](auto pair) {
    printer.printOperand(std::get<0>(pair));
    printer << " = ";
    printer.printOperand(std::get<1>(pair));
  });
  printer << ')';
  if (getNumOperands()) {
    printer << " : ";
    llvm::interleaveComma(getOperandTypes(), printer);
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer.printNewline();
  printer << " cond ";
  printer.printRegion(getCond(), /*printEntryBlockArgs=*/false);
  printer << " do ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &result) {
  SMLoc location = parser.getCurrentLocation();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  auto parseAssignment = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseAssignment))
    return failure();
  SmallVector<Type> types;
  if (!operands.empty() && (parser.parseColon() || parser.parseTypeList(types)))
    return failure();
  if (parser.resolveOperands(operands, types, location, result.operands) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  for (auto [argument, type] : llvm::zip_equal(arguments, types))
    argument.type = type;
  result.addTypes(types);
  return failure(parser.parseKeyword("cond") || parser.parseRegion(*result.addRegion(), arguments) ||
                 parser.parseKeyword("do") || parser.parseRegion(*result.addRegion(), arguments));
}
