//===-- StructAttrs.cpp - attributes of named fields -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `<key = value, ...>` in any order; lists that are empty and numbers that are 0
// are left out. The fields of each attribute stand in one list, from which both
// its parser and its printer work.
//
//===----------------------------------------------------------------------===//

#include "AssemblyDirectives.h"

#include "mlir/IR/Builders.h"

#include <variant>

using namespace mlir;
using namespace cgx::stablehlo;

namespace {

using Dims = SmallVector<int64_t>;

/// A field and where its value goes when parsed, or comes from when printed.
struct Field {
  StringRef name;
  std::variant<Dims *, int64_t *, bool *, Type *> value;
  bool alwaysPrinted = false;
};

ParseResult parseValue(AsmParser &parser, const Field &field) {
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

ParseResult parseFields(AsmParser &parser, ArrayRef<Field> fields) {
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
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseField);
}

void printFields(AsmPrinter &printer, ArrayRef<Field> fields) {
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

/// The fields of an attribute: `values` holds copies of its parameters, in the order of the definition.
struct DotValues {
  Dims lhsBatching, rhsBatching, lhsContracting, rhsContracting;
  SmallVector<Field> fields() {
    return {{"lhs_batching_dimensions", &lhsBatching},
            {"rhs_batching_dimensions", &rhsBatching},
            {"lhs_contracting_dimensions", &lhsContracting},
            {"rhs_contracting_dimensions", &rhsContracting}};
  }
};

struct DotAlgorithmValues {
  Type lhs, rhs, accumulation;
  int64_t lhsComponents = 1, rhsComponents = 1, primitives = 1;
  bool imprecise = false;
  SmallVector<Field> fields() {
    return {{"lhs_precision_type", &lhs},
            {"rhs_precision_type", &rhs},
            {"accumulation_type", &accumulation},
            {"lhs_component_count", &lhsComponents, true},
            {"rhs_component_count", &rhsComponents, true},
            {"num_primitive_operations", &primitives, true},
            {"allow_imprecise_accumulation", &imprecise}};
  }
};

struct GatherValues {
  Dims offset, collapsed, operandBatching, indicesBatching, indexMap;
  int64_t indexVector = 0;
  SmallVector<Field> fields() {
    return {{"offset_dims", &offset},
            {"collapsed_slice_dims", &collapsed},
            {"operand_batching_dims", &operandBatching},
            {"start_indices_batching_dims", &indicesBatching},
            {"start_index_map", &indexMap},
            {"index_vector_dim", &indexVector}};
  }
};

struct ScatterValues {
  Dims updateWindow, insertedWindow, inputBatching, indicesBatching, toOperand;
  int64_t indexVector = 0;
  SmallVector<Field> fields() {
    return {{"update_window_dims", &updateWindow},        {"inserted_window_dims", &insertedWindow},
            {"input_batching_dims", &inputBatching},      {"scatter_indices_batching_dims", &indicesBatching},
            {"scatter_dims_to_operand_dims", &toOperand}, {"index_vector_dim", &indexVector}};
  }
};

struct AliasValues {
  Dims output, operandTuple;
  int64_t operand = 0;
  SmallVector<Field> fields() {
    return {{"output_tuple_indices", &output},
            {"operand_index", &operand, true},
            {"operand_tuple_indices", &operandTuple}};
  }
};

Dims copyOf(ArrayRef<int64_t> dims) { return Dims(dims); }

} // namespace

Attribute DotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  DotValues v;
  if (parseFields(parser, v.fields()))
    return {};
  return get(parser.getContext(), v.lhsBatching, v.rhsBatching, v.lhsContracting, v.rhsContracting);
}

void DotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  DotValues v{copyOf(getLhsBatchingDimensions()), copyOf(getRhsBatchingDimensions()),
              copyOf(getLhsContractingDimensions()), copyOf(getRhsContractingDimensions())};
  printFields(printer, v.fields());
}

Attribute DotAlgorithmAttr::parse(AsmParser &parser, Type) {
  SMLoc location = parser.getCurrentLocation();
  DotAlgorithmValues v;
  if (parseFields(parser, v.fields()))
    return {};
  if (!v.lhs || !v.rhs || !v.accumulation) {
    parser.emitError(location) << "expected lhs_precision_type, rhs_precision_type and accumulation_type";
    return {};
  }
  return get(parser.getContext(), v.lhs, v.rhs, v.accumulation, v.lhsComponents, v.rhsComponents,
             v.primitives, v.imprecise);
}

void DotAlgorithmAttr::print(AsmPrinter &printer) const {
  DotAlgorithmValues v{getLhsPrecisionType(),          getRhsPrecisionType(),  getAccumulationType(),
                       getLhsComponentCount(),         getRhsComponentCount(), getNumPrimitiveOperations(),
                       getAllowImpreciseAccumulation()};
  printFields(printer, v.fields());
}

Attribute GatherDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  GatherValues v;
  if (parseFields(parser, v.fields()))
    return {};
  return get(parser.getContext(), v.offset, v.collapsed, v.operandBatching, v.indicesBatching, v.indexMap,
             v.indexVector);
}

void GatherDimensionNumbersAttr::print(AsmPrinter &printer) const {
  GatherValues v{copyOf(getOffsetDims()),          copyOf(getCollapsedSliceDims()),
                 copyOf(getOperandBatchingDims()), copyOf(getStartIndicesBatchingDims()),
                 copyOf(getStartIndexMap()),       getIndexVectorDim()};
  printFields(printer, v.fields());
}

