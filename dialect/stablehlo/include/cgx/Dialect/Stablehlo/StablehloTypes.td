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
  let assemblyFormat = "`<` $types `>`";
}

def Stablehlo_Tensor : Type<CPred<"::llvm::isa<::mlir::RankedTensorType>($_self)">, "ranked tensor", "::mlir::RankedTensorType">;
def Stablehlo_TensorOrToken : AnyTypeOf<[Stablehlo_Tensor, Stablehlo_TokenType]>;
def Stablehlo_PredTensor : RankedTensorOf<[I1]>;
def Stablehlo_IntTensor : RankedTensorOf<[AnyInteger]>;
def Stablehlo_FloatOrComplexTensor : RankedTensorOf<[AnyFloat, AnyComplex]>;
def Stablehlo_ComplexTensor : RankedTensorOf<[AnyComplex]>;

#endif // CGX_DIALECT_STABLEHLO_STABLEHLOTYPES_TD
