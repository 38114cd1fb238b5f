//===-- StructAttrs.cpp - attributes of named fields -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each attribute is read and written by its list of fields (StructFields.h), or as the specification writes
// it.
//
//===----------------------------------------------------------------------===//

#include "AssemblyDirectives.h"
#include "StructFields.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cgx::stablehlo;

namespace {

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
  SMLoc location = parser.getCurrentLocation();
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
  return getChecked([&] { return parser.emitError(location); }, parser.getContext(),
                    builder.getF64FloatAttr(atol), builder.getF64FloatAttr(rtol), ulps, mode);
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
// Bounds
//===----------------------------------------------------------------------===//

/// Parses a bound, or `?` where there is none.
static ParseResult parseBound(AsmParser &parser, int64_t &bound) {
  bound = ShapedType::kDynamic;
  return succeeded(parser.parseOptionalQuestion()) ? success() : parser.parseInteger(bound);
}

static BoundsAttr parseBounds(AsmParser &parser, AsmParser::Delimiter delimiter) {
  SMLoc location = parser.getCurrentLocation();
  Dims bounds;
  if (parser.parseCommaSeparatedList(delimiter, [&] { return parseBound(parser, bounds.emplace_back()); }))
    return {};
  return BoundsAttr::getChecked([&] { return parser.emitError(location); }, parser.getContext(),
                                ArrayRef(bounds));
}

Attribute BoundsAttr::parse(AsmParser &parser, Type) {
  return parseBounds(parser, AsmParser::Delimiter::LessGreater);
}

BoundsAttr cgx::stablehlo::parseTypeExtensions(AsmParser &parser) {
  if (parser.parseLess() || parser.parseKeyword("bounds") || parser.parseEqual())
    return {};
  BoundsAttr bounds = parseBounds(parser, AsmParser::Delimiter::Square);
  return bounds && succeeded(parser.parseGreater()) ? bounds : BoundsAttr();
}

void BoundsAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getBounds(), printer, [&](int64_t bound) {
    if (ShapedType::isDynamic(bound))
      printer << '?';
    else
      printer << bound;
  });
  printer << '>';
}

LogicalResult BoundsAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> bounds) {
  for (int64_t bound : bounds)
    if (bound < 0 && !ShapedType::isDynamic(bound)) // (C3)
      return emitError() << "expected bounds of at least 0, got " << bound;
  return success();
}

LogicalResult BoundsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                         llvm::function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() != getBounds().size()) // (C1)
    return emitError() << "expected " << shape.size() << " bounds, one per dimension, got "
                       << getBounds().size();
  for (auto [index, size, bound] : llvm::enumerate(shape, getBounds()))
    if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(bound)) // (C2)
      return emitError() << "expected no bound of dimension " << index << ", which has size " << size
                         << ", got " << bound;
  return success();
}

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

/// Parses `[<name = "x">, <name = "y">]`, each of class `Attr`, with or without its mnemonic.
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
