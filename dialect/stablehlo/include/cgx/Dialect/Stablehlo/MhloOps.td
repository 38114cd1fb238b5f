//===-- MhloOps.td - what JAX still writes in the mhlo dialect -*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_STABLEHLO_MHLOOPS_TD
#define CGX_DIALECT_STABLEHLO_MHLOOPS_TD

include "cgx/Dialect/Stablehlo/StablehloTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Mhlo_Dialect : Dialect {
  let name = "mhlo";
  let cppNamespace = "::cgx::mhlo";
  let summary = "the predecessor of StableHLO, of which JAX still writes a little";
  let description = [{
    Attributes of modules and functions (`mhlo.num_replicas`, `mhlo.sharding`),
    and `mhlo.copy`. Any other op is kept in its generic form, and any attribute
    of the dialect as its text.
  }];
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser, ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute, ::mlir::DialectAsmPrinter &printer) const override;
  }];
}

def Mhlo_UnknownAttr : AttrDef<Mhlo_Dialect, "Unknown"> {
  let attrName = "mhlo.unknown";
  let summary = "an attribute of the dialect, kept as its text";
  let description = [{ Example: `#mhlo.type_extensions<bounds = [4]>` }];
  let parameters = (ins StringRefParameter<>:$text);
}

def Mhlo_CopyOp : Op<Mhlo_Dialect, "copy", [Pure, SameOperandsAndResultType]> {
  let summary = "the operand, in a buffer of its own";
  let description = [{
    `jax.numpy.copy`. Values have no buffers here, so it folds to the operand.

    Example:
    ```mlir
    %1 = mhlo.copy %0 : tensor<4xf32>
    ```
  }];
  let arguments = (ins Stablehlo_Tensor:$operand);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
  let hasFolder = 1;
}

#endif // CGX_DIALECT_STABLEHLO_MHLOOPS_TD
