//===-- Plugin.cpp - cgx as a plugin of any mlir-opt ----------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   mlir-opt --load-dialect-plugin=cgx-plugin.so --load-pass-plugin=cgx-plugin.so
//            --pass-pipeline='builtin.module(cgx-compress{bits=4})' step.mlir
//
// Both flags are needed: a pass plugin alone does not make the dialects known.
//
//===----------------------------------------------------------------------===//

#include "cgx/Tools/Registration.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Compiler.h"

extern "C" LLVM_ATTRIBUTE_WEAK LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "cgx", LLVM_VERSION_STRING, [](mlir::DialectRegistry *registry) {
            cgx::registerCgxDialects(*registry);
            cgx::registerCgxNativeDialects(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "cgx", LLVM_VERSION_STRING, [] {
            cgx::registerCgxPasses();
            cgx::registerCgxNativePasses();
          }};
}
