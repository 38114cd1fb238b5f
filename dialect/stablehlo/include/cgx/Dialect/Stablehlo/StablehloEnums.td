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
def Stablehlo_ResultAccuracyMode : Stablehlo_Enum<"ResultAccuracyMode", "accuracy asked of a function", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGHEST", 1>, I32EnumAttrCase<"TOLERANCE", 2>
]>;
def Stablehlo_CustomCallApiVersion : Stablehlo_Enum<"CustomCallApiVersion", "calling convention of a custom call", [
  I32EnumAttrCase<"API_VERSION_UNSPECIFIED", 0>, I32EnumAttrCase<"API_VERSION_ORIGINAL", 1>,
  I32EnumAttrCase<"API_VERSION_STATUS_RETURNING", 2>, I32EnumAttrCase<"API_VERSION_STATUS_RETURNING_UNIFIED", 3>,
  I32EnumAttrCase<"API_VERSION_TYPED_FFI", 4>
]>;

class Stablehlo_EnumAttr<EnumInfo info, string mnemonic> : EnumAttr<Stablehlo_Dialect, info, mnemonic>;

def Stablehlo_ComparisonDirectionAttr : Stablehlo_EnumAttr<Stablehlo_ComparisonDirection, "comparison_direction">;
def Stablehlo_ComparisonTypeAttr : Stablehlo_EnumAttr<Stablehlo_ComparisonType, "comparison_type">;
def Stablehlo_PrecisionAttr : Stablehlo_EnumAttr<Stablehlo_Precision, "precision">;
def Stablehlo_RngAlgorithmAttr : Stablehlo_EnumAttr<Stablehlo_RngAlgorithm, "rng_algorithm">;
def Stablehlo_ResultAccuracyModeAttr : Stablehlo_EnumAttr<Stablehlo_ResultAccuracyMode, "result_accuracy_mode">;

#endif // CGX_DIALECT_STABLEHLO_STABLEHLOENUMS_TD
