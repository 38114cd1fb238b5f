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

cgx_codec TwoWayAttr::getCodec() const { return getThere().getCodec(); }
cgx_codec TwoWayAttr::getBackCodec() const { return getBack().getCodec(); }
StringRef TwoWayAttr::getFamily() const { return getThere().getFamily(); }

/// That of `there`, and in it that of `back`.
DictionaryAttr TwoWayAttr::getManifestEntry() const {
  NamedAttrList entry(getThere().getManifestEntry());
  entry.set("back", getBack().getManifestEntry());
  return entry.getDictionary(getContext());
}

bool TwoWayAttr::isFixedSize() const { return getThere().isFixedSize() && getBack().isFixedSize(); }
bool TwoWayAttr::isUnbiased() const {
  auto isUnbiased = [](CodecAttrInterface codec) { return codec.isExact() || codec.isUnbiased(); };
  return isUnbiased(getThere()) && isUnbiased(getBack());
}
bool TwoWayAttr::isStateful() const { return getThere().isStateful() || getBack().isStateful(); }
bool TwoWayAttr::takesElementType(Type type) const {
  return getThere().takesElementType(type) && getBack().takesElementType(type);
}
StringRef TwoWayAttr::getElementTypesText() const {
  return getThere().isExact() ? getBack().getElementTypesText() : getThere().getElementTypesText();
}

LogicalResult TwoWayAttr::verify(function_ref<InFlightDiagnostic()> emitError, CodecAttrInterface there,
                                 CodecAttrInterface back) {
  for (CodecAttrInterface codec : {there, back})
    if (isa<ErrorFeedbackAttr>(codec) || codec.needsAllReduce()) // (C1)
      return emitError() << "expected a codec for one way, without error feedback, got " << codec;
  if (there.isExact() && back.isExact()) // (C2)
    return emitError() << "expected a lossy codec for one of the ways, got " << there << " and " << back;
  return success();
}
