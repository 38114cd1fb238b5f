//===-- StablehloEnums.td - enumerations -*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_DIALECT_STABLEHLO_STABLEHLOENUMS_TD
#define CGX_DIALECT_STABLEHLO_STABLEHLOENUMS_TD

include "cgx/Dialect/Stablehlo/StablehloDialect.td"
include "mlir/IR/EnumAttr.td"

class Stablehlo_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::cgx::stablehlo";
  let genSpecializedAttr = 0;
}

def Stablehlo_ComparisonDirection : Stablehlo_Enum<"ComparisonDirection", "which comparison", [
  I32EnumAttrCase<"EQ", 0>, I32EnumAttrCase<"NE", 1>, I32EnumAttrCase<"GE", 2>,
  I32EnumAttrCase<"GT", 3>, I32EnumAttrCase<"LE", 4>, I32EnumAttrCase<"LT", 5>
]>;
def Stablehlo_ComparisonType : Stablehlo_Enum<"ComparisonType", "how elements are ordered", [
  I32EnumAttrCase<"NOTYPE", 0>, I32EnumAttrCase<"FLOAT", 1>, I32EnumAttrCase<"TOTALORDER", 2>,
  I32EnumAttrCase<"SIGNED", 3>, I32EnumAttrCase<"UNSIGNED", 4>
]>;
def Stablehlo_Precision : Stablehlo_Enum<"Precision", "accuracy asked of a contraction", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGH", 1>, I32EnumAttrCase<"HIGHEST", 2>
]>;
def Stablehlo_RngAlgorithm : Stablehlo_Enum<"RngAlgorithm", "generator of random bits", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"THREE_FRY", 1>, I32EnumAttrCase<"PHILOX", 2>
]>;
def Stablehlo_RngDistribution : Stablehlo_Enum<"RngDistribution", "distribution of random numbers", [
  I32EnumAttrCase<"UNIFORM", 1>, I32EnumAttrCase<"NORMAL", 2>
]>;
def Stablehlo_FftType : Stablehlo_Enum<"FftType", "which Fourier transform", [
  I32EnumAttrCase<"FFT", 0>, I32EnumAttrCase<"IFFT", 1>, I32EnumAttrCase<"RFFT", 2>, I32EnumAttrCase<"IRFFT", 3>
]>;
def Stablehlo_Transpose : Stablehlo_Enum<"Transpose", "how a matrix is transposed", [
  I32EnumAttrCase<"TRANSPOSE_INVALID", 0>, I32EnumAttrCase<"NO_TRANSPOSE", 1>, I32EnumAttrCase<"TRANSPOSE", 2>,
  I32EnumAttrCase<"ADJOINT", 3>
]>;
def Stablehlo_ResultAccuracyMode : Stablehlo_Enum<"ResultAccuracyMode", "accuracy asked of a function", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGHEST", 1>, I32EnumAttrCase<"TOLERANCE", 2>
]>;

class Stablehlo_EnumAttr<EnumInfo info, string mnemonic> : EnumAttr<Stablehlo_Dialect, info, mnemonic>;

def Stablehlo_ComparisonDirectionAttr : Stablehlo_EnumAttr<Stablehlo_ComparisonDirection, "comparison_direction">;
def Stablehlo_ComparisonTypeAttr : Stablehlo_EnumAttr<Stablehlo_ComparisonType, "comparison_type">;
def Stablehlo_PrecisionAttr : Stablehlo_EnumAttr<Stablehlo_Precision, "precision">;
def Stablehlo_RngAlgorithmAttr : Stablehlo_EnumAttr<Stablehlo_RngAlgorithm, "rng_algorithm">;
def Stablehlo_RngDistributionAttr : Stablehlo_EnumAttr<Stablehlo_RngDistribution, "rng_distribution">;
def Stablehlo_FftTypeAttr : Stablehlo_EnumAttr<Stablehlo_FftType, "fft_type">;
def Stablehlo_TransposeAttr : Stablehlo_EnumAttr<Stablehlo_Transpose, "transpose">;
def Stablehlo_ResultAccuracyModeAttr : Stablehlo_EnumAttr<Stablehlo_ResultAccuracyMode, "result_accuracy_mode"> {
  let assemblyFormat = "`<` $value `>`";
}

#endif // CGX_DIALECT_STABLEHLO_STABLEHLOENUMS_TD
