//===-- Lowrank.cpp - #cgx.lowrank ----------------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parameters.h"

#include <limits>

using namespace mlir;
using namespace cgx;

cgx_codec LowrankAttr::getCodec() const {
  return {.family = CGX_CODEC_LOWRANK, .rank = static_cast<uint32_t>(getRank())};
}

DictionaryAttr LowrankAttr::getManifestEntry() const {
  return detail::ManifestEntry(*this).integer("rank", getRank()).get();
}

bool LowrankAttr::isUnbiased() const { return false; }
bool LowrankAttr::isStateful() const { return true; }
bool LowrankAttr::isAssociative() const { return true; }

std::string LowrankAttr::getShapeRefusal(RankedTensorType type) const {
  SmallVector<uint64_t> shape(type.getShape());
  uint64_t rows = cgx_matrix_rows(shape.data(), shape.size()), elements = type.getNumElements();
  uint64_t most = cgx_lowrank_most(rows, *getCodecElementType(type.getElementType()), elements);
  if (static_cast<uint64_t>(getRank()) <= most)
    return "";
  return "factors of rank " + std::to_string(getRank()) + " are no shorter than a matrix of " +
         std::to_string(rows) + "x" + std::to_string(elements / rows);
}

LogicalResult LowrankAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rank) {
  if (rank < 1 || rank > std::numeric_limits<uint32_t>::max()) // (C1)
    return emitError() << "expected rank in 1.." << std::numeric_limits<uint32_t>::max() << ", got " << rank;
  return success();
}

Attribute LowrankAttr::parse(AsmParser &parser, Type) {
  int64_t rank = 4;
  SMLoc location = parser.getCurrentLocation();
  if (detail::ParameterParser(parser).integer("rank", rank).parse())
    return {};
  return parser.getChecked<LowrankAttr>(location, parser.getContext(), rank);
}

void LowrankAttr::print(AsmPrinter &printer) const { printer << "<rank = " << getRank() << '>'; }
