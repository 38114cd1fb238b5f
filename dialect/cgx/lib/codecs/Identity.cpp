//===-- Identity.cpp - #cgx.identity --------------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parameters.h"

using namespace mlir;
using namespace cgx;

cgx_codec IdentityAttr::getCodec() const { return {.family = CGX_CODEC_IDENTITY}; }

DictionaryAttr IdentityAttr::getManifestEntry() const { return detail::ManifestEntry(*this).get(); }

bool IdentityAttr::isUnbiased() const { return true; }
bool IdentityAttr::isAssociative() const { return true; }
bool IdentityAttr::isExact() const { return true; }
bool IdentityAttr::isRaw() const { return true; }

bool IdentityAttr::takesElementType(Type elementType) const {
  return getCodecElementType(elementType).has_value();
}

StringRef IdentityAttr::getElementTypesText() const {
  return "f16, bf16, f32, f64, i1 or an integer of 8 to 64 bits";
}

Attribute IdentityAttr::parse(AsmParser &parser, Type) {
  return detail::ParameterParser(parser).parse() ? Attribute() : get(parser.getContext());
}

void IdentityAttr::print(AsmPrinter &) const {}
