//===-- SdyDialect.td - the sdy dialect --------------------*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_SDY_SDYDIALECT_TD
#define CGX_DIALECT_SDY_SDYDIALECT_TD

include "mlir/IR/DialectBase.td"

def Sdy_Dialect : Dialect {
  let name = "sdy";
  let cppNamespace = "::cgx::sdy";
  let summary = "how tensors are split over a mesh of devices, as Shardy writes it";
  let description = [{
    JAX writes the distribution of a step in the Shardy dialect: a mesh with
    named axes, per value the axes that split each dimension, and regions in
    which the program is written per device. This is a reimplementation of the
    part that exported training steps use; it reads and prints the same text.
    It has no propagation: cgx takes programs whose communication is explicit.

    ```mlir
    sdy.mesh @mesh = <["data"=4, "model"=2]>
    func.func public @main(%x: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {} ]>}) ...
    ```
  }];
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser, ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute, ::mlir::DialectAsmPrinter &printer) const override;
  }];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

#endif // CGX_DIALECT_SDY_SDYDIALECT_TD
