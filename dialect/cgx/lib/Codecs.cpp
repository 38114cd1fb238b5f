//===-- Codecs.cpp - codec attributes -------------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace cgx;

std::optional<cgx_element_type> cgx::getCodecElementType(Type type) {
  if (type.isF32())
    return CGX_F32;
  if (type.isF16())
    return CGX_F16;
  if (type.isBF16())
    return CGX_BF16;
  if (type.isF64())
    return CGX_F64;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.isSigned())
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return isUnsigned ? std::nullopt : std::optional(CGX_BOOL);
  case 8:
    return isUnsigned ? CGX_U8 : CGX_I8;
  case 16:
    return isUnsigned ? CGX_U16 : CGX_I16;
  case 32:
    return isUnsigned ? CGX_U32 : CGX_I32;
  case 64:
    return isUnsigned ? CGX_U64 : CGX_I64;
  default:
    return std::nullopt;
  }
}

StringRef cgx::getElementTypeName(Type type) {
  switch (*getCodecElementType(type)) {
  case CGX_F32:
    return "f32";
  case CGX_F16:
    return "f16";
  case CGX_BF16:
    return "bf16";
  case CGX_F64:
    return "f64";
  case CGX_I8:
    return "i8";
  case CGX_I16:
    return "i16";
  case CGX_I32:
    return "i32";
  case CGX_I64:
    return "i64";
  case CGX_U8:
    return "u8";
  case CGX_U16:
    return "u16";
  case CGX_U32:
    return "u32";
  case CGX_U64:
    return "u64";
  case CGX_BOOL:
    return "bool";
  case CGX_ELEMENT_TYPE_COUNT:
    break;
  }
  llvm_unreachable("element type that collectives do not carry");
}

//===----------------------------------------------------------------------===//
// identity
//===----------------------------------------------------------------------===//

cgx_codec IdentityAttr::getCodec() const { return {CGX_CODEC_IDENTITY, 0, 0, 0, 0, 0}; }

DictionaryAttr IdentityAttr::getManifestEntry() const {
  Builder builder(getContext());
  return builder.getDictionaryAttr(builder.getNamedAttr("family", builder.getStringAttr(getFamily())));
}

bool IdentityAttr::isFixedSize() const { return true; }
bool IdentityAttr::isUnbiased() const { return true; }
bool IdentityAttr::isStateful() const { return false; }
bool IdentityAttr::isAssociative() const { return true; }
bool IdentityAttr::isExact() const { return true; }

bool IdentityAttr::takesElementType(Type elementType) const {
  return getCodecElementType(elementType).has_value();
}

StringRef IdentityAttr::getElementTypesText() const {
  return "f16, bf16, f32, f64, i1 or an integer of 8 to 64 bits";
}

//===----------------------------------------------------------------------===//
// quantize
//===----------------------------------------------------------------------===//

cgx_codec QuantizeAttr::getCodec() const {
  return {CGX_CODEC_QUANTIZE,
          static_cast<uint32_t>(getBits()),
          static_cast<uint32_t>(getBucket()),
          static_cast<uint32_t>(getRounding()),
          static_cast<uint32_t>(getScale()),
          getChecksum()};
}

DictionaryAttr QuantizeAttr::getManifestEntry() const {
  Builder builder(getContext());
  return builder.getDictionaryAttr({
      builder.getNamedAttr("family", builder.getStringAttr(getFamily())),
      builder.getNamedAttr("bits", builder.getI64IntegerAttr(getBits())),
      builder.getNamedAttr("bucket", builder.getI64IntegerAttr(getBucket())),
      builder.getNamedAttr("rounding", builder.getStringAttr(stringifyRounding(getRounding()))),
      builder.getNamedAttr("scale", builder.getStringAttr(stringifyScaleType(getScale()))),
      builder.getNamedAttr("checksum", builder.getBoolAttr(getChecksum())),
  });
}

bool QuantizeAttr::isFixedSize() const { return true; }
bool QuantizeAttr::isUnbiased() const { return getRounding() == Rounding::Stochastic; }
bool QuantizeAttr::isStateful() const { return false; }
bool QuantizeAttr::isAssociative() const { return false; }
bool QuantizeAttr::isExact() const { return false; }

bool QuantizeAttr::takesElementType(Type elementType) const {
  return elementType.isF32() || elementType.isF16() || elementType.isBF16();
}

StringRef QuantizeAttr::getElementTypesText() const { return "f16, bf16 or f32"; }

LogicalResult QuantizeAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t bits, int64_t bucket,
                                   Rounding, ScaleType, bool) {
  if (bits < 1 || bits > 8) // (C1)
    return emitError() << "expected bits in 1..8, got " << bits;
  if (bucket < 1 || bucket > UINT32_MAX) // (C2)
    return emitError() << "expected bucket in 1.." << UINT32_MAX << ", got " << bucket;
  return success();
}

/// Parses the name of a case of an enumeration.
template <typename Enum>
static ParseResult parseCase(AsmParser &parser, Enum &value, std::optional<Enum> (*symbolize)(StringRef),
                             StringRef expected) {
  StringRef name;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  std::optional<Enum> parsed = symbolize(name);
  if (!parsed)
    return parser.emitError(location) << "expected " << expected << ", got " << name;
  value = *parsed;
  return success();
}

// `<` parameter (`,` parameter)* `>` in any order, each at most once.
Attribute QuantizeAttr::parse(AsmParser &parser, Type) {
  int64_t bits = 4, bucket = 128;
  Rounding rounding = Rounding::Stochastic;
  ScaleType scale = ScaleType::BF16;
  bool checksum = false;
  SmallVector<StringRef> seen;
  auto parseParameter = [&]() -> ParseResult {
    SMLoc location = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    if (llvm::is_contained(seen, name))
      return parser.emitError(location) << "parameter " << name << " is given twice";
    seen.push_back(name);
    if (name == "checksum") {
      checksum = true;
      return success();
    }
    if (name != "bits" && name != "bucket" && name != "rounding" && name != "scale")
      return parser.emitError(location) << "expected bits, bucket, rounding, scale or checksum, got " << name;
    if (parser.parseEqual())
      return failure();
    if (name == "bits")
      return parser.parseInteger(bits);
    if (name == "bucket")
      return parser.parseInteger(bucket);
    if (name == "rounding")
      return parseCase(parser, rounding, symbolizeRounding, "nearest or stochastic");
    return parseCase(parser, scale, symbolizeScaleType, "bf16 or f32");
  };
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalLessGreater, parseParameter))
    return {};
  return parser.getChecked<QuantizeAttr>(location, parser.getContext(), bits, bucket, rounding, scale,
                                         checksum);
}

void QuantizeAttr::print(AsmPrinter &printer) const {
  printer << "<bits = " << getBits() << ", bucket = " << getBucket()
          << ", rounding = " << stringifyRounding(getRounding())
          << ", scale = " << stringifyScaleType(getScale()) << (getChecksum() ? ", checksum>" : ">");
}
