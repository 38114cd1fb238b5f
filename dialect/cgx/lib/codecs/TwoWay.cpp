//===-- TwoWay.cpp - #cgx.two_way -----------------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/LayerCodec.h"

using namespace mlir;
using namespace cgx;

bool TwoWayAttr::takesElementType(Type type) const {
  return getThere().takesElementType(type) && getBack().takesElementType(type);
}
StringRef TwoWayAttr::getElementTypesText() const {
  return getThere().isExact() ? getBack().getElementTypesText() : getThere().getElementTypesText();
}

LogicalResult TwoWayAttr::verify(function_ref<InFlightDiagnostic()> emitError, CodecAttrInterface there,
                                 CodecAttrInterface back) {
  const std::string wrong = layers::checkReturnCodec(toLayerCodec(there), toLayerCodec(back)); // (C1), (C2)
  return wrong.empty() ? success() : LogicalResult(emitError() << wrong);
}
