//===-- Quantize.cpp - #cgx.quantize --------------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parameters.h"

using namespace mlir;
using namespace cgx;

cgx_codec QuantizeAttr::getCodec() const {
  return {.family = CGX_CODEC_QUANTIZE,
          .bits = static_cast<uint32_t>(getBits()),
          .bucket = static_cast<uint32_t>(getBucket()),
          .rounding = static_cast<uint32_t>(getRounding()),
          .scale = static_cast<uint32_t>(getScale()),
          .checksum = getChecksum()};
}

DictionaryAttr QuantizeAttr::getManifestEntry() const {
  return detail::ManifestEntry(*this)
      .integer("bits", getBits())
      .integer("bucket", getBucket())
      .text("rounding", stringifyRounding(getRounding()))
      .text("scale", stringifyScaleType(getScale()))
      .flag("checksum", getChecksum())
      .get();
}

bool QuantizeAttr::isUnbiased() const { return getRounding() != Rounding::Nearest; }

LogicalResult QuantizeAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t bits, int64_t bucket,
                                   Rounding, ScaleType, bool) {
  if (bits < 1 || bits > 8) // (C1)
    return emitError() << "expected bits in 1..8, got " << bits;
  return detail::verifyBucket(emitError, bucket); // (C2)
}

Attribute QuantizeAttr::parse(AsmParser &parser, Type) {
  int64_t bits = 4, bucket = 128;
  Rounding rounding = Rounding::Stochastic;
  ScaleType scale = ScaleType::BF16;
  bool checksum = false;
  SMLoc location = parser.getCurrentLocation();
  if (detail::ParameterParser(parser)
          .integer("bits", bits)
          .integer("bucket", bucket)
          .oneOf("rounding", rounding, symbolizeRounding, "nearest or stochastic")
          .oneOf("scale", scale, symbolizeScaleType, "bf16 or f32")
          .flag("checksum", checksum)
          .parse())
    return {};
  return parser.getChecked<QuantizeAttr>(location, parser.getContext(), bits, bucket, rounding, scale,
                                         checksum);
}

void QuantizeAttr::print(AsmPrinter &printer) const {
  printer << "<bits = " << getBits() << ", bucket = " << getBucket()
          << ", rounding = " << stringifyRounding(getRounding())
          << ", scale = " << stringifyScaleType(getScale()) << (getChecksum() ? ", checksum>" : ">");
}
