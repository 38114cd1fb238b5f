//===-- Registration.cpp - Every dialect and pass of cgx ------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Tools/Registration.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Sdy/SdyDialect.h"
#include "cgx/Dialect/Stablehlo/ChloDialect.h"
#include "cgx/Dialect/Stablehlo/MhloDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Import.h"
#include "cgx/Passes/Manifest.h"
#include "cgx/Passes/Rewrite.h"
#include "cgx/Passes/Xla.h"

#include "mlir/IR/DialectRegistry.h"

void cgx::registerCgxDialects(mlir::DialectRegistry &registry) {
  registry.insert<CgxDialect, chlo::ChloDialect, mhlo::MhloDialect, sdy::SdyDialect,
                  stablehlo::StablehloDialect>();
}

void cgx::registerCgxPasses() {
  registerImportPasses();
  registerRewritePasses();
  registerManifestPasses();
  registerXlaPasses();
}
