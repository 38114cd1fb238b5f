//===-- StablehloContractionOps.td - dot_general and convolution -*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_DIALECT_STABLEHLO_STABLEHLOCONTRACTIONOPS_TD
#define CGX_DIALECT_STABLEHLO_STABLEHLOCONTRACTIONOPS_TD

include "cgx/Dialect/Stablehlo/StablehloAttrs.td"
include "cgx/Dialect/Stablehlo/StablehloTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Stablehlo_DotGeneralOp : Stablehlo_Op<"dot_general", [Pure]> {
  let summary = "sums of products over contracted dimensions, for each batch";
  let description = [{
    Example:
    ```mlir
    %2 = stablehlo.dot_general %0, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1],
        precision = [DEFAULT, HIGHEST] : (tensor<2x4x8xf32>, tensor<2x8x3xf32>) -> tensor<2x4x3xf32>
    ```

    **Constraints:**
    - (C1) to (C10): dimensions go in pairs of one size, each once
    - (C11) there is at most one precision per operand
    - (C12) the result has the batches, and the other dimensions of lhs and of rhs
    - (C14) to (C20): a quantized rhs may go with a lhs and a result that are quantized, or both not; its zero points are
      0, contracted dimensions have no scales of their own, and all express one type
    - (C21) with an algorithm, the precision is DEFAULT
    - (C22) to (C24): counts of an algorithm are positive, and some device has it
  }];
  let arguments = (ins Stablehlo_Tensor:$lhs, Stablehlo_Tensor:$rhs,
                       Stablehlo_DotDimensionNumbersAttr:$dot_dimension_numbers,
                       OptionalAttr<Stablehlo_PrecisionConfig>:$precision_config,
                       OptionalAttr<Stablehlo_DotAlgorithmAttr>:$algorithm);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` custom<DotDimensionNumbers>($dot_dimension_numbers)
    `` custom<PrecisionAndAlgorithm>($precision_config, $algorithm)
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_ConvolutionOp : Stablehlo_Op<"convolution", [Pure]> {
  let summary = "sums of products over windows";
  let description = [{
    Example:
    ```mlir
    %2 = stablehlo.convolution(%0, %1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x8x3xf32>, tensor<3x3x4xf32>) -> tensor<1x6x4xf32>
    ```

    **Constraints:**
    - (C1) both operands have one rank of at least 2
    - (C2) to (C9): the window has an entry per spatial dimension, in range
    - (C10) to (C16), (C21) to (C23): groups divide batches and features
    - (C12) to (C20): layouts name each dimension once
    - (C24) there is at most one precision per operand
    - (C25) to (C26): the result has the shape that follows
    - (C27) both operands have, or express, one element type
    - (C28) to (C34): as dot_general constrains quantized operands; only output features have scales of their own
  }];
  let arguments = (ins Stablehlo_Tensor:$lhs, Stablehlo_Tensor:$rhs,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides, OptionalAttr<I64ElementsAttr>:$padding,
                       OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation, OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
                       OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
                       Stablehlo_ConvDimensionNumbersAttr:$dimension_numbers, I64Attr:$feature_group_count,
                       I64Attr:$batch_group_count, OptionalAttr<Stablehlo_PrecisionConfig>:$precision_config);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    `(` operands `)` `dim_numbers` `=` custom<ConvDimensionNumbers>($dimension_numbers) `,` `window` `=` `{`
    custom<ConvWindow>($window_strides, $padding, $lhs_dilation, $rhs_dilation, $window_reversal) `}`
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_DotOp : Stablehlo_Op<"dot", [Pure]> {
  let summary = "the product of vectors or matrices: the last dimension of lhs with the first of rhs";
  let description = [{
    The older form of `dot_general`, without batches.

    Example:
    ```mlir
    %2 = stablehlo.dot %0, %1, precision = [DEFAULT, HIGHEST] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    ```

    **Constraints:**
    - (C1) both operands have rank 1 or 2
    - (C2) the last dimension of lhs and the first of rhs have one size
    - (C3) the result has the other dimensions
  }];
  let arguments = (ins Stablehlo_Tensor:$lhs, Stablehlo_Tensor:$rhs,
                       OptionalAttr<Stablehlo_PrecisionConfig>:$precision_config);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`,` `precision` `=` custom<PrecisionConfig>($precision_config)^)?
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_EinsumOp : Stablehlo_Op<"einsum", [Pure]> {
  let summary = "sums of products over named dimensions";
  let description = [{
    `einsum_config` names the dimensions of both operands and of the result, as
    `numpy.einsum` does. Frontends of today write `dot_general`.

    Example:
    ```mlir
    %2 = stablehlo.einsum %0, %1, config = "ab,bc->ac" : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    ```
  }];
  let arguments = (ins Stablehlo_Tensor:$lhs, Stablehlo_Tensor:$rhs, StrAttr:$einsum_config);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)
  }];
}

def Stablehlo_UnaryEinsumOp : Stablehlo_Op<"unary_einsum", [Pure]> {
  let summary = "transposes, sums and takes diagonals over named dimensions";
  let description = [{
    Example:
    ```mlir
    %1 = stablehlo.unary_einsum %0, config = "ab->a" : (tensor<4x8xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, StrAttr:$einsum_config);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "$operand `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)";
}

#endif // CGX_DIALECT_STABLEHLO_STABLEHLOCONTRACTIONOPS_TD
