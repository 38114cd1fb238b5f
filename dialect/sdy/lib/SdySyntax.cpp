//===-- SdySyntax.cpp - the text of meshes and shardings -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpSyntax.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cgx::sdy;

using Delimiter = AsmParser::Delimiter;

//===----------------------------------------------------------------------===//
// Meshes: <["data"=4, "model"=2], device_ids=[3, 2, 1, 0]>
//===----------------------------------------------------------------------===//

Attribute MeshAxisAttr::parse(AsmParser &parser, Type) {
  std::string name;
  int64_t size = 0;
  if (parser.parseString(&name) || parser.parseEqual() || parser.parseInteger(size))
    return {};
  return get(parser.getContext(), name, size);
}

void MeshAxisAttr::print(AsmPrinter &printer) const {
  printer.printString(getName());
  printer << "=" << getSize();
}

static ParseResult parseIntegers(AsmParser &parser, SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(Delimiter::Square,
                                        [&] { return parser.parseInteger(values.emplace_back()); });
}

template <typename AttrT>
static ParseResult parseList(AsmParser &parser, Delimiter delimiter, SmallVectorImpl<AttrT> &items) {
  return parser.parseCommaSeparatedList(delimiter, [&]() -> ParseResult {
    items.push_back(dyn_cast_or_null<AttrT>(AttrT::parse(parser, Type())));
    return success(items.back() != nullptr);
  });
}

template <typename AttrT> static void printList(AsmPrinter &printer, ArrayRef<AttrT> items) {
  llvm::interleaveComma(items, printer, [&](AttrT item) { item.print(printer); });
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<MeshAxisAttr> axes;
  SmallVector<int64_t> deviceIds;
  if (parser.parseLess() || parseList(parser, Delimiter::Square, axes))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("device_ids") || parser.parseEqual() || parseIntegers(parser, deviceIds)))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), ArrayRef<MeshAxisAttr>(axes),
                    ArrayRef<int64_t>(deviceIds));
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  printList(printer, getAxes());
  printer << "]";
  if (!getDeviceIds().empty()) {
    printer << ", device_ids=[";
    llvm::interleaveComma(getDeviceIds(), printer);
    printer << "]";
  }
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Axes and dimensions: "y":(2)4 and {"x", "y", ?}p1
//===----------------------------------------------------------------------===//

Attribute AxisRefAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  std::string name;
  int64_t preSize = 0;
  int64_t size = 0;
  if (parser.parseString(&name))
    return {};
  if (succeeded(parser.parseOptionalColon()) && (parser.parseLParen() || parser.parseInteger(preSize) ||
                                                 parser.parseRParen() || parser.parseInteger(size)))
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), StringRef(name), preSize,
                    size);
}

void AxisRefAttr::print(AsmPrinter &printer) const {
  printer.printString(getName());
  if (!isWhole())
    printer << ":(" << getPreSize() << ")" << getSize();
}

/// Parses a priority such as `p1`, which the lexer reads as a keyword.
static ParseResult parseOptionalPriority(AsmParser &parser, std::optional<int64_t> &priority) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (failed(parser.parseOptionalKeyword(&keyword)))
    return success();
  int64_t value = 0;
  if (!keyword.consume_front("p") || keyword.getAsInteger(10, value) || value < 0 ||
      (keyword.size() > 1 && keyword[0] == '0'))
    return parser.emitError(loc, "expected a priority such as 'p1'");
  priority = value;
  return success();
}

Attribute DimensionShardingAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRefAttr> axes;
  bool isClosed = true;
  std::optional<int64_t> priority;
  auto parseItem = [&]() -> ParseResult {
    if (!isClosed)
      return parser.emitError(parser.getCurrentLocation(), "expected '?' to be the last entry");
    if (succeeded(parser.parseOptionalQuestion())) {
      isClosed = false;
      return success();
    }
    axes.push_back(dyn_cast_or_null<AxisRefAttr>(AxisRefAttr::parse(parser, Type())));
    return success(axes.back() != nullptr);
  };
  if (parser.parseCommaSeparatedList(Delimiter::Braces, parseItem) || parseOptionalPriority(parser, priority))
    return {};
  return get(parser.getContext(), axes, isClosed, priority);
}

void DimensionShardingAttr::print(AsmPrinter &printer) const {
  printer << "{";
  printList(printer, getAxes());
  if (!getIsClosed())
    printer << (getAxes().empty() ? "?" : ", ?");
  printer << "}";
  if (getPriority())
    printer << "p" << *getPriority();
}

//===----------------------------------------------------------------------===//
// Shardings: <@mesh, [{"data"}, {}], replicated={"x"}, unreduced={"y"}>
//===----------------------------------------------------------------------===//

