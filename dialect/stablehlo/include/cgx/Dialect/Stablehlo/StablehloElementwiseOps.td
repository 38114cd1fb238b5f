//===-- StablehloElementwiseOps.td - elementwise ops -*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_DIALECT_STABLEHLO_STABLEHLOELEMENTWISEOPS_TD
#define CGX_DIALECT_STABLEHLO_STABLEHLOELEMENTWISEOPS_TD

include "cgx/Dialect/Stablehlo/StablehloAttrs.td"
include "cgx/Dialect/Stablehlo/StablehloTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Stablehlo_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : Stablehlo_Op<mnemonic, [Pure, Elementwise, SameOperandsAndResultShape] # traits>;

// Replaces MLIR's trait SameOperandsAndResultElementType, whose message names no types.
def Stablehlo_OneElementType : NativeOpTrait<"OneElementType"> {
  let cppNamespace = "::cgx::stablehlo";
}

// The base class of ops with one operand.
class Stablehlo_UnaryOp<string mnemonic, string text, list<Trait> traits = [Stablehlo_OneElementType]>
    : Stablehlo_ElementwiseOp<mnemonic, traits> {
  let summary = text;
  let description = [{
    Example:
    ```mlir
    %1 = stablehlo.}] # mnemonic # [{ %0 : tensor<4xf32>
    ```
  }];
  let arguments = (ins Stablehlo_Tensor:$operand);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

// The base class of ops with one operand that may be complex, and a real result.
class Stablehlo_RealPartOp<string mnemonic, string text> : Stablehlo_UnaryOp<mnemonic, text, []> {
  let hasVerifier = 1;
}

// A unary op with an accuracy that a frontend may ask for.
class Stablehlo_FunctionOp<string mnemonic, string text> : Stablehlo_UnaryOp<mnemonic, text> {
  let arguments = (ins Stablehlo_Tensor:$operand, OptionalAttr<Stablehlo_ResultAccuracyAttr>:$result_accuracy);
}

class Stablehlo_BinaryOp<string mnemonic, string text, list<Trait> traits = []>
    : Stablehlo_ElementwiseOp<mnemonic, [Stablehlo_OneElementType] # traits> {
  let summary = text;
  let description = [{
    Example:
    ```mlir
    %2 = stablehlo.}] # mnemonic # [{ %0, %1 : tensor<4xf32>
    ```
  }];
  let arguments = (ins Stablehlo_Tensor:$lhs, Stablehlo_Tensor:$rhs);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` custom<SameOperandsAndResultType>(type($lhs), type($rhs), type($result))
  }];
}

class Stablehlo_FloatUnaryOp<string mnemonic, string text> : Stablehlo_UnaryOp<mnemonic, text> {
  let arguments = (ins Stablehlo_FloatTensor:$operand);
  let results = (outs Stablehlo_FloatTensor:$result);
}

class Stablehlo_LogicalOp<string mnemonic, string text> : Stablehlo_BinaryOp<mnemonic, text, [Commutative]> {
  let arguments = (ins Stablehlo_PredOrIntTensor:$lhs, Stablehlo_PredOrIntTensor:$rhs);
  let results = (outs Stablehlo_PredOrIntTensor:$result);
}

def Stablehlo_AbsOp : Stablehlo_RealPartOp<"abs", "absolute value; of a complex number its modulus">;
def Stablehlo_CbrtOp : Stablehlo_FunctionOp<"cbrt", "cubic root">;
def Stablehlo_CeilOp : Stablehlo_FloatUnaryOp<"ceil", "rounds up">;
def Stablehlo_CosineOp : Stablehlo_FunctionOp<"cosine", "cosine">;
def Stablehlo_CountLeadingZerosOp : Stablehlo_UnaryOp<"count_leading_zeros", "leading zero bits">;
def Stablehlo_ExpOp : Stablehlo_FunctionOp<"exponential", "e to the power of the element">;
def Stablehlo_Expm1Op : Stablehlo_FunctionOp<"exponential_minus_one", "exponential minus one, exact near zero">;
def Stablehlo_FloorOp : Stablehlo_FloatUnaryOp<"floor", "rounds down">;
def Stablehlo_ImagOp : Stablehlo_RealPartOp<"imag", "imaginary part">;
def Stablehlo_LogOp : Stablehlo_FunctionOp<"log", "natural logarithm">;
def Stablehlo_Log1pOp : Stablehlo_FunctionOp<"log_plus_one", "logarithm of one plus the element, exact near zero">;
def Stablehlo_LogisticOp : Stablehlo_FunctionOp<"logistic", "logistic function">;
def Stablehlo_NegOp : Stablehlo_UnaryOp<"negate", "negation">;
def Stablehlo_NotOp : Stablehlo_UnaryOp<"not", "bitwise or logical not">;
def Stablehlo_PopulationCountOp : Stablehlo_UnaryOp<"popcnt", "number of one bits">;
def Stablehlo_RealOp : Stablehlo_RealPartOp<"real", "real part">;
def Stablehlo_RoundOp : Stablehlo_FloatUnaryOp<"round_nearest_afz", "rounds to nearest, ties away from zero">;
def Stablehlo_RoundNearestEvenOp : Stablehlo_FloatUnaryOp<"round_nearest_even", "rounds to nearest, ties to even">;
def Stablehlo_RsqrtOp : Stablehlo_FunctionOp<"rsqrt", "one over the square root">;
def Stablehlo_SignOp : Stablehlo_UnaryOp<"sign", "sign: -1, 0 or 1">;
def Stablehlo_SineOp : Stablehlo_FunctionOp<"sine", "sine">;
def Stablehlo_SqrtOp : Stablehlo_FunctionOp<"sqrt", "square root">;
def Stablehlo_TanOp : Stablehlo_FunctionOp<"tan", "tangent">;
def Stablehlo_TanhOp : Stablehlo_FunctionOp<"tanh", "hyperbolic tangent">;

def Stablehlo_AddOp : Stablehlo_BinaryOp<"add", "sum; of booleans or", [Commutative]>;
def Stablehlo_AndOp : Stablehlo_LogicalOp<"and", "bitwise or logical and">;
def Stablehlo_Atan2Op : Stablehlo_BinaryOp<"atan2", "angle of the point (rhs, lhs)">;
def Stablehlo_DivOp : Stablehlo_BinaryOp<"divide", "quotient; of integers rounded towards zero">;
def Stablehlo_MaxOp : Stablehlo_BinaryOp<"maximum", "larger element; a NaN if one is", [Commutative]>;
def Stablehlo_MinOp : Stablehlo_BinaryOp<"minimum", "smaller element; a NaN if one is", [Commutative]>;
def Stablehlo_MulOp : Stablehlo_BinaryOp<"multiply", "product; of booleans and", [Commutative]>;
def Stablehlo_OrOp : Stablehlo_LogicalOp<"or", "bitwise or logical or">;
def Stablehlo_PowOp : Stablehlo_BinaryOp<"power", "lhs to the power of rhs">;
def Stablehlo_RemOp : Stablehlo_BinaryOp<"remainder", "remainder, with the sign of lhs">;
def Stablehlo_ShiftLeftOp : Stablehlo_BinaryOp<"shift_left", "left shift">;
def Stablehlo_ShiftRightArithmeticOp : Stablehlo_BinaryOp<"shift_right_arithmetic", "right shift that keeps the sign">;
def Stablehlo_ShiftRightLogicalOp : Stablehlo_BinaryOp<"shift_right_logical", "right shift that fills with zeros">;
def Stablehlo_SubtractOp : Stablehlo_BinaryOp<"subtract", "difference">;
def Stablehlo_XorOp : Stablehlo_LogicalOp<"xor", "bitwise or logical exclusive or">;

def Stablehlo_ComplexOp : Stablehlo_ElementwiseOp<"complex"> {
  let summary = "complex number of real and imaginary part";
  let description = [{
    Example:
    ```mlir
    %2 = stablehlo.complex %0, %1 : tensor<4xcomplex<f32>>
    ```

    **Constraints:**
    - (C1) both parts have the element type of the parts of the result
  }];
  let arguments = (ins Stablehlo_Tensor:$lhs, Stablehlo_Tensor:$rhs);
  let results = (outs Stablehlo_ComplexTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` custom<ComplexType>(type($lhs), type($rhs), type($result))
  }];
  let hasVerifier = 1;
}

