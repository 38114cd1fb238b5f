//===-- ChloOps.td - the few chlo ops that JAX leaves in StableHLO text -*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_STABLEHLO_CHLOOPS_TD
#define CGX_DIALECT_STABLEHLO_CHLOOPS_TD

include "cgx/Dialect/Stablehlo/StablehloTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Chlo_Dialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::cgx::chlo";
  let summary = "functions that JAX prints instead of their expansion";
  let description = [{
    Elementwise functions without an op in StableHLO, and `top_k`. They are
    never expanded in a program that goes back to JAX.
  }];
}

class Chlo_UnaryOp<string mnemonic, string text, list<Trait> traits = []>
    : Op<Chlo_Dialect, mnemonic, [Pure, Elementwise, SameOperandsAndResultShape] # traits> {
  let summary = text;
  let arguments = (ins Stablehlo_Tensor:$operand);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}

def Chlo_AcosOp : Chlo_UnaryOp<"acos", "arc cosine">;
def Chlo_AcoshOp : Chlo_UnaryOp<"acosh", "area hyperbolic cosine">;
def Chlo_AsinOp : Chlo_UnaryOp<"asin", "arc sine">;
def Chlo_AsinhOp : Chlo_UnaryOp<"asinh", "area hyperbolic sine">;
def Chlo_AtanOp : Chlo_UnaryOp<"atan", "arc tangent">;
def Chlo_AtanhOp : Chlo_UnaryOp<"atanh", "area hyperbolic tangent">;
def Chlo_BesselI1eOp : Chlo_UnaryOp<"bessel_i1e", "scaled modified Bessel function of order 1">;
def Chlo_ConjOp : Chlo_UnaryOp<"conj", "complex conjugate">;
def Chlo_CoshOp : Chlo_UnaryOp<"cosh", "hyperbolic cosine">;
def Chlo_DigammaOp : Chlo_UnaryOp<"digamma", "derivative of the logarithm of the gamma function">;
def Chlo_ErfOp : Chlo_UnaryOp<"erf", "error function">;
def Chlo_ErfInvOp : Chlo_UnaryOp<"erf_inv", "inverse of the error function">;
def Chlo_ErfcOp : Chlo_UnaryOp<"erfc", "one minus the error function, exact where that is small">;
def Chlo_IsInfOp : Chlo_UnaryOp<"is_inf", "whether infinite">;
def Chlo_IsNegInfOp : Chlo_UnaryOp<"is_neg_inf", "whether minus infinity">;
def Chlo_IsPosInfOp : Chlo_UnaryOp<"is_pos_inf", "whether plus infinity">;
def Chlo_LgammaOp : Chlo_UnaryOp<"lgamma", "logarithm of the gamma function">;
def Chlo_SinhOp : Chlo_UnaryOp<"sinh", "hyperbolic sine">;
def Chlo_SquareOp : Chlo_UnaryOp<"square", "the element times itself">;

class Chlo_BinaryOp<string mnemonic, string text>
    : Op<Chlo_Dialect, mnemonic, [Pure, Elementwise, SameOperandsAndResultShape]> {
  let summary = text;
  let arguments = (ins Stablehlo_Tensor:$lhs, Stablehlo_Tensor:$rhs);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
}

def Chlo_NextAfterOp : Chlo_BinaryOp<"next_after", "the representable number after lhs towards rhs">;
def Chlo_PolygammaOp : Chlo_BinaryOp<"polygamma", "derivative of order lhs of digamma">;
def Chlo_ZetaOp : Chlo_BinaryOp<"zeta", "Hurwitz zeta function">;

def Chlo_TopKOp : Op<Chlo_Dialect, "top_k", [Pure]> {
  let summary = "the largest elements of the last dimension, and where they are";
  let arguments = (ins Stablehlo_Tensor:$operand, I64Attr:$k);
  let results = (outs Stablehlo_Tensor:$values, Stablehlo_Tensor:$indices);
  let assemblyFormat = [{
    `(` $operand `,` `k` `=` $k `)` attr-dict `:` type($operand) `->` `(` type($values) `,` type($indices) `)`
  }];
}

#endif // CGX_DIALECT_STABLEHLO_CHLOOPS_TD
