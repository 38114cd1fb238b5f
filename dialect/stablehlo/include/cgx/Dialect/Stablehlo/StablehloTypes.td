//===-- StablehloTypes.td - tokens and futures -*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_DIALECT_STABLEHLO_STABLEHLOTYPES_TD
#define CGX_DIALECT_STABLEHLO_STABLEHLOTYPES_TD

include "cgx/Dialect/Stablehlo/StablehloDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonTypeConstraints.td"

def Stablehlo_TokenType : TypeDef<Stablehlo_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "orders ops with side effects";
}

def Stablehlo_FutureType : TypeDef<Stablehlo_Dialect, "Future"> {
  let mnemonic = "future";
  let summary = "the results of an op that was started";
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$types);
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` $types `>`";
}

// Sizes in bytes of anything stay within 64 bits.
def Stablehlo_Tensor
    : Type<CPred<"::cgx::stablehlo::isTensor($_self)">, "ranked tensor of at most 2^56 elements", "::mlir::RankedTensorType">;
def Stablehlo_QuantizedElement : Type<CPred<"::cgx::stablehlo::isQuantized($_self)">, "quantized">;
def Stablehlo_FloatTensor : RankedTensorOf<[AnyFloat, Stablehlo_QuantizedElement]>;
def Stablehlo_PredOrIntTensor : RankedTensorOf<[AnyInteger]>;
def Stablehlo_TensorOrToken : AnyTypeOf<[Stablehlo_Tensor, Stablehlo_TokenType]>;
def Stablehlo_Tuple : NestedTupleOf<[Stablehlo_Tensor, Stablehlo_TokenType, AnyMemRef]>;
// The values that flow through control flow, which also include tuples and buffers that a frontend
// has allocated.
def Stablehlo_Value : AnyTypeOf<[Stablehlo_Tensor, Stablehlo_TokenType, Stablehlo_Tuple, AnyMemRef]>;
def Stablehlo_DimensionTensor : 1DTensorOf<[Index, AnyInteger]>;
def Stablehlo_PredTensor : RankedTensorOf<[I1]>;
def Stablehlo_IntTensor : RankedTensorOf<[AnyInteger]>;
def Stablehlo_FloatOrComplexTensor : RankedTensorOf<[AnyFloat, AnyComplex]>;
def Stablehlo_ComplexTensor : RankedTensorOf<[AnyComplex]>;

#endif // CGX_DIALECT_STABLEHLO_STABLEHLOTYPES_TD