def Stablehlo_ConvertOp : Stablehlo_ElementwiseOp<"convert"> {
  let summary = "changes the element type";
  let description = [{
    Example:
    ```mlir
    %1 = stablehlo.convert %0 : (tensor<4xi32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Stablehlo_Tensor:$operand);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def Stablehlo_IsFiniteOp : Stablehlo_ElementwiseOp<"is_finite"> {
  let summary = "neither infinite nor NaN";
  let description = [{
    Example:
    ```mlir
    %1 = stablehlo.is_finite %0 : (tensor<4xf32>) -> tensor<4xi1>
    ```
  }];
  let arguments = (ins Stablehlo_FloatTensor:$x);
  let results = (outs Stablehlo_PredTensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Stablehlo_ReducePrecisionOp : Stablehlo_ElementwiseOp<"reduce_precision", [SameOperandsAndResultType]> {
  let summary = "rounds to a float format of fewer bits and back";
  let description = [{
    Example:
    ```mlir
    %1 = stablehlo.reduce_precision %0, format = e8m7 : tensor<4xf32>
    ```

    **Constraints:**
    - (C2) there are 1 to 64 exponent bits
    - (C3) there are 0 to 64 mantissa bits
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, I32Attr:$exponent_bits, I32Attr:$mantissa_bits);
  let results = (outs Stablehlo_Tensor:$output);
  let assemblyFormat = [{
    $operand `,` `format` `=` custom<FloatFormat>($exponent_bits, $mantissa_bits) attr-dict `:` type($output)
  }];
  let hasVerifier = 1;
}

def Stablehlo_UniformQuantizeOp : Stablehlo_ElementwiseOp<"uniform_quantize"> {
  let summary = "real or quantized numbers to quantized ones";
  let description = [{
    Scale and zero point stand in the result's element type (`!quant.uniform`).

    Example:
    ```mlir
    %1 = stablehlo.uniform_quantize %0 : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.1:-30>>
    ```

    **Constraints:**
    - (C1) operand and result have one shape
    - (C2) the numbers that the result expresses are of the operand's element type, or of what that expresses
  }];
  let arguments = (ins Stablehlo_Tensor:$operand);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
  let hasVerifier = 1;
}

def Stablehlo_UniformDequantizeOp : Stablehlo_ElementwiseOp<"uniform_dequantize"> {
  let summary = "the numbers that quantized ones stand for";
  let description = [{
    The inverse of `uniform_quantize`, up to rounding.

    Example:
    ```mlir
    %1 = stablehlo.uniform_dequantize %0 : (tensor<2x!quant.uniform<i8:f32, 0.1:-30>>) -> tensor<2xf32>
    ```

    **Constraints:**
    - (C1) operand and result have one shape
    - (C2) the result's element type is what the operand's expresses
  }];
  let arguments = (ins Stablehlo_Tensor:$operand);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
  let hasVerifier = 1;
}

def Stablehlo_ClampOp : Stablehlo_Op<"clamp", [Pure]> {
  let summary = "limits elements to a range; bounds of rank 0 hold for all";
  let description = [{
    Example:
    ```mlir
    %3 = stablehlo.clamp %0, %1, %2 : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    ```

    **Constraints:**
    - (C1) and (C2): bounds have rank 0, or the shape of the operand
    - (C3) and (C4): all have one element type, and the result the shape of the operand
  }];
  let arguments = (ins Stablehlo_Tensor:$min, Stablehlo_Tensor:$operand, Stablehlo_Tensor:$max);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $min `,` $operand `,` $max attr-dict `:`
    custom<SameOperandsAndResultType>(type($min), type($operand), type($max), type($result))
  }];
  let hasVerifier = 1;
}

def Stablehlo_CompareOp : Stablehlo_ElementwiseOp<"compare"> {
  let summary = "compares element by element";
  let description = [{
    Example:
    ```mlir
    %2 = stablehlo.compare  LT, %0, %1,  FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    ```

    **Constraints:**
    - (C1) both operands have one element type
    - (C2) and one shape, which is that of the result
  }];
  let arguments = (ins Stablehlo_Tensor:$lhs, Stablehlo_Tensor:$rhs,
                       Stablehlo_ComparisonDirectionAttr:$comparison_direction,
                       OptionalAttr<Stablehlo_ComparisonTypeAttr>:$compare_type);
  let results = (outs Stablehlo_PredTensor:$result);
  let assemblyFormat = [{
    $comparison_direction `,` $lhs `,` $rhs (`,` $compare_type^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_SelectOp : Stablehlo_Op<"select", [Pure]> {
  let summary = "on_true where pred holds, else on_false; pred may have rank 0";
  let description = [{
    Example:
    ```mlir
    %3 = stablehlo.select %0, %1, %2 : tensor<4xi1>, tensor<4xf32>
    ```

    **Constraints:**
    - (C1) the predicate has rank 0 or the shape of the result
    - (C2) both choices have the type of the result
  }];
  let arguments = (ins Stablehlo_PredTensor:$pred, Stablehlo_Tensor:$on_true, Stablehlo_Tensor:$on_false);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    operands attr-dict `:` custom<SelectTypes>(type($pred), type($on_true), type($on_false), type($result))
  }];
  let hasVerifier = 1;
}

#endif // CGX_DIALECT_STABLEHLO_STABLEHLOELEMENTWISEOPS_TD
