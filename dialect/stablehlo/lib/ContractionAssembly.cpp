//===-- ContractionAssembly.cpp - dimension numbers of dot_general and convolution -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AssemblyDirectives.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace cgx::stablehlo {

//===----------------------------------------------------------------------===//
// dot_general
//===----------------------------------------------------------------------===//

static ParseResult parsePair(AsmParser &parser, SmallVectorImpl<int64_t> &lhs,
                             SmallVectorImpl<int64_t> &rhs) {
  return failure(parser.parseEqual() || parseDims(parser, lhs) || parser.parseKeyword("x") ||
                 parseDims(parser, rhs));
}

ParseResult parseDotDimensionNumbers(OpAsmParser &parser, DotDimensionNumbersAttr &numbers) {
  SmallVector<int64_t> lhsBatching, rhsBatching, lhsContracting, rhsContracting;
  if (succeeded(parser.parseOptionalKeyword("batching_dims")))
    if (parsePair(parser, lhsBatching, rhsBatching) || parser.parseComma())
      return failure();
  if (parser.parseKeyword("contracting_dims") || parsePair(parser, lhsContracting, rhsContracting))
    return failure();
  numbers = DotDimensionNumbersAttr::get(parser.getContext(), lhsBatching, rhsBatching, lhsContracting,
                                         rhsContracting);
  return success();
}

void printDotDimensionNumbers(OpAsmPrinter &printer, Operation *, DotDimensionNumbersAttr numbers) {
  if (!numbers.getLhsBatchingDimensions().empty()) {
    printer << "batching_dims = ";
    printDims(printer, numbers.getLhsBatchingDimensions());
    printer << " x ";
    printDims(printer, numbers.getRhsBatchingDimensions());
    printer << ", ";
  }
  printer << "contracting_dims = ";
  printDims(printer, numbers.getLhsContractingDimensions());
  printer << " x ";
  printDims(printer, numbers.getRhsContractingDimensions());
}

ParseResult parsePrecisionConfig(OpAsmParser &parser, ArrayAttr &config) {
  SmallVector<Attribute> precisions;
  auto parsePrecision = [&]() -> ParseResult {
    SMLoc location = parser.getCurrentLocation();
    StringRef word;
    if (parser.parseKeyword(&word))
      return failure();
    std::optional<Precision> precision = symbolizePrecision(word);
    if (!precision)
      return parser.emitError(location) << "expected DEFAULT, HIGH or HIGHEST, got '" << word << "'";
    precisions.push_back(PrecisionAttr::get(parser.getContext(), *precision));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parsePrecision))
    return failure();
  config = parser.getBuilder().getArrayAttr(precisions);
  return success();
}

void printPrecisionConfig(OpAsmPrinter &printer, Operation *, ArrayAttr config) {
  printer << '[';
  llvm::interleaveComma(config.getAsRange<PrecisionAttr>(), printer, [&](PrecisionAttr precision) {
    printer << stringifyPrecision(precision.getValue());
  });
  printer << ']';
}

ParseResult parsePrecisionAndAlgorithm(OpAsmParser &parser, ArrayAttr &config, DotAlgorithmAttr &algorithm) {
  if (failed(parser.parseOptionalComma()))
    return success();
  if (succeeded(parser.parseOptionalKeyword("precision"))) {
    if (parser.parseEqual() || parsePrecisionConfig(parser, config))
      return failure();
    if (failed(parser.parseOptionalComma()))
      return success();
  }
  SMLoc location = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword("algorithm")))
    return parser.emitError(location) << "expected " << (config ? "" : "precision or ") << "algorithm";
  return failure(parser.parseEqual() || parser.parseCustomAttributeWithFallback(algorithm));
}

void printPrecisionAndAlgorithm(OpAsmPrinter &printer, Operation *, ArrayAttr config,
                                DotAlgorithmAttr algorithm) {
  if (config) {
    printer << ", precision = ";
    printPrecisionConfig(printer, nullptr, config);
  }
  if (algorithm) {
    printer << ", algorithm = ";
    printer.printStrippedAttrOrType(algorithm);
  }
}

//===----------------------------------------------------------------------===//
// convolution
//===----------------------------------------------------------------------===//

namespace {

/// One of the three layouts: two named dimensions and the spatial ones by number.
struct ConvLayout {
  int64_t first = -1, second = -1;
  SmallVector<int64_t> spatial;
};

} // namespace

static ParseResult parseConvLayout(AsmParser &parser, StringRef firstName, StringRef secondName,
                                   ConvLayout &layout) {
  SMLoc location = parser.getCurrentLocation();
  int64_t position = 0;
  SmallVector<std::pair<int64_t, int64_t>> spatial;
  auto parseDimension = [&]() -> ParseResult {
    int64_t number;
    OptionalParseResult isNumber = parser.parseOptionalInteger(number);
    if (isNumber.has_value()) {
      spatial.emplace_back(number, position++);
      return *isNumber;
    }
    SMLoc here = parser.getCurrentLocation();
    bool isFirst = succeeded(parser.parseOptionalKeyword(firstName));
    if (!isFirst && failed(parser.parseOptionalKeyword(secondName)))
      return parser.emitError(here) << "expected '" << firstName << "', '" << secondName
                                    << "' or a spatial dimension";
    int64_t &named = isFirst ? layout.first : layout.second;
    if (named >= 0)
      return parser.emitError(here) << "expected the dimension '" << (isFirst ? firstName : secondName)
                                    << "' once";
    named = position++;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDimension))
    return failure();
  llvm::sort(spatial);
  for (auto [index, entry] : llvm::enumerate(spatial)) {
    if (entry.first != static_cast<int64_t>(index))
      return parser.emitError(location) << "expected spatial dimension " << index << ", got " << entry.first;
    layout.spatial.push_back(entry.second);
  }
  if (layout.first < 0 || layout.second < 0)
    return parser.emitError(location)
           << "expected the dimensions '" << firstName << "' and '" << secondName << "'";
  return success();
}

