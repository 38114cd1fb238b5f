//===-- Sign.cpp - #cgx.sign ----------------------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parameters.h"

using namespace mlir;
using namespace cgx;

cgx_codec SignAttr::getCodec() const {
  return {.family = CGX_CODEC_SIGN,
          .bucket = static_cast<uint32_t>(getBucket()),
          .scale = static_cast<uint32_t>(getScale()),
          .checksum = getChecksum(),
          .magnitude = static_cast<uint32_t>(getMagnitude())};
}

DictionaryAttr SignAttr::getManifestEntry() const {
  return detail::ManifestEntry(*this)
      .integer("bucket", getBucket())
      .text("magnitude", stringifySignMagnitude(getMagnitude()))
      .text("scale", stringifyScaleType(getScale()))
      .flag("checksum", getChecksum())
      .get();
}

bool SignAttr::isUnbiased() const { return false; }

LogicalResult SignAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t bucket, SignMagnitude,
                               ScaleType, bool) {
  return detail::verifyBucket(emitError, bucket); // (C1)
}

Attribute SignAttr::parse(AsmParser &parser, Type) {
  int64_t bucket = 512;
  SignMagnitude magnitude = SignMagnitude::Means;
  ScaleType scale = ScaleType::BF16;
  bool checksum = false;
  SMLoc location = parser.getCurrentLocation();
  if (detail::ParameterParser(parser)
          .integer("bucket", bucket)
          .oneOf("magnitude", magnitude, symbolizeSignMagnitude, "means or norm")
          .oneOf("scale", scale, symbolizeScaleType, "bf16 or f32")
          .flag("checksum", checksum)
          .parse())
    return {};
  return parser.getChecked<SignAttr>(location, parser.getContext(), bucket, magnitude, scale, checksum);
}

void SignAttr::print(AsmPrinter &printer) const {
  printer << "<bucket = " << getBucket() << ", magnitude = " << stringifySignMagnitude(getMagnitude())
          << ", scale = " << stringifyScaleType(getScale()) << (getChecksum() ? ", checksum>" : ">");
}
