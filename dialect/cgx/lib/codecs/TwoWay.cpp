//===-- TwoWay.cpp - #cgx.two_way -----------------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cgx;

/// That of `there`, and in it that of `back`.
DictionaryAttr TwoWayAttr::getManifestEntry() const {
  NamedAttrList entry(getThere().getManifestEntry());
  entry.set("back", getBack().getManifestEntry());
  return entry.getDictionary(getContext());
}

bool TwoWayAttr::takesElementType(Type type) const {
  return getThere().takesElementType(type) && getBack().takesElementType(type);
}
StringRef TwoWayAttr::getElementTypesText() const {
  return getThere().isExact() ? getBack().getElementTypesText() : getThere().getElementTypesText();
}

LogicalResult TwoWayAttr::verify(function_ref<InFlightDiagnostic()> emitError, CodecAttrInterface there,
                                 CodecAttrInterface back) {
  for (CodecAttrInterface codec : {there, back})
    if (isa<ErrorFeedbackAttr, DeltaAttr>(codec) || codec.needsAllReduce()) // (C1)
      return emitError() << "expected a codec for one way, without error feedback, got " << codec;
  if (there.isExact() && back.isExact()) // (C2)
    return emitError() << "expected a lossy codec for one of the ways, got " << there << " and " << back;
  return success();
}
