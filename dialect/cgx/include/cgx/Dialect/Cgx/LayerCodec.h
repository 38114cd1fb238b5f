//===-- LayerCodec.h - Conversion of codecs for decisions ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decisions about layers are made by a library that knows no attributes (cgx/layers). Attributes verify by
// the same library what may be put where, and printers of manifests and reports take names of codecs from it.
#ifndef CGX_DIALECT_CGX_LAYERCODEC_H
#define CGX_DIALECT_CGX_LAYERCODEC_H

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/layers/Table.h"

namespace cgx {

/// These convert between a codec and the attribute that describes it.
layers::Codec toLayerCodec(CodecAttrInterface codec);
CodecAttrInterface getCodecAttr(mlir::MLIRContext *context, const layers::Codec &codec);

/// Converts the hierarchy of an all-reduce.
std::optional<layers::Hierarchy> toLayerHierarchy(std::optional<HierarchyAttr> hierarchy);

} // namespace cgx

#endif // CGX_DIALECT_CGX_LAYERCODEC_H
