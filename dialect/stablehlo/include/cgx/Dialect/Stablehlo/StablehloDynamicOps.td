//===-- StablehloDynamicOps.td - shapes that the program computes -*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_DIALECT_STABLEHLO_STABLEHLODYNAMICOPS_TD
#define CGX_DIALECT_STABLEHLO_STABLEHLODYNAMICOPS_TD

include "cgx/Dialect/Stablehlo/StablehloAttrs.td"
include "cgx/Dialect/Stablehlo/StablehloTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// Ops that have operands for the attributes of their namesakes without `dynamic_`. A training step has
// fixed shapes; programs exported with symbolic shapes, or for inference, have these. They may fail where the
// shapes turn out not to fit, so they are not speculatable.
class Stablehlo_DynamicOp<string mnemonic, list<Trait> traits = []>
    : Stablehlo_Op<mnemonic, [NoMemoryEffect] # traits>;

def Stablehlo_GetDimensionSizeOp : Stablehlo_Op<"get_dimension_size", [Pure]> {
  let summary = "the size of a dimension";
  let description = [{
    Example:
    ```mlir
    %1 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<4x?xf32>) -> tensor<i32>
    ```

    **Constraints:**
    - (C1) `dimension` is one of the operand
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, I64Attr:$dimension);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "$operand `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Stablehlo_SetDimensionSizeOp : Stablehlo_DynamicOp<"set_dimension_size"> {
  let summary = "a tensor of which only the first elements along a dimension count";
  let description = [{
    The result's type says by a bound how many there may be.

    Example:
    ```mlir
    %2 = stablehlo.set_dimension_size %0, %1, dim = 0
        : (tensor<4x2xf32>, tensor<i32>) -> tensor<?x2xf32, #stablehlo.bounds<4, ?>>
    ```

    **Constraints:**
    - (C1) `dimension` is one of the operand
    - (C2) `size` is an integer of rank 0
    - (C3) the result has the operand's type but for that dimension
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_IntTensor:$size, I64Attr:$dimension);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $size `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_DynamicIotaOp : Stablehlo_DynamicOp<"dynamic_iota"> {
  let summary = "counts along one dimension of a tensor of computed shape";
  let description = [{
    Example:
    ```mlir
    %1 = stablehlo.dynamic_iota %0, dim = 0 : (tensor<2xi64>) -> tensor<?x4xi32>
    ```

    **Constraints:**
    - (C1) `iota_dimension` is one of the result
    - (C2) `output_shape` has one entry per dimension of the result
  }];
  let arguments = (ins Stablehlo_DimensionTensor:$output_shape, I64Attr:$iota_dimension);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $output_shape `,` `dim` `=` $iota_dimension attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_DynamicReshapeOp : Stablehlo_DynamicOp<"dynamic_reshape"> {
  let summary = "the same elements in a computed shape";
  let description = [{
    Example:
    ```mlir
    %2 = stablehlo.dynamic_reshape %0, %1 : (tensor<?x4xf32>, tensor<1xi32>) -> tensor<?xf32>
    ```

    **Constraints:**
    - (C1) operand and result have one element type
    - (C2) they have as many elements, where that is known
    - (C3) `output_shape` has one entry per dimension of the result
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_DimensionTensor:$output_shape);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Stablehlo_DynamicBroadcastInDimOp : Stablehlo_DynamicOp<"dynamic_broadcast_in_dim"> {
  let summary = "repeats a tensor to a computed shape";
  let description = [{
    `known_expanding_dimensions` and `known_nonexpanding_dimensions` say of
    which dimensions of the operand it is known that they have, or have not,
    size 1.

    Example:
    ```mlir
    %2 = stablehlo.dynamic_broadcast_in_dim %0, %1, dims = [1] : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
    ```

    **Constraints:**
    - (C1) operand and result have one element type
    - (C2) `broadcast_dimensions` has one entry per dimension of the operand, each another dimension of the result
    - (C3) a dimension of the operand that is known has size 1 or that of its dimension of the result
    - (C4) `output_dimensions` has one entry per dimension of the result
    - (C5) no dimension of the operand is known both to expand and not to
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_DimensionTensor:$output_dimensions,
                       DenseI64ArrayAttr:$broadcast_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$known_expanding_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$known_nonexpanding_dimensions);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $output_dimensions `,` `dims` `=` $broadcast_dimensions attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_DynamicPadOp : Stablehlo_DynamicOp<"dynamic_pad"> {
  let summary = "adds computed numbers of elements at the edges and between elements";
  let description = [{
    Example:
    ```mlir
    %5 = stablehlo.dynamic_pad %0, %1, %2, %3, %4
        : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
    ```

    **Constraints:**
    - (C1) operand, padding value and result have one element type
    - (C2) each of the three amounts has one entry per dimension of the operand
    - (C3) interior padding is not negative
    - (C4) the result has the shape that follows from constant amounts
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_Tensor:$padding_value,
                       Stablehlo_DimensionTensor:$edge_padding_low, Stablehlo_DimensionTensor:$edge_padding_high,
                       Stablehlo_DimensionTensor:$interior_padding);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Stablehlo_RealDynamicSliceOp : Stablehlo_DynamicOp<"real_dynamic_slice"> {
  let summary = "a strided part of a tensor, at computed indices";
  let description = [{
    Unlike `dynamic_slice` also the size is computed. Indices are not clamped.

    Example:
    ```mlir
    %4 = stablehlo.real_dynamic_slice %0, %1, %2, %3
        : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
    ```

    **Constraints:**
    - (C1) operand and result have one element type and one rank
    - (C2) starts, limits and strides have one type, with one entry per dimension
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_DimensionTensor:$start_indices,
                       Stablehlo_DimensionTensor:$limit_indices, Stablehlo_DimensionTensor:$strides);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Stablehlo_DynamicGatherOp : Stablehlo_DynamicOp<"dynamic_gather"> {
  let summary = "slices of computed size, at computed indices";
  let description = [{
    Example:
    ```mlir
    %3 = "stablehlo.dynamic_gather"(%0, %1, %2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
        collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}>
        : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<3x?xf32>
    ```

    **Constraints:** those of `gather`, with one entry of `slice_sizes` per dimension of the operand.
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_IntTensor:$start_indices,
                       Stablehlo_IntTensor:$slice_sizes, Stablehlo_GatherDimensionNumbersAttr:$dimension_numbers,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs Stablehlo_Tensor:$result);
  let hasVerifier = 1;
}

def Stablehlo_DynamicConvOp : Stablehlo_DynamicOp<"dynamic_conv"> {
  let summary = "sums of products over windows, with computed padding";
  let description = [{
    Example:
    ```mlir
    %3 = "stablehlo.dynamic_conv"(%0, %1, %2) <{batch_group_count = 1 : i64,
        dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64}>
        : (tensor<1x8x3xf32>, tensor<3x3x4xf32>, tensor<1x2xi32>) -> tensor<1x?x4xf32>
    ```

    **Constraints:** those of `convolution`, with a row of `padding` per spatial dimension.
  }];
  let arguments = (ins Stablehlo_Tensor:$lhs, Stablehlo_Tensor:$rhs, Stablehlo_IntTensor:$padding,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation, OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
                       OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
                       Stablehlo_ConvDimensionNumbersAttr:$dimension_numbers, I64Attr:$feature_group_count,
                       I64Attr:$batch_group_count, OptionalAttr<Stablehlo_PrecisionConfig>:$precision_config);
  let results = (outs Stablehlo_Tensor:$result);
  let hasVerifier = 1;
}

#endif // CGX_DIALECT_STABLEHLO_STABLEHLODYNAMICOPS_TD
