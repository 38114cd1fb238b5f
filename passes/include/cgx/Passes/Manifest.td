//===-- Manifest.td - The manifest of a program -----------*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//

#ifndef CGX_PASSES_MANIFEST
#define CGX_PASSES_MANIFEST

include "mlir/Pass/PassBase.td"

def EmitManifestPass : Pass<"cgx-emit-manifest", "::mlir::ModuleOp"> {
  let summary = "Write the manifest: arguments, results and collectives";
  let description = [{
    Describes `@main` and every collective as JSON (schema in passes/README.md) and
    puts the text into the module's attribute `cgx_rt.manifest`, from which
    `cgx-emit-entry` makes the constant `cgx_program_manifest`. Runs first, while types
    still have their signs and collectives their codecs.

    Precondition: a per-rank program, every collective with an id of its own.
    Postcondition: the module has `cgx_rt.manifest`; nothing else changed.

    Input:
    ```mlir
    func.func public @main(%x: tensor<4xf32> {cgx.name = "batch"}) -> tensor<4xf32>
    ```
    Output:
    ```mlir
    module attributes {cgx_rt.manifest = "{\"cgx_manifest\":1,\"hash\":\"...\",\"ranks\":1, ...}"}
    ```
  }];
}

#endif // CGX_PASSES_MANIFEST