/// Parses `@mesh` or `mesh<["x"=2]>`.
static ParseResult parseMeshOrRef(AsmParser &parser, Attribute &meshOrRef) {
  if (succeeded(parser.parseOptionalKeyword("mesh"))) {
    meshOrRef = MeshAttr::parse(parser, Type());
    return success(meshOrRef != nullptr);
  }
  FlatSymbolRefAttr symbol;
  if (parser.parseAttribute(symbol))
    return failure();
  meshOrRef = symbol;
  return success();
}

/// Parses `max` before the unreduced axes.
static ParseResult parseOptionalReduction(AsmParser &parser, ReductionOp &reduction) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (failed(parser.parseOptionalKeyword(&word)))
    return success();
  std::optional<ReductionOp> known = symbolizeReductionOp(word);
  if (!known)
    return parser.emitError(loc) << "expected sum, max or min, got '" << word << "'";
  reduction = *known;
  return success();
}

Attribute TensorShardingAttr::parse(AsmParser &parser, Type) {
  Attribute meshOrRef;
  SmallVector<DimensionShardingAttr> dimensions;
  SmallVector<AxisRefAttr> replicated;
  SmallVector<AxisRefAttr> unreduced;
  ReductionOp reduction = ReductionOp::Sum;
  if (parser.parseLess() || parseMeshOrRef(parser, meshOrRef) || parser.parseComma() ||
      parseList(parser, Delimiter::Square, dimensions))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    bool isReplicated = succeeded(parser.parseOptionalKeyword("replicated"));
    SmallVector<AxisRefAttr> &axes = isReplicated ? replicated : unreduced;
    if (!isReplicated && parser.parseKeyword("unreduced", " or 'replicated'"))
      return {};
    if (!axes.empty()) {
      parser.emitError(parser.getCurrentLocation()) << "expected each list of axes once";
      return {};
    }
    if (parser.parseEqual() || (!isReplicated && parseOptionalReduction(parser, reduction)) ||
        parseList(parser, Delimiter::Braces, axes))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), meshOrRef, dimensions, replicated, unreduced, reduction);
}

static void printAxes(AsmPrinter &printer, StringRef keyword, ArrayRef<AxisRefAttr> axes,
                      ReductionOp reduction = ReductionOp::Sum) {
  if (axes.empty())
    return;
  printer << ", " << keyword << "=";
  if (reduction != ReductionOp::Sum)
    printer << stringifyReductionOp(reduction);
  printer << "{";
  printList(printer, axes);
  printer << "}";
}

void TensorShardingAttr::print(AsmPrinter &printer) const {
  printer << "<";
  if (auto mesh = dyn_cast<MeshAttr>(getMeshOrRef())) {
    printer << "mesh";
    mesh.print(printer);
  } else {
    printer.printAttribute(getMeshOrRef());
  }
  printer << ", [";
  printList(printer, getDimensions());
  printer << "]";
  printAxes(printer, "replicated", getReplicatedAxes());
  printAxes(printer, "unreduced", getUnreducedAxes(), getReductionOp());
  printer << ">";
}

static TensorShardingPerValueAttr parseShardingList(AsmParser &parser) {
  SmallVector<TensorShardingAttr> shardings;
  if (parseList(parser, Delimiter::Square, shardings))
    return {};
  return TensorShardingPerValueAttr::get(parser.getContext(), shardings);
}

static void printShardingList(AsmPrinter &printer, TensorShardingPerValueAttr shardings) {
  printer << "[";
  printList(printer, shardings.getShardings());
  printer << "]";
}

Attribute TensorShardingPerValueAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  TensorShardingPerValueAttr shardings = parseShardingList(parser);
  return shardings && succeeded(parser.parseGreater()) ? shardings : TensorShardingPerValueAttr();
}

void TensorShardingPerValueAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printShardingList(printer, *this);
  printer << ">";
}

Attribute ManualAxesAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> axes;
  auto parseName = [&]() -> ParseResult {
    std::string name;
    if (parser.parseString(&name))
      return failure();
    axes.push_back(StringAttr::get(parser.getContext(), name));
    return success();
  };
  if (parser.parseCommaSeparatedList(Delimiter::Braces, parseName))
    return {};
  return get(parser.getContext(), axes);
}

void ManualAxesAttr::print(AsmPrinter &printer) const {
  printer << "{";
  llvm::interleaveComma(getAxes(), printer, [&](StringAttr name) { printer.printString(name); });
  printer << "}";
}

//===----------------------------------------------------------------------===//
// Axes of collectives: {"x", "y":(1)2}, [{"x"}, {}] and [{"x"}: 0->2]
//===----------------------------------------------------------------------===//

