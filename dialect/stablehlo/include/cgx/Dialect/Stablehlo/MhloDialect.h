//===-- MhloDialect.h - the mhlo ops that JAX still writes -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_DIALECT_STABLEHLO_MHLODIALECT_H
#define CGX_DIALECT_STABLEHLO_MHLODIALECT_H

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "cgx/Dialect/Stablehlo/MhloDialect.h.inc"

namespace cgx::mhlo {
/// The attribute that tells a partitioner how to split an argument or a result, as text of HLO
/// (`HloSharding`).
inline constexpr llvm::StringLiteral kShardingAttrName = "mhlo.sharding";
} // namespace cgx::mhlo

#define GET_ATTRDEF_CLASSES
#include "cgx/Dialect/Stablehlo/MhloAttrs.h.inc"

#define GET_OP_CLASSES
#include "cgx/Dialect/Stablehlo/MhloOps.h.inc"

#endif // CGX_DIALECT_STABLEHLO_MHLODIALECT_H
