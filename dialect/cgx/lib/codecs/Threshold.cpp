//===-- Threshold.cpp - #cgx.threshold ------------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parameters.h"

#include <limits>

using namespace mlir;
using namespace cgx;

cgx_codec ThresholdAttr::getCodec() const {
  return {.family = CGX_CODEC_THRESHOLD,
          .checksum = getChecksum(),
          .threshold = static_cast<float>(getThreshold().getValueAsDouble())};
}

DictionaryAttr ThresholdAttr::getManifestEntry() const {
  return detail::ManifestEntry(*this)
      .real("threshold", getThreshold().getValueAsDouble())
      .flag("checksum", getChecksum())
      .get();
}

bool ThresholdAttr::isUnbiased() const { return false; }

LogicalResult ThresholdAttr::verify(function_ref<InFlightDiagnostic()> emitError, FloatAttr threshold, bool) {
  double value = threshold.getValueAsDouble();
  if (!threshold.getType().isF64() || !(value >= 0 && value <= std::numeric_limits<float>::max())) // (C1)
    return emitError() << "expected threshold to be at least 0, as an f32, got " << value;
  return success();
}

Attribute ThresholdAttr::parse(AsmParser &parser, Type) {
  double threshold = 0.001;
  bool checksum = false;
  SMLoc location = parser.getCurrentLocation();
  if (detail::ParameterParser(parser).real("threshold", threshold).flag("checksum", checksum).parse())
    return {};
  return parser.getChecked<ThresholdAttr>(location, parser.getContext(),
                                          parser.getBuilder().getF64FloatAttr(threshold), checksum);
}

void ThresholdAttr::print(AsmPrinter &printer) const {
  printer << "<threshold = ";
  printer.printFloat(getThreshold().getValue());
  printer << (getChecksum() ? ", checksum>" : ">");
}