static void printConvLayout(AsmPrinter &printer, StringRef firstName, int64_t first, StringRef secondName,
                            int64_t second, ArrayRef<int64_t> spatial) {
  SmallVector<std::string> names(spatial.size() + 2);
  names[first] = firstName.str();
  names[second] = secondName.str();
  for (auto [index, position] : llvm::enumerate(spatial))
    names[position] = std::to_string(index);
  printer << '[';
  llvm::interleaveComma(names, printer);
  printer << ']';
}

ParseResult parseConvDimensionNumbers(AsmParser &parser, ConvDimensionNumbersAttr &numbers) {
  ConvLayout input, kernel, output;
  if (parseConvLayout(parser, "b", "f", input) || parser.parseKeyword("x") ||
      parseConvLayout(parser, "i", "o", kernel) || parser.parseArrow() ||
      parseConvLayout(parser, "b", "f", output))
    return failure();
  numbers = ConvDimensionNumbersAttr::get(parser.getContext(), input.first, input.second, input.spatial,
                                          kernel.first, kernel.second, kernel.spatial, output.first,
                                          output.second, output.spatial);
  return success();
}

void printConvDimensionNumbers(AsmPrinter &printer, ConvDimensionNumbersAttr numbers) {
  printConvLayout(printer, "b", numbers.getInputBatchDimension(), "f", numbers.getInputFeatureDimension(),
                  numbers.getInputSpatialDimensions());
  printer << 'x';
  printConvLayout(printer, "i", numbers.getKernelInputFeatureDimension(), "o",
                  numbers.getKernelOutputFeatureDimension(), numbers.getKernelSpatialDimensions());
  printer << "->";
  printConvLayout(printer, "b", numbers.getOutputBatchDimension(), "f", numbers.getOutputFeatureDimension(),
                  numbers.getOutputSpatialDimensions());
}

static ParseResult parsePadding(OpAsmParser &parser, DenseIntElementsAttr &padding) {
  SmallVector<int64_t> values;
  int64_t rows = 0;
  auto parseRow = [&]() -> ParseResult {
    SMLoc location = parser.getCurrentLocation();
    SmallVector<int64_t> row;
    if (parseDims(parser, row))
      return failure();
    if (row.size() != 2)
      return parser.emitError(location) << "expected low and high padding, got " << row.size() << " numbers";
    llvm::append_range(values, row);
    ++rows;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRow))
    return failure();
  padding =
      DenseIntElementsAttr::get(RankedTensorType::get({rows, 2}, parser.getBuilder().getI64Type()), values);
  return success();
}

ParseResult parseConvWindow(OpAsmParser &parser, DenseI64ArrayAttr &strides, DenseIntElementsAttr &padding,
                            DenseI64ArrayAttr &lhsDilation, DenseI64ArrayAttr &rhsDilation,
                            DenseBoolArrayAttr &reversal) {
  StringRef word;
  while (succeeded(
      parser.parseOptionalKeyword(&word, {"stride", "pad", "lhs_dilate", "rhs_dilate", "reverse"}))) {
    if (parser.parseEqual())
      return failure();
    if (word == "pad") {
      if (parsePadding(parser, padding))
        return failure();
    } else if (word == "reverse") {
      reversal = dyn_cast_or_null<DenseBoolArrayAttr>(DenseBoolArrayAttr::parse(parser, {}));
      if (!reversal)
        return failure();
    } else {
      SmallVector<int64_t> values;
      if (parseDims(parser, values))
        return failure();
      auto attribute = parser.getBuilder().getDenseI64ArrayAttr(values);
      (word == "stride" ? strides : word == "lhs_dilate" ? lhsDilation : rhsDilation) = attribute;
    }
    if (failed(parser.parseOptionalComma()))
      break;
  }
  return success();
}

void printConvWindow(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr strides,
                     DenseIntElementsAttr padding, DenseI64ArrayAttr lhsDilation,
                     DenseI64ArrayAttr rhsDilation, DenseBoolArrayAttr reversal) {
  StringRef separator;
  auto begin = [&](StringRef name) {
    printer << separator << name << " = ";
    separator = ", ";
  };
  if (strides) {
    begin("stride");
    printDims(printer, strides);
  }
  if (padding) {
    begin("pad");
    SmallVector<int64_t> values(padding.getValues<int64_t>());
    printer << '[';
    for (size_t row = 0; row + 1 < values.size(); row += 2) {
      printer << (row ? ", " : "");
      printDims(printer, {values[row], values[row + 1]});
    }
    printer << ']';
  }
  if (lhsDilation) {
    begin("lhs_dilate");
    printDims(printer, lhsDilation);
  }
  if (rhsDilation) {
    begin("rhs_dilate");
    printDims(printer, rhsDilation);
  }
  if (reversal) {
    begin("reverse");
    reversal.print(printer);
  }
}

} // namespace cgx::stablehlo
