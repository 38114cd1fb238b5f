//===-- AdaptiveThreshold.cpp - #cgx.adaptive_threshold -------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parameters.h"

using namespace mlir;
using namespace cgx;

cgx_codec AdaptiveThresholdAttr::getCodec() const {
  return {.family = CGX_CODEC_ADAPTIVE_THRESHOLD,
          .bucket = static_cast<uint32_t>(getBucket()),
          .checksum = getChecksum(),
          .threshold = static_cast<float>(getThreshold().getValueAsDouble())};
}

DictionaryAttr AdaptiveThresholdAttr::getManifestEntry() const {
  return detail::ManifestEntry(*this)
      .integer("bucket", getBucket())
      .real("threshold", getThreshold().getValueAsDouble())
      .flag("checksum", getChecksum())
      .get();
}

bool AdaptiveThresholdAttr::isUnbiased() const { return false; }

LogicalResult AdaptiveThresholdAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t bucket,
                                            FloatAttr threshold, bool) {
  if (failed(detail::verifyBucket(emitError, bucket))) // (C1)
    return failure();
  return detail::verifyShare(emitError, "threshold", threshold); // (C2)
}

Attribute AdaptiveThresholdAttr::parse(AsmParser &parser, Type) {
  int64_t bucket = 512;
  double threshold = 0.5;
  bool checksum = false;
  SMLoc location = parser.getCurrentLocation();
  if (detail::ParameterParser(parser)
          .integer("bucket", bucket)
          .real("threshold", threshold)
          .flag("checksum", checksum)
          .parse())
    return {};
  return parser.getChecked<AdaptiveThresholdAttr>(location, parser.getContext(), bucket,
                                                  parser.getBuilder().getF64FloatAttr(threshold), checksum);
}

void AdaptiveThresholdAttr::print(AsmPrinter &printer) const {
  printer << "<bucket = " << getBucket() << ", threshold = ";
  printer.printFloat(getThreshold().getValue());
  printer << (getChecksum() ? ", checksum>" : ">");
}
