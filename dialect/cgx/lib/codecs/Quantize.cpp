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
          .checksum = getChecksum(),
          .scaling = static_cast<uint32_t>(getScaling()),
          .levels = static_cast<uint32_t>(getLevels())};
}

DictionaryAttr QuantizeAttr::getManifestEntry() const {
  detail::ManifestEntry entry(*this);
  entry.integer("bits", getBits())
      .integer("bucket", getBucket())
      .text("rounding", stringifyRounding(getRounding()))
      .text("scale", stringifyScaleType(getScale()))
      .flag("checksum", getChecksum());
  if (getScaling() != Scaling::MinMax)
    entry.text("scaling", stringifyScaling(getScaling()));
  if (getLevels() != Levels::Uniform)
    entry.text("levels", stringifyLevels(getLevels()));
  return entry.get();
}

bool QuantizeAttr::isUnbiased() const { return getRounding() != Rounding::Nearest; }

LogicalResult QuantizeAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t bits, int64_t bucket,
                                   Rounding rounding, ScaleType scale, Scaling scaling, Levels levels, bool) {
  if (bits < 1 || bits > 8) // (C1)
    return emitError() << "expected bits in 1..8, got " << bits;
  if (failed(detail::verifyBucket(emitError, bucket))) // (C2)
    return failure();
  bool isShifted = rounding == Rounding::RandomShift;
  if (bits < 2 && isShifted) // (C3)
    return emitError() << "expected bits in 2..8 with rounding random_shift, got " << bits;
  if (bits < 2 && scaling != Scaling::MinMax) // (C3)
    return emitError() << "expected bits in 2..8 with scaling " << stringifyScaling(scaling) << ", got "
                       << bits;
  if (isShifted && scale != ScaleType::F32) // (C4)
    return emitError() << "expected scale f32 with rounding random_shift, got " << stringifyScaleType(scale);
  if (isShifted && scaling != Scaling::MinMax) // (C4)
    return emitError() << "expected scaling min_max with rounding random_shift, got "
                       << stringifyScaling(scaling);
  if (isShifted && levels != Levels::Uniform) // (C4)
    return emitError() << "expected levels uniform with rounding random_shift, got "
                       << stringifyLevels(levels);
  if (levels == Levels::Exponential && scaling == Scaling::MinMax) // (C5)
    return emitError() << "expected scaling max_abs or l2 with levels exponential, got min_max";
  if (levels == Levels::Learned && scaling != Scaling::MinMax) // (C6)
    return emitError() << "expected scaling min_max with levels learned, got " << stringifyScaling(scaling);
  return success();
}

Attribute QuantizeAttr::parse(AsmParser &parser, Type) {
  int64_t bits = 4, bucket = 128;
  Rounding rounding = Rounding::Stochastic;
  ScaleType scale = ScaleType::BF16;
  Scaling scaling = Scaling::MinMax;
  Levels levels = Levels::Uniform;
  bool checksum = false;
  SMLoc location = parser.getCurrentLocation();
  if (detail::ParameterParser(parser)
          .integer("bits", bits)
          .integer("bucket", bucket)
          .oneOf("rounding", rounding, symbolizeRounding, "nearest, stochastic or random_shift")
          .oneOf("scale", scale, symbolizeScaleType, "bf16 or f32")
          .oneOf("scaling", scaling, symbolizeScaling, "min_max, max_abs or l2")
          .oneOf("levels", levels, symbolizeLevels, "uniform, exponential or learned")
          .flag("checksum", checksum)
          .parse())
    return {};
  return parser.getChecked<QuantizeAttr>(location, parser.getContext(), bits, bucket, rounding, scale,
                                         scaling, levels, checksum);
}

void QuantizeAttr::print(AsmPrinter &printer) const {
  printer << "<bits = " << getBits() << ", bucket = " << getBucket()
          << ", rounding = " << stringifyRounding(getRounding())
          << ", scale = " << stringifyScaleType(getScale());
  if (getScaling() != Scaling::MinMax)
    printer << ", scaling = " << stringifyScaling(getScaling());
  if (getLevels() != Levels::Uniform)
    printer << ", levels = " << stringifyLevels(getLevels());
  printer << (getChecksum() ? ", checksum>" : ">");
}
