//===-- ErrorFeedback.cpp - codecs with error feedback --------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Word.h"
#include "cgx/Dialect/Cgx/LayerCodec.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace cgx;

LogicalResult ErrorFeedbackAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                        CodecAttrInterface inner, FloatAttr decay, ResidualStorage) {
  double value = decay.getType().isF64() ? decay.getValueAsDouble() : 0;
  const std::string wrong = layers::checkFeedback(toLayerCodec(inner), value); // (C1), (C2)
  return wrong.empty() ? success() : LogicalResult(emitError() << wrong);
}

// `<` codec (`,` `decay` `=` float)? (`,` `storage` `=` keyword)? `>`
Attribute ErrorFeedbackAttr::parse(AsmParser &parser, Type) {
  SMLoc location = parser.getCurrentLocation();
  CodecAttrInterface inner;
  double decay = 1.0;
  ResidualStorage storage = ResidualStorage::F32;
  if (parser.parseLess() || parser.parseAttribute(inner))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef name;
    SMLoc nameLocation = parser.getCurrentLocation();
    if (parseWord(parser, name, {"decay", "storage"}) || parser.parseEqual())
      return {};
    if (name == "decay") {
      if (parser.parseFloat(decay))
        return {};
    } else if (name == "storage") {
      StringRef text;
      SMLoc textLocation = parser.getCurrentLocation();
      if (parseWord(parser, text, wordsOf(stringifyResidualStorage, getMaxEnumValForResidualStorage())))
        return {};
      std::optional<ResidualStorage> parsed = symbolizeResidualStorage(text);
      if (!parsed)
        return parser.emitError(textLocation) << "expected f32, bf16 or int8, got " << text, Attribute();
      storage = *parsed;
    } else {
      return parser.emitError(nameLocation) << "expected decay or storage, got " << name, Attribute();
    }
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<ErrorFeedbackAttr>(location, parser.getContext(), inner,
                                              parser.getBuilder().getF64FloatAttr(decay), storage);
}

void ErrorFeedbackAttr::print(AsmPrinter &printer) const {
  printer << '<' << getInner() << ", decay = ";
  printer.printFloat(getDecay().getValue());
  printer << ", storage = " << stringifyResidualStorage(getStorage()) << '>';
}
