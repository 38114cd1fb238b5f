//===-- Natural.cpp - #cgx.natural ----------------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parameters.h"

using namespace mlir;
using namespace cgx;

cgx_codec NaturalAttr::getCodec() const { return {.family = CGX_CODEC_NATURAL, .checksum = getChecksum()}; }

DictionaryAttr NaturalAttr::getManifestEntry() const {
  return detail::ManifestEntry(*this).flag("checksum", getChecksum()).get();
}

bool NaturalAttr::isUnbiased() const { return true; }

Attribute NaturalAttr::parse(AsmParser &parser, Type) {
  bool checksum = false;
  if (detail::ParameterParser(parser).flag("checksum", checksum).parse())
    return {};
  return get(parser.getContext(), checksum);
}

void NaturalAttr::print(AsmPrinter &printer) const {
  if (getChecksum())
    printer << "<checksum>";
}
