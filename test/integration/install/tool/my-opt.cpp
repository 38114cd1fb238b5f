//===-- my-opt.cpp - An MLIR tool against an installed cgx ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialects of mlir-opt and of cgx, and the passes of cgx.
//
//===----------------------------------------------------------------------===//
#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Passes/Rewrite.h"
#include "cgx/Tools/Registration.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  cgx::registerCgxDialects(registry);
  cgx::registerCgxNativeDialects(registry);
  cgx::registerCgxPasses();
  cgx::registerCgxNativePasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "my-opt\n", registry));
}
