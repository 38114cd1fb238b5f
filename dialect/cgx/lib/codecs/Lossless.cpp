//===-- Lossless.cpp - #cgx.lossless --------------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parameters.h"

using namespace mlir;
using namespace cgx;

cgx_codec LosslessAttr::getCodec() const { return {.family = CGX_CODEC_LOSSLESS, .checksum = getChecksum()}; }

DictionaryAttr LosslessAttr::getManifestEntry() const {
  return detail::ManifestEntry(*this).flag("checksum", getChecksum()).get();
}

bool LosslessAttr::isUnbiased() const { return true; }
bool LosslessAttr::isExact() const { return true; }

Attribute LosslessAttr::parse(AsmParser &parser, Type) {
  bool checksum = false;
  if (detail::ParameterParser(parser).flag("checksum", checksum).parse())
    return {};
  return get(parser.getContext(), checksum);
}

void LosslessAttr::print(AsmPrinter &printer) const {
  if (getChecksum())
    printer << "<checksum>";
}
