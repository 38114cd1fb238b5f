//===-- Cast.cpp - #cgx.cast ----------------------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parameters.h"

using namespace mlir;
using namespace cgx;

/// Whether a format has a scale for each bucket, of a size to choose.
static bool hasBucket(Format format) { return format == Format::FP8E4M3 || format == Format::FP8E5M2; }

cgx_codec CastAttr::getCodec() const {
  bool isMx = getFormat() == Format::MXFP8 || getFormat() == Format::MXFP4;
  return {.family = CGX_CODEC_CAST,
          .bucket = isMx ? CGX_MX_BLOCK_ELEMENTS : static_cast<uint32_t>(getBucket()),
          .scale = static_cast<uint32_t>(getScale()),
          .checksum = getChecksum(),
          .format = static_cast<uint32_t>(getFormat())};
}

DictionaryAttr CastAttr::getManifestEntry() const {
  detail::ManifestEntry entry(*this);
  entry.text("format", stringifyFormat(getFormat())).flag("checksum", getChecksum());
  if (cgx_codec codec = getCodec(); codec.bucket != 0)
    entry.integer("bucket", codec.bucket);
  if (hasBucket(getFormat()))
    entry.text("scale", stringifyScaleType(getScale()));
  return entry.get();
}

bool CastAttr::isUnbiased() const { return false; }

LogicalResult CastAttr::verify(function_ref<InFlightDiagnostic()> emitError, Format format, int64_t bucket,
                               ScaleType scale, bool) {
  if (hasBucket(format))
    return detail::verifyBucket(emitError, bucket); // (C1)
  if (bucket != 0 || scale != ScaleType::BF16)      // (C2)
    return emitError() << "expected bucket and scale with format fp8_e4m3 or fp8_e5m2 only, got format "
                       << stringifyFormat(format);
  return success();
}

Attribute CastAttr::parse(AsmParser &parser, Type) {
  Format format = Format::BF16;
  constexpr int64_t notGiven = INT64_MIN;
  int64_t bucket = notGiven;
  ScaleType scale = ScaleType::BF16;
  bool checksum = false;
  SMLoc location = parser.getCurrentLocation();
  if (detail::ParameterParser(parser)
          .oneOf("format", format, symbolizeFormat, "bf16, f16, fp8_e4m3, fp8_e5m2, mxfp8 or mxfp4")
          .integer("bucket", bucket)
          .oneOf("scale", scale, symbolizeScaleType, "bf16 or f32")
          .flag("checksum", checksum)
          .parse())
    return {};
  if (bucket == notGiven)
    bucket = hasBucket(format) ? 128 : 0;
  return parser.getChecked<CastAttr>(location, parser.getContext(), format, bucket, scale, checksum);
}

void CastAttr::print(AsmPrinter &printer) const {
  printer << "<format = " << stringifyFormat(getFormat());
  if (hasBucket(getFormat()))
    printer << ", bucket = " << getBucket() << ", scale = " << stringifyScaleType(getScale());
  printer << (getChecksum() ? ", checksum>" : ">");
}