Attribute ScatterDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  ScatterValues v;
  if (parseFields(parser, v.fields()))
    return {};
  return get(parser.getContext(), v.updateWindow, v.insertedWindow, v.inputBatching, v.indicesBatching,
             v.toOperand, v.indexVector);
}

void ScatterDimensionNumbersAttr::print(AsmPrinter &printer) const {
  ScatterValues v{copyOf(getUpdateWindowDims()),         copyOf(getInsertedWindowDims()),
                  copyOf(getInputBatchingDims()),        copyOf(getScatterIndicesBatchingDims()),
                  copyOf(getScatterDimsToOperandDims()), getIndexVectorDim()};
  printFields(printer, v.fields());
}

Attribute OutputOperandAliasAttr::parse(AsmParser &parser, Type) {
  AliasValues v;
  if (parseFields(parser, v.fields()))
    return {};
  return get(parser.getContext(), v.output, v.operand, v.operandTuple);
}

void OutputOperandAliasAttr::print(AsmPrinter &printer) const {
  // JAX prints empty lists here, and its parser wants them.
  printer << "<output_tuple_indices = ";
  printDims(printer, getOutputTupleIndices());
  printer << ", operand_index = " << getOperandIndex() << ", operand_tuple_indices = ";
  printDims(printer, getOperandTupleIndices());
  printer << '>';
}

Attribute ResultAccuracyAttr::parse(AsmParser &parser, Type) {
  double atol = 0, rtol = 0;
  int64_t ulps = 0;
  ResultAccuracyModeAttr mode;
  auto parseField = [&]() -> ParseResult {
    SMLoc location = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    if (name == "atol" || name == "rtol")
      return parser.parseFloat(name == "atol" ? atol : rtol);
    if (name == "ulps")
      return parser.parseInteger(ulps);
    if (name == "mode")
      return parser.parseAttribute(mode);
    return parser.emitError(location) << "expected 'atol', 'rtol', 'ulps' or 'mode', got '" << name << "'";
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseField))
    return {};
  if (!mode)
    mode = ResultAccuracyModeAttr::get(parser.getContext(), ResultAccuracyMode::DEFAULT);
  Builder &builder = parser.getBuilder();
  return get(parser.getContext(), builder.getF64FloatAttr(atol), builder.getF64FloatAttr(rtol), ulps, mode);
}

void ResultAccuracyAttr::print(AsmPrinter &printer) const {
  printer << '<';
  if (!getAtol().getValue().isZero()) {
    printer << "atol = ";
    printer.printFloat(getAtol().getValue());
    printer << ", ";
  }
  if (!getRtol().getValue().isZero()) {
    printer << "rtol = ";
    printer.printFloat(getRtol().getValue());
    printer << ", ";
  }
  if (getUlps() != 0)
    printer << "ulps = " << getUlps() << ", ";
  printer << "mode = " << getMode() << '>';
}

Attribute ConvDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  ConvDimensionNumbersAttr numbers;
  if (parser.parseLess() || parseConvDimensionNumbers(parser, numbers) || parser.parseGreater())
    return {};
  return numbers;
}

void ConvDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printConvDimensionNumbers(printer, *this);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

/// `[<name = "x">, <name = "y">]`, each of class `Attr`, with or without its mnemonic.
template <typename Attr>
static ParseResult parseAttributeList(AsmParser &parser, SmallVectorImpl<Attr> &attributes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseCustomAttributeWithFallback(attributes.emplace_back());
  });
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SMLoc location = parser.getCurrentLocation();
  SmallVector<MeshAxisAttr> axes;
  DenseIntElementsAttr deviceIds;
  if (parser.parseLess() || parser.parseKeyword("axes") || parser.parseEqual() ||
      parseAttributeList(parser, axes))
    return {};
  if (succeeded(parser.parseOptionalComma()))
    if (parser.parseKeyword("device_ids") || parser.parseEqual() || parser.parseAttribute(deviceIds))
      return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(location); }, parser.getContext(), ArrayRef(axes),
                    deviceIds);
}

void MeshAttr::print(AsmPrinter &printer) const {
  // Spaced as JAX does it, which the text of a module is compared with.
  printer << "<axes=[";
  llvm::interleaveComma(getAxes(), printer, [&](MeshAxisAttr axis) { axis.print(printer); });
  printer << ']';
  if (getDeviceIds())
    printer << ", device_ids=" << getDeviceIds();
  printer << '>';
}

Attribute ReplicaGroupMeshAxesAttr::parse(AsmParser &parser, Type) {
  SMLoc location = parser.getCurrentLocation();
  Attribute mesh;
  SmallVector<AxisRefAttr> axes;
  if (parser.parseLess() || parser.parseKeyword("mesh") || parser.parseEqual() ||
      parser.parseAttribute(mesh) || parser.parseComma() || parser.parseKeyword("axes") ||
      parser.parseEqual() || parseAttributeList(parser, axes) || parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(location); }, parser.getContext(), mesh, ArrayRef(axes));
}

void ReplicaGroupMeshAxesAttr::print(AsmPrinter &printer) const {
  printer << "<mesh = " << getMesh() << ", axes = [";
  llvm::interleaveComma(getAxes(), printer);
  printer << "]>";
}
