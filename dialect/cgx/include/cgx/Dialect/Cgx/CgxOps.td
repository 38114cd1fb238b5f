//===-- CgxOps.td - the ops of the cgx dialect -------------*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_CGX_CGXOPS_TD
#define CGX_DIALECT_CGX_CGXOPS_TD

include "cgx/Dialect/Cgx/CgxCollectiveOps.td"
include "cgx/Dialect/Cgx/CgxPayloadOps.td"
include "cgx/Dialect/Cgx/CgxBindOptimizerStateOp.td"
include "cgx/Dialect/Cgx/CgxStartOps.td"

#endif // CGX_DIALECT_CGX_CGXOPS_TD
