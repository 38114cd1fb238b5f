//===-- StablehloOps.cpp - generated parts of the ops -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AssemblyDirectives.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TypeUtilities.h" // for what TableGen writes of tuples

using namespace mlir;
using namespace cgx::stablehlo;

#define GET_OP_CLASSES
#include "cgx/Dialect/Stablehlo/StablehloOps.cpp.inc"
