//===-- Topk.cpp - #cgx.topk ----------------------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parameters.h"

using namespace mlir;
using namespace cgx;

cgx_codec TopkAttr::getCodec() const {
  return {.family = CGX_CODEC_TOPK,
          .checksum = getChecksum(),
          .density = static_cast<float>(getDensity().getValueAsDouble())};
}

DictionaryAttr TopkAttr::getManifestEntry() const {
  return detail::ManifestEntry(*this)
      .real("density", getDensity().getValueAsDouble())
      .flag("checksum", getChecksum())
      .get();
}

bool TopkAttr::isUnbiased() const { return false; }

LogicalResult TopkAttr::verify(function_ref<InFlightDiagnostic()> emitError, FloatAttr density, bool) {
  return detail::verifyShare(emitError, "density", density); // (C1)
}

Attribute TopkAttr::parse(AsmParser &parser, Type) { return detail::parseSparse<TopkAttr>(parser); }
void TopkAttr::print(AsmPrinter &printer) const { detail::printSparse(printer, getDensity(), getChecksum()); }
