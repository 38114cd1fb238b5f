//===-- MhloOps.td - the mhlo ops that JAX still writes ---*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_STABLEHLO_MHLOOPS_TD
#define CGX_DIALECT_STABLEHLO_MHLOOPS_TD

include "cgx/Dialect/Stablehlo/StablehloTypes.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Mhlo_Dialect : Dialect {
  let name = "mhlo";
  let cppNamespace = "::cgx::mhlo";
  let summary = "the predecessor of StableHLO, of which JAX still writes a little";
  let description = [{
    Attributes of modules and functions (`mhlo.num_replicas`, `mhlo.sharding`),
    `mhlo.copy`, and the instructions of HLO that StableHLO has no op for, as jaxlib
    writes them when it converts HLO back. Any other op is kept in its generic form,
    and any attribute of the dialect as its text.
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

//===----------------------------------------------------------------------===//
// Instructions of HLO
//===----------------------------------------------------------------------===//

class Mhlo_UnaryOp<string mnemonic, string text> : Op<Mhlo_Dialect, mnemonic, [Pure, SameOperandsAndResultType]> {
  let summary = text # " of each element";
  let description = [{
    Example:
    ```mlir
    %1 = mhlo.}] # mnemonic # [{ %0 : tensor<4xf32>
    ```
  }];
  let arguments = (ins Stablehlo_Tensor:$operand);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

def Mhlo_AcosOp : Mhlo_UnaryOp<"acos", "arc cosine">;
def Mhlo_AcoshOp : Mhlo_UnaryOp<"acosh", "area hyperbolic cosine">;
def Mhlo_AsinOp : Mhlo_UnaryOp<"asin", "arc sine">;
def Mhlo_AsinhOp : Mhlo_UnaryOp<"asinh", "area hyperbolic sine">;
def Mhlo_AtanhOp : Mhlo_UnaryOp<"atanh", "area hyperbolic tangent">;
def Mhlo_CoshOp : Mhlo_UnaryOp<"cosh", "hyperbolic cosine">;
def Mhlo_ErfOp : Mhlo_UnaryOp<"erf", "error function">;
def Mhlo_SinhOp : Mhlo_UnaryOp<"sinh", "hyperbolic sine">;

def Mhlo_TopKOp : Op<Mhlo_Dialect, "topk", [Pure]> {
  let summary = "the largest or smallest elements of the last dimension, and where they are";
  let description = [{
    Example:
    ```mlir
    %values, %indices = mhlo.topk(%0, k = 3) : tensor<8x16xf32> -> (tensor<8x3xf32>, tensor<8x3xi32>)
    ```
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, I64Attr:$k, DefaultValuedOptionalAttr<BoolAttr, "true">:$largest);
  let results = (outs Stablehlo_Tensor:$values, Stablehlo_Tensor:$indices);
  let assemblyFormat = [{
    `(` $operand `,` `k` `=` $k (`,` `largest` `=` $largest^)? `)` attr-dict `:` type($operand) `->`
    `(` type($values) `,` type($indices) `)`
  }];
}

def Mhlo_BitcastOp : Op<Mhlo_Dialect, "bitcast", [Pure]> {
  let summary = "the bytes of the operand in memory as another tensor";
  let description = [{
    The layouts are the dimensions of operand and result from minor to major, as
    XLA keeps them in memory; without them, the last dimension is the minor one.

    Example:
    ```mlir
    %1 = mhlo.bitcast %0 {result_layout = dense<[0, 1]> : tensor<2xindex>,
                          source_layout = dense<[1, 0]> : tensor<2xindex>} : (tensor<2x16xf32>) -> tensor<16x2xf32>
    ```
  }];
  let arguments = (ins Stablehlo_Tensor:$operand);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
}

def Mhlo_ReturnOp : Op<Mhlo_Dialect, "return", [Pure, Terminator, ReturnLike]> {
  let summary = "ends a region of this dialect";
  let description = [{
    Example:
    ```mlir
    mhlo.return %0 : tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
}

def Mhlo_FusionOp : Op<Mhlo_Dialect, "fusion", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "ops that XLA computes in one loop";
  let description = [{
    Says how XLA computes, and nothing about values.

    Example:
    ```mlir
    %1 = "mhlo.fusion"(%0) <{fusion_kind = #mhlo<fusion_kind kLoop>}> ({
    ^bb0(%a: tensor<4xf32>):
      %2 = stablehlo.add %a, %a : tensor<4xf32>
      mhlo.return %2 : tensor<4xf32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    **Constraints:**
    - (C1) one block argument per operand, of its type
    - (C2) one returned value per result, of its type
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, OptionalAttr<AnyAttr>:$fusion_kind);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$fused_computation);
  let hasVerifier = 1;
}

#endif // CGX_DIALECT_STABLEHLO_MHLOOPS_TD
