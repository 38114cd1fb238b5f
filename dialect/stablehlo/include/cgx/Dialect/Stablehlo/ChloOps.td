//===-- ChloOps.td - the chlo ops that frontends leave in StableHLO text -*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_STABLEHLO_CHLOOPS_TD
#define CGX_DIALECT_STABLEHLO_CHLOOPS_TD

include "cgx/Dialect/Stablehlo/StablehloTypes.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Chlo_Dialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::cgx::chlo";
  let summary = "functions that JAX prints instead of their expansion";
  let description = [{
    Elementwise functions without an op in StableHLO, ops that broadcast their
    operands, and larger ones such as `top_k`. They are never expanded in a
    program that goes back to JAX.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

class Chlo_UnaryOp<string mnemonic, string text, list<Trait> traits = []>
    : Op<Chlo_Dialect, mnemonic, [Pure, Elementwise, SameOperandsAndResultShape] # traits> {
  let summary = text;
  let description = [{
    Example:
    ```mlir
    %1 = chlo.}] # mnemonic # [{ %0 : tensor<4xf32> -> tensor<4xf32>
    ```
  }];
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
def Chlo_TanOp : Chlo_UnaryOp<"tan", "tangent">;
def Chlo_AsinAcosKernelOp : Chlo_UnaryOp<"_asin_acos_kernel", "the part that arc sine and arc cosine of complex numbers share">;
def Chlo_SquareOp : Chlo_UnaryOp<"square", "the element times itself">;

// Booleans have no high half.
def Chlo_WideIntTensor : RankedTensorOf<[AnyI<2>, AnyI<4>, AnyI<8>, AnyI<16>, AnyI<32>, AnyI<64>]>;

class Chlo_BinaryOp<string mnemonic, string text>
    : Op<Chlo_Dialect, mnemonic, [Pure, Elementwise, SameOperandsAndResultShape]> {
  let summary = text;
  let description = [{
    Example:
    ```mlir
    %2 = chlo.}] # mnemonic # [{ %0, %1 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Stablehlo_Tensor:$lhs, Stablehlo_Tensor:$rhs);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
}

def Chlo_MulhiOp : Chlo_BinaryOp<"mulhi", "high half of the product of integers"> {
  let arguments = (ins Chlo_WideIntTensor:$lhs, Chlo_WideIntTensor:$rhs);
  let results = (outs Chlo_WideIntTensor:$result);
}
def Chlo_NextAfterOp : Chlo_BinaryOp<"next_after", "the representable number after lhs towards rhs">;
def Chlo_PolygammaOp : Chlo_BinaryOp<"polygamma", "derivative of order lhs of digamma">;
def Chlo_ZetaOp : Chlo_BinaryOp<"zeta", "Hurwitz zeta function">;

// The base class of enums that have the cases of stablehlo's, but attributes of their own.
class Chlo_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::cgx::chlo";
  let genSpecializedAttr = 0;
}
def Chlo_ComparisonDirection : Chlo_Enum<"ComparisonDirection", "which comparison", [
  I32EnumAttrCase<"EQ", 0>, I32EnumAttrCase<"NE", 1>, I32EnumAttrCase<"GE", 2>,
  I32EnumAttrCase<"GT", 3>, I32EnumAttrCase<"LE", 4>, I32EnumAttrCase<"LT", 5>
]>;
def Chlo_ComparisonType : Chlo_Enum<"ComparisonType", "how elements are ordered", [
  I32EnumAttrCase<"NOTYPE", 0>, I32EnumAttrCase<"FLOAT", 1>, I32EnumAttrCase<"TOTALORDER", 2>,
  I32EnumAttrCase<"SIGNED", 3>, I32EnumAttrCase<"UNSIGNED", 4>
]>;
def Chlo_Precision : Chlo_Enum<"Precision", "accuracy asked of a contraction", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGH", 1>, I32EnumAttrCase<"HIGHEST", 2>
]>;
def Chlo_ComparisonDirectionAttr : EnumAttr<Chlo_Dialect, Chlo_ComparisonDirection, "comparison_direction">;
def Chlo_ComparisonTypeAttr : EnumAttr<Chlo_Dialect, Chlo_ComparisonType, "comparison_type">;
def Chlo_PrecisionAttr : EnumAttr<Chlo_Dialect, Chlo_Precision, "precision">;

def Chlo_RaggedDotDimensionNumbersAttr : AttrDef<Chlo_Dialect, "RaggedDotDimensionNumbers"> {
  let mnemonic = "ragged_dot";
  let summary = "which dimensions a ragged_dot batches, contracts and splits into groups";
  let parameters = (ins ArrayRefParameter<"int64_t">:$lhsBatchingDimensions,
                        ArrayRefParameter<"int64_t">:$rhsBatchingDimensions,
                        ArrayRefParameter<"int64_t">:$lhsContractingDimensions,
                        ArrayRefParameter<"int64_t">:$rhsContractingDimensions,
                        ArrayRefParameter<"int64_t">:$lhsRaggedDimensions,
                        ArrayRefParameter<"int64_t">:$rhsGroupDimensions);
  let hasCustomAssemblyFormat = 1;
}

def Chlo_RaggedDotOp : Op<Chlo_Dialect, "ragged_dot", [Pure]> {
  let summary = "products of the groups of one dimension, each with its own matrix";
  let description = [{
    The ragged dimension of lhs consists of groups of the given sizes. With g
    groups, batches b and contracted k: if it is a free dimension m, rhs has a
    matrix per group, `[b,m,k], [g,b,k,n] -> [b,m,n]`; if it is contracted, the
    result has one, `[b,m,k], [b,k,n] -> [g,b,m,n]`; if it is a batch, it is as if
    there were no groups.

    Example:
    ```mlir
    %3 = "chlo.ragged_dot"(%0, %1, %2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<
        lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0],
        rhs_group_dimensions = [0]>}> : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
    ```

    **Constraints:**
    - (C1) lhs has one ragged dimension
    - (C2) rhs has one group dimension if the ragged dimension is free, else none
    - (C3) batched and contracted dimensions go in pairs of one size, and no dimension occurs twice
    - (C4) the group sizes have the batches that precede the ragged dimension, and one size per group
    - (C5) the result has the shape above
  }];
  let arguments = (ins Stablehlo_Tensor:$lhs, Stablehlo_Tensor:$rhs, Stablehlo_IntTensor:$group_sizes,
                       Chlo_RaggedDotDimensionNumbersAttr:$ragged_dot_dimension_numbers,
                       OptionalAttr<TypedArrayAttrBase<Chlo_PrecisionAttr, "one precision per operand">>:$precision_config);
  let results = (outs Stablehlo_Tensor:$result);
  let hasVerifier = 1;
}

def Chlo_TopKOp : Op<Chlo_Dialect, "top_k", [Pure]> {
  let summary = "the largest elements of the last dimension, and where they are";
  let description = [{
    Equal elements come in the order of their indices; with `is_stable = false`
    in any order.

    Example:
    ```mlir
    %values, %indices = chlo.top_k(%0, k = 8) : tensor<16x16xf32> -> (tensor<16x8xf32>, tensor<16x8xi32>)
    ```

    **Constraints:**
    - (C1) the operand has a last dimension, of at least `k` elements
    - (C2) `k` is not negative
    - (C3) both results have the operand's shape but for `k` elements in the last dimension
    - (C4) the values have the operand's element type, the indices are i32
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, I64Attr:$k, DefaultValuedOptionalAttr<BoolAttr, "true">:$is_stable);
  let results = (outs Stablehlo_Tensor:$values, Stablehlo_Tensor:$indices);
  let assemblyFormat = [{
    `(` $operand `,` `k` `=` $k (`,` `is_stable` `=` $is_stable^)? `)` attr-dict `:` type($operand) `->`
    `(` type($values) `,` type($indices) `)`
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

def Chlo_ConstantOp : Op<Chlo_Dialect, "constant", [Pure, ConstantLike, AllTypesMatch<["value", "output"]>]> {
  let summary = "a constant tensor";
  let description = [{
    Example:
    ```mlir
    %0 = chlo.constant dense<[1, 2]> : tensor<2xi32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Stablehlo_Tensor:$output);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Chlo_ConstantLikeOp : Op<Chlo_Dialect, "constant_like", [Pure, SameOperandsAndResultShape]> {
  let summary = "one value in the shape of a tensor";
  let description = [{
    Example:
    ```mlir
    %1 = "chlo.constant_like"(%0) <{value = 3.2 : f32}> : (tensor<1x?xi64>) -> tensor<1x?xf32>
    ```

    **Constraints:**
    - (C1) the result's element type is that of the value
  }];
  let arguments = (ins TypedAttrInterface:$value, AnyTensor:$operand);
  let results = (outs AnyTensor:$result);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Operands of several shapes
//===----------------------------------------------------------------------===//

// Ops that broadcast as in NumPy: dimensions are matched from the last, and one of size 1 is
// repeated. Alternatively, `broadcast_dimensions` maps the dimensions of the smaller operand to
// those of the larger one.
class Chlo_BroadcastOp<string mnemonic, string text, list<Trait> traits = []>
    : Op<Chlo_Dialect, "broadcast_" # mnemonic, [Pure] # traits> {
  let summary = text # ", of operands that are broadcast";
  let description = [{
    Example:
    ```mlir
    %2 = chlo.broadcast_}] # mnemonic # [{ %0, %1 {broadcast_dimensions = array<i64: 1>}
        : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    **Constraints:**
    - (C1) `broadcast_dimensions` has one entry per dimension of the operand of lower rank, strictly increasing,
           each a dimension of the other operand
  }];
  let arguments = (ins AnyTensor:$lhs, AnyTensor:$rhs, OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Chlo_BroadcastAddOp : Chlo_BroadcastOp<"add", "sum">;
def Chlo_BroadcastAndOp : Chlo_BroadcastOp<"and", "bitwise or logical and">;
def Chlo_BroadcastAtan2Op : Chlo_BroadcastOp<"atan2", "angle of the point (rhs, lhs)">;
def Chlo_BroadcastComplexOp : Chlo_BroadcastOp<"complex", "complex number of real and imaginary part">;
def Chlo_BroadcastDivOp : Chlo_BroadcastOp<"divide", "quotient">;
def Chlo_BroadcastMaxOp : Chlo_BroadcastOp<"maximum", "larger element">;
def Chlo_BroadcastMinOp : Chlo_BroadcastOp<"minimum", "smaller element">;
def Chlo_BroadcastMulOp : Chlo_BroadcastOp<"multiply", "product">;
def Chlo_BroadcastNextAfterOp : Chlo_BroadcastOp<"next_after", "the representable number after lhs towards rhs">;
def Chlo_BroadcastOrOp : Chlo_BroadcastOp<"or", "bitwise or logical or">;
def Chlo_BroadcastPolygammaOp : Chlo_BroadcastOp<"polygamma", "derivative of order lhs of digamma">;
def Chlo_BroadcastPowOp : Chlo_BroadcastOp<"power", "lhs to the power of rhs">;
def Chlo_BroadcastRemOp : Chlo_BroadcastOp<"remainder", "remainder">;
def Chlo_BroadcastShiftLeftOp : Chlo_BroadcastOp<"shift_left", "left shift">;
def Chlo_BroadcastShiftRightArithmeticOp
    : Chlo_BroadcastOp<"shift_right_arithmetic", "right shift that keeps the sign">;
def Chlo_BroadcastShiftRightLogicalOp
    : Chlo_BroadcastOp<"shift_right_logical", "right shift that fills with zeros">;
def Chlo_BroadcastSubOp : Chlo_BroadcastOp<"subtract", "difference">;
def Chlo_BroadcastXorOp : Chlo_BroadcastOp<"xor", "bitwise or logical exclusive or">;
def Chlo_BroadcastZetaOp : Chlo_BroadcastOp<"zeta", "Hurwitz zeta function">;

def Chlo_BroadcastCompareOp : Chlo_BroadcastOp<"compare", "comparison"> {
  let arguments = (ins AnyTensor:$lhs, AnyTensor:$rhs, OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions,
                       Chlo_ComparisonDirectionAttr:$comparison_direction,
                       OptionalAttr<Chlo_ComparisonTypeAttr>:$compare_type);
}

def Chlo_BroadcastSelectOp : Op<Chlo_Dialect, "broadcast_select", [Pure]> {
  let summary = "on_true where pred holds, else on_false, of operands that are broadcast";
  let description = [{
    Example:
    ```mlir
    %3 = chlo.broadcast_select %0, %1, %2 : (tensor<i1>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    **Constraints:**
    - (C1) on_true and on_false have one element type
  }];
  let arguments = (ins TensorOf<[I1]>:$pred, AnyTensor:$on_true, AnyTensor:$on_false);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

def Chlo_ScanOp : Op<Chlo_Dialect, "scan", [AttrSizedOperandSegments, AttrSizedResultSegments, IsolatedFromAbove,
    RecursiveMemoryEffects, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "carries values along a dimension";
  let description = [{
    The body takes one slice of each input along `dimension` and the carried
    values, and returns one slice of each output and the next carried values.

    Example:
    ```mlir
    %outputs, %carries = chlo.scan(%0) inits (%1) dimension=0 {
    ^bb0(%input: tensor<3xf32>, %carry: tensor<3xf32>):
      %2 = stablehlo.add %input, %carry : tensor<3xf32>
      stablehlo.return %2, %2 : tensor<3xf32>, tensor<3xf32>
    } : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
    ```

    **Constraints:**
    - (C1) `dimension` is one of every input and output, of one size in all of them, `scan_dim_size` if that is given
    - (C2) the body takes the inputs without that dimension, and the initial values
    - (C3) it returns the outputs without that dimension, and the carried values
    - (C4) initial and final carried values have the same types
  }];
  let arguments = (ins Variadic<Stablehlo_Tensor>:$inputs, Variadic<Stablehlo_Tensor>:$inits, I64Attr:$dimension,
                       OptionalAttr<I64Attr>:$scan_dim_size, DefaultValuedOptionalAttr<BoolAttr, "false">:$is_reverse,
                       OptionalAttr<BoolAttr>:$is_associative);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<Stablehlo_Tensor>:$outputs, Variadic<Stablehlo_Tensor>:$carries);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif // CGX_DIALECT_STABLEHLO_CHLOOPS_TD
