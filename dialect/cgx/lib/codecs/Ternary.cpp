//===-- Ternary.cpp - #cgx.ternary ----------------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parameters.h"

using namespace mlir;
using namespace cgx;

cgx_codec TernaryAttr::getCodec() const {
  return {.family = CGX_CODEC_TERNARY,
          .bucket = static_cast<uint32_t>(getBucket()),
          .scale = static_cast<uint32_t>(getScale()),
          .checksum = getChecksum()};
}

DictionaryAttr TernaryAttr::getManifestEntry() const {
  return detail::ManifestEntry(*this)
      .integer("bucket", getBucket())
      .text("scale", stringifyScaleType(getScale()))
      .flag("checksum", getChecksum())
      .get();
}

bool TernaryAttr::isUnbiased() const { return true; }

LogicalResult TernaryAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t bucket, ScaleType,
                                  bool) {
  return detail::verifyBucket(emitError, bucket); // (C1)
}

Attribute TernaryAttr::parse(AsmParser &parser, Type) {
  int64_t bucket = 512;
  ScaleType scale = ScaleType::BF16;
  bool checksum = false;
  SMLoc location = parser.getCurrentLocation();
  if (detail::ParameterParser(parser)
          .integer("bucket", bucket)
          .oneOf("scale", scale, symbolizeScaleType, "bf16 or f32")
          .flag("checksum", checksum)
          .parse())
    return {};
  return parser.getChecked<TernaryAttr>(location, parser.getContext(), bucket, scale, checksum);
}

void TernaryAttr::print(AsmPrinter &printer) const {
  printer << "<bucket = " << getBucket() << ", scale = " << stringifyScaleType(getScale())
          << (getChecksum() ? ", checksum>" : ">");
}
