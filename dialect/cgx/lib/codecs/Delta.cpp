//===-- Delta.cpp - #cgx.delta --------------------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/LayerCodec.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace cgx;

uint64_t DeltaAttr::getStateBytes(RankedTensorType type) const {
  if (type.getRank() == 0 || type.getDimSize(0) == 0)
    return 0;
  const uint64_t rows = type.getDimSize(0), row = type.getNumElements() / rows;
  return (getSamples() + rows) * (row * (getStorage() == ResidualStorage::BF16 ? 2 : 4) + /*was it sent*/ 1);
}

// Rows are what a permute needs, and a gather does not: who knows the collective asks.
std::string DeltaAttr::getShapeRefusal(RankedTensorType type) const {
  return getInner().getShapeRefusal(type);
}

LogicalResult DeltaAttr::verify(function_ref<InFlightDiagnostic()> emitError, CodecAttrInterface inner,
                                int64_t samples, ResidualStorage storage) {
  const std::string wrong =
      layers::checkChanges(toLayerCodec(inner), samples, layers::Storage(storage)); // (C1) to (C3)
  return wrong.empty() ? success() : LogicalResult(emitError() << wrong);
}

// `<` codec `,` `samples` `=` integer (`,` `storage` `=` keyword)? `>`
Attribute DeltaAttr::parse(AsmParser &parser, Type) {
  SMLoc location = parser.getCurrentLocation();
  CodecAttrInterface inner;
  int64_t samples = 0;
  ResidualStorage storage = ResidualStorage::F32;
  if (parser.parseLess() || parser.parseAttribute(inner) || parser.parseComma() ||
      parser.parseKeyword("samples") || parser.parseEqual() || parser.parseInteger(samples))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    StringRef text;
    if (parser.parseKeyword("storage") || parser.parseEqual())
      return {};
    SMLoc textLocation = parser.getCurrentLocation();
    if (parser.parseKeyword(&text))
      return {};
    std::optional<ResidualStorage> parsed = symbolizeResidualStorage(text);
    if (!parsed)
      return parser.emitError(textLocation) << "expected f32 or bf16, got " << text, Attribute();
    storage = *parsed;
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<DeltaAttr>(location, parser.getContext(), inner, samples, storage);
}

void DeltaAttr::print(AsmPrinter &printer) const {
  printer << '<' << getInner() << ", samples = " << getSamples()
          << ", storage = " << stringifyResidualStorage(getStorage()) << '>';
}
