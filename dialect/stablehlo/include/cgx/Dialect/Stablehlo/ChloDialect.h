//===-- ChloDialect.h - the chlo ops of StableHLO text ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_DIALECT_STABLEHLO_CHLODIALECT_H
#define CGX_DIALECT_STABLEHLO_CHLODIALECT_H

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/IR/OpImplementation.h"

#include "cgx/Dialect/Stablehlo/ChloDialect.h.inc"
#include "cgx/Dialect/Stablehlo/ChloEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "cgx/Dialect/Stablehlo/ChloAttrs.h.inc"

#define GET_OP_CLASSES
#include "cgx/Dialect/Stablehlo/ChloOps.h.inc"

#endif // CGX_DIALECT_STABLEHLO_CHLODIALECT_H
