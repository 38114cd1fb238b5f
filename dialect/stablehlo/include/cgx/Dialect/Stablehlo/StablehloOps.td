//===-- StablehloOps.td - all ops of the dialect -*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_DIALECT_STABLEHLO_STABLEHLOOPS_TD
#define CGX_DIALECT_STABLEHLO_STABLEHLOOPS_TD

include "cgx/Dialect/Stablehlo/StablehloCollectiveOps.td"
include "cgx/Dialect/Stablehlo/StablehloContractionOps.td"
include "cgx/Dialect/Stablehlo/StablehloControlFlowOps.td"
include "cgx/Dialect/Stablehlo/StablehloDataMovementOps.td"
include "cgx/Dialect/Stablehlo/StablehloDynamicOps.td"
include "cgx/Dialect/Stablehlo/StablehloElementwiseOps.td"
include "cgx/Dialect/Stablehlo/StablehloLinearAlgebraOps.td"
include "cgx/Dialect/Stablehlo/StablehloTransferOps.td"

#endif // CGX_DIALECT_STABLEHLO_STABLEHLOOPS_TD
