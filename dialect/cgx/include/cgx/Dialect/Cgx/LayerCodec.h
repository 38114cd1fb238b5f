//===-- LayerCodec.h - Codecs as decisions have them ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decisions about layers are made by a library that knows no attributes (cgx/layers). What it may put where,
// attributes verify by it; what a codec is called, printers of manifests and reports ask it.
#ifndef CGX_DIALECT_CGX_LAYERCODEC_H
#define CGX_DIALECT_CGX_LAYERCODEC_H

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/layers/Table.h"

namespace cgx {

/// The codec that an attribute describes, and the attribute that describes a codec.
layers::Codec toLayerCodec(CodecAttrInterface codec);
CodecAttrInterface getCodecAttr(mlir::MLIRContext *context, const layers::Codec &codec);

/// The algorithm of an all-reduce by hosts.
std::optional<layers::Hierarchy> toLayerHierarchy(std::optional<HierarchyAttr> hierarchy);

} // namespace cgx

#endif // CGX_DIALECT_CGX_LAYERCODEC_H