Attribute AxisRefListAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRefAttr> axes;
  if (parseList(parser, Delimiter::Braces, axes))
    return {};
  return get(parser.getContext(), axes);
}

void AxisRefListAttr::print(AsmPrinter &printer) const {
  printer << "{";
  printList(printer, getAxes());
  printer << "}";
}

Attribute ListOfAxisRefListsAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRefListAttr> dimensions;
  if (parseList(parser, Delimiter::Square, dimensions))
    return {};
  return get(parser.getContext(), dimensions);
}

void ListOfAxisRefListsAttr::print(AsmPrinter &printer) const {
  printer << "[";
  printList(printer, getDimensions());
  printer << "]";
}

Attribute AllToAllParamAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRefAttr> axes;
  int64_t source = 0;
  int64_t target = 0;
  if (parseList(parser, Delimiter::Braces, axes) || parser.parseColon() || parser.parseInteger(source) ||
      parser.parseArrow() || parser.parseInteger(target))
    return {};
  return get(parser.getContext(), axes, source, target);
}

void AllToAllParamAttr::print(AsmPrinter &printer) const {
  printer << "{";
  printList(printer, getAxes());
  printer << "}: " << getSource() << "->" << getTarget();
}

Attribute AllToAllParamListAttr::parse(AsmParser &parser, Type) {
  SmallVector<AllToAllParamAttr> params;
  if (parseList(parser, Delimiter::Square, params))
    return {};
  return get(parser.getContext(), params);
}

void AllToAllParamListAttr::print(AsmPrinter &printer) const {
  printer << "[";
  printList(printer, getParams());
  printer << "]";
}

//===----------------------------------------------------------------------===//
// Parts of assembly formats
//===----------------------------------------------------------------------===//

template <typename AttrT> static ParseResult parseInto(OpAsmParser &parser, AttrT &attribute) {
  attribute = dyn_cast_or_null<AttrT>(AttrT::parse(parser, Type()));
  return success(attribute != nullptr);
}

ParseResult cgx::sdy::parseSharding(OpAsmParser &parser, TensorShardingAttr &sharding) {
  return parseInto(parser, sharding);
}

void cgx::sdy::printSharding(OpAsmPrinter &printer, Operation *, TensorShardingAttr sharding) {
  sharding.print(printer);
}

ParseResult cgx::sdy::parseAxisList(OpAsmParser &parser, AxisRefListAttr &axes) {
  return parseInto(parser, axes);
}

void cgx::sdy::printAxisList(OpAsmPrinter &printer, Operation *, AxisRefListAttr axes) {
  axes.print(printer);
}

ParseResult cgx::sdy::parseAxesPerDimension(OpAsmParser &parser, ListOfAxisRefListsAttr &axes) {
  return parseInto(parser, axes);
}

void cgx::sdy::printAxesPerDimension(OpAsmPrinter &printer, Operation *, ListOfAxisRefListsAttr axes) {
  axes.print(printer);
}

ParseResult cgx::sdy::parseAllToAllParams(OpAsmParser &parser, AllToAllParamListAttr &params) {
  return parseInto(parser, params);
}

void cgx::sdy::printAllToAllParams(OpAsmPrinter &printer, Operation *, AllToAllParamListAttr params) {
  params.print(printer);
}

ParseResult cgx::sdy::parseShardings(OpAsmParser &parser, TensorShardingPerValueAttr &shardings) {
  shardings = parseShardingList(parser);
  return success(shardings != nullptr);
}

void cgx::sdy::printShardings(OpAsmPrinter &printer, Operation *, TensorShardingPerValueAttr shardings) {
  printShardingList(printer, shardings);
}

ParseResult cgx::sdy::parseManualAxes(OpAsmParser &parser, ManualAxesAttr &axes) {
  return parseInto(parser, axes);
}

void cgx::sdy::printManualAxes(OpAsmPrinter &printer, Operation *, ManualAxesAttr axes) {
  axes.print(printer);
}

/// Parses a region with its block arguments first: `(%a: tensor<4xf32>) { ... }`.
ParseResult cgx::sdy::parseRegionWithArguments(OpAsmParser &parser, Region &region) {
  SmallVector<OpAsmParser::Argument> arguments;
  return failure(parser.parseArgumentList(arguments, Delimiter::Paren, /*allowType=*/true) ||
                 parser.parseRegion(region, arguments));
}

void cgx::sdy::printRegionWithArguments(OpAsmPrinter &printer, Operation *, Region &region) {
  printer << "(";
  llvm::interleaveComma(region.getArguments(), printer,
                        [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") ";
  printer.printRegion(region, /*printEntryBlockArgs=*/false);
}
