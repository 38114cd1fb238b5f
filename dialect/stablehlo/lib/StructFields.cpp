//===-- StructFields.cpp - reads and writes named fields ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StructFields.h"

#include "AssemblyDirectives.h"

using namespace mlir;
using namespace cgx::stablehlo;

static ParseResult parseValue(AsmParser &parser, const Field &field) {
  if (auto *dims = std::get_if<Dims *>(&field.value))
    return parseDims(parser, **dims);
  if (auto *number = std::get_if<int64_t *>(&field.value))
    return parser.parseInteger(**number);
  if (auto *type = std::get_if<Type *>(&field.value))
    return parser.parseType(**type);
  bool &flag = *std::get<bool *>(field.value);
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  flag = word == "true";
  return success();
}

ParseResult cgx::stablehlo::parseFields(AsmParser &parser, ArrayRef<Field> fields) {
  SmallVector<bool> seen(fields.size());
  auto parseField = [&]() -> ParseResult {
    SMLoc location = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    for (auto [index, field] : llvm::enumerate(fields)) {
      if (field.name != name)
        continue;
      if (std::exchange(seen[index], true))
        return parser.emitError(location) << "field '" << name << "' occurs twice";
      return parseValue(parser, field);
    }
    InFlightDiagnostic diagnostic = parser.emitError(location);
    diagnostic << "expected one of ";
    llvm::interleaveComma(fields, diagnostic,
                          [&](const Field &field) { diagnostic << "'" << field.name << "'"; });
    return diagnostic << ", got '" << name << "'";
  };
  if (parser.parseLess())
    return failure();
  // A comma may stand after the last field.
  while (failed(parser.parseOptionalGreater())) {
    if (parseField())
      return failure();
    if (failed(parser.parseOptionalComma()))
      return parser.parseGreater();
  }
  return success();
}

void cgx::stablehlo::printFields(AsmPrinter &printer, ArrayRef<Field> fields) {
  printer << '<';
  StringRef separator;
  auto begin = [&](const Field &field) {
    printer << separator << field.name << " = ";
    separator = ", ";
  };
  for (const Field &field : fields) {
    if (auto *dims = std::get_if<Dims *>(&field.value)) {
      if ((*dims)->empty())
        continue;
      begin(field);
      printDims(printer, **dims);
    } else if (auto *number = std::get_if<int64_t *>(&field.value)) {
      if (**number == 0 && !field.alwaysPrinted)
        continue;
      begin(field);
      printer << **number;
    } else if (auto *type = std::get_if<Type *>(&field.value)) {
      begin(field);
      printer << **type;
    } else {
      begin(field);
      printer << (*std::get<bool *>(field.value) ? "true" : "false");
    }
  }
  printer << '>';
}
