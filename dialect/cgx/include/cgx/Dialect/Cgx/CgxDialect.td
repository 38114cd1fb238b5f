//===-- CgxDialect.td - the cgx dialect --------------------*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_CGX_CGXDIALECT_TD
#define CGX_DIALECT_CGX_CGXDIALECT_TD

include "mlir/IR/OpBase.td"

def Cgx_Dialect : Dialect {
  let name = "cgx";
  let cppNamespace = "::cgx";
  let summary = "collectives of a training step, and how each is compressed";
  let description = [{
    A module of this dialect is a *per-rank program*: every rank runs the same code on its own shard of the data, and
    communication is written as collectives with value semantics. Each collective names the process groups that
    exchange, one codec per operand (how that operand is encoded on the wire) and one layer per operand (which parameter
    it is communicated for).

    ```mlir
    module attributes {cgx.mesh = #cgx.mesh<["data" = 4]>, cgx.num_ranks = 4 : i64} {
      func.func public @main(%g: tensor<64x128xf32>) -> tensor<64x128xf32> {
        %0 = cgx.all_reduce mean(%g)
            codec(quantize<bits = 4, bucket = 128, rounding = stochastic, scale = bf16>)
            groups([[0, 1, 2, 3]]) id(0) layer("params/l1/w", gradient, [64, 128])
            : tensor<64x128xf32>
        return %0 : tensor<64x128xf32>
      }
    }
    ```

    Discardable attributes:

    - `cgx.mesh` (`#cgx.mesh`) and `cgx.num_ranks` (i64) on the module. Rank r
      is the row-major linear index over the axes of the mesh.
    - `cgx.name` (string), `cgx.sharding` (`#cgx.sharding`) and `cgx.global_type`
      (type) on arguments and results of `@main`: what they are called, and how
      the local shape follows from the global one.
    - `cgx.feeds` (i64) on results of `@main`: the number of the argument whose
      next value this result is.
    - `cgx.updates` (i64) on results of `@main` that feed nothing: the number of an argument whose next value this
      result may be, if the import cannot be sure. A step in which nothing else is fed back does not run.
    - `cgx.initial` (0 or a string) on arguments of `@main`: the initial value of state that a first start does not
      provide by its own name: zeros, or the tensor of that name, for each rank if a first dimension counts ranks.
    - `cgx.every` (i64) on branches: one of their regions runs every so many steps, on all ranks alike; on a
      `cgx.start` with a condition: it holds so often.
    - `cgx.turn` (i64) beside it: in which of these steps, from 1; the last by default.

    The attributes `exact_reasons` and `origins` of collectives are inherent. Earlier programs have them as
    `cgx.exact_reason` and `cgx.origins`, which are still parsed.
  }];
  // Codecs are named by their families.
  let useDefaultAttributePrinterParser = 0;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Parses ops by the names that they had before.
    std::optional<ParseOpHook> getParseOperationHook(llvm::StringRef name) const override;
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser, ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute, ::mlir::DialectAsmPrinter &printer) const override;
  }];
}

#endif // CGX_DIALECT_CGX_CGXDIALECT_TD
