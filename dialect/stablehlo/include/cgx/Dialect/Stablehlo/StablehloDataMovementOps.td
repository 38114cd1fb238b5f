//===-- StablehloDataMovementOps.td - constants and ops that move elements -*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_DIALECT_STABLEHLO_STABLEHLODATAMOVEMENTOPS_TD
#define CGX_DIALECT_STABLEHLO_STABLEHLODATAMOVEMENTOPS_TD

include "cgx/Dialect/Stablehlo/StablehloAttrs.td"
include "cgx/Dialect/Stablehlo/StablehloTypes.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Stablehlo_ConstantOp : Stablehlo_Op<"constant", [Pure, ConstantLike]> {
  let summary = "a constant tensor";
  let description = [{
    Quantized numbers are written as their stored integers.

    Example:
    ```mlir
    %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %1 = stablehlo.constant() <{value = dense<[1, 2]> : tensor<2xi8>}> : () -> tensor<2x!quant.uniform<i8:f32, 2.0:15>>
    ```

    **Constraints:**
    - (C1) the result has the type of the value, or is quantized and stores it
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Stablehlo_Tensor:$output);
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value), [{
    build($_builder, $_state, value.getShapedType(), value);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Stablehlo_IotaOp : Stablehlo_Op<"iota", [Pure]> {
  let summary = "counts along one dimension";
  let description = [{
    Example:
    ```mlir
    %0 = stablehlo.iota dim = 1 : tensor<4x8xi32>
    ```
  }];
  let arguments = (ins I64Attr:$iota_dimension);
  let results = (outs Stablehlo_Tensor:$output);
  let assemblyFormat = "`dim` `=` $iota_dimension attr-dict `:` type($output)";
  let hasVerifier = 1;
}

def Stablehlo_BroadcastOp : Stablehlo_Op<"broadcast", [Pure]> {
  let summary = "adds leading dimensions";
  let description = [{
    Example:
    ```mlir
    %1 = stablehlo.broadcast %0, sizes = [2] : (tensor<4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, DenseI64ArrayAttr:$broadcast_sizes);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `sizes` `=` $broadcast_sizes attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_BroadcastInDimOp : Stablehlo_Op<"broadcast_in_dim", [Pure]> {
  let summary = "repeats a tensor along the dimensions that it lacks or has once";
  let description = [{
    Example:
    ```mlir
    %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
    ```

    **Constraints:**
    - (C1) operand and result have one element type
    - (C2) to (C4): `broadcast_dimensions` names a dimension of the result for each of the operand
    - (C5) which have one size, or the operand has 1
    - (C6) scales along a dimension move with it
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, DenseI64ArrayAttr:$broadcast_dimensions);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $broadcast_dimensions attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_TransposeOp : Stablehlo_Op<"transpose", [Pure]> {
  let summary = "permutes the dimensions";
  let description = [{
    Example:
    ```mlir
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    ```

    **Constraints:**
    - (C1) operand and result have one element type
    - (C2) `permutation` has each dimension once
    - (C3) the result has the shape that follows
    - (C4) scales along a dimension move with it
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "$operand `,` `dims` `=` $permutation attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Stablehlo_ReverseOp : Stablehlo_Op<"reverse", [Pure, SameOperandsAndResultType]> {
  let summary = "reverses the order along dimensions";
  let description = [{
    Example:
    ```mlir
    %1 = stablehlo.reverse %0, dims = [0] : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "$operand `,` `dims` `=` $dimensions attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Stablehlo_ReshapeOp : Stablehlo_Op<"reshape", [Pure]> {
  let summary = "the same elements in another shape";
  let description = [{
    Example:
    ```mlir
    %1 = stablehlo.reshape %0 : (tensor<4x8xf32>) -> tensor<32xf32>
    ```

    **Constraints:**
    - (C1) operand and result have one element type
    - (C2) and as many elements
    - (C3) elements keep their scales
  }];
  let arguments = (ins Stablehlo_Tensor:$operand);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Stablehlo_BitcastConvertOp : Stablehlo_Op<"bitcast_convert", [Pure]> {
  let summary = "the same bits as another element type";
  let description = [{
    Example:
    ```mlir
    %1 = stablehlo.bitcast_convert %0 : (tensor<4xf32>) -> tensor<4x2xui16>
    ```

    **Constraints:**
    - (C1) the side of smaller elements has a last dimension that makes up for it
    - (C2) real and complex numbers are not converted into each other
  }];
  let arguments = (ins Stablehlo_Tensor:$operand);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Stablehlo_SliceOp : Stablehlo_Op<"slice", [Pure]> {
  let summary = "a strided part of a tensor, at fixed indices";
  let description = [{
    Example:
    ```mlir
    %1 = stablehlo.slice %0 [0:2, 1:8:2] : (tensor<4x8xf32>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, DenseI64ArrayAttr:$start_indices,
                       DenseI64ArrayAttr:$limit_indices, DenseI64ArrayAttr:$strides);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand custom<SliceRanges>($start_indices, $limit_indices, $strides) attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_DynamicSliceOp : Stablehlo_Op<"dynamic_slice", [Pure]> {
  let summary = "a part of a tensor, at computed indices that are clamped to fit";
  let description = [{
    Example:
    ```mlir
    %3 = stablehlo.dynamic_slice %0, %1, %2, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    ```

    **Constraints:**
    - (C3) indices are integers of rank 0 and one type
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, Variadic<Stablehlo_IntTensor>:$start_indices,
                       DenseI64ArrayAttr:$slice_sizes);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` custom<VariadicOperands>($start_indices) `sizes` `=` $slice_sizes attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_DynamicUpdateSliceOp : Stablehlo_Op<"dynamic_update_slice", [Pure]> {
  let summary = "replaces a part of a tensor, at computed indices that are clamped to fit";
  let description = [{
    Example:
    ```mlir
    %4 = stablehlo.dynamic_update_slice %0, %1, %2, %3
        : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
    ```

    **Constraints:**
    - (C5) indices are integers of rank 0 and one type
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_Tensor:$update,
                       Variadic<Stablehlo_IntTensor>:$start_indices);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Stablehlo_ConcatenateOp : Stablehlo_Op<"concatenate", [Pure]> {
  let summary = "puts tensors one behind the other along a dimension";
  let description = [{
    Example:
    ```mlir
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32>
    ```
  }];
  let arguments = (ins Variadic<Stablehlo_Tensor>:$inputs, I64Attr:$dimension);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    custom<VariadicOperands>($inputs) `dim` `=` $dimension attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_PadOp : Stablehlo_Op<"pad", [Pure]> {
  let summary = "adds elements at the edges and between elements; negative amounts remove";
  let description = [{
    Example:
    ```mlir
    %2 = stablehlo.pad %0, %1, low = [1], high = [0], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
    ```

    **Constraints:**
    - (C1) operand, padding value and result have one element type
    - (C2) each of the three amounts has one entry per dimension
    - (C3) interior padding is not negative
    - (C4) the result has the shape that follows
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_Tensor:$padding_value,
                       DenseI64ArrayAttr:$edge_padding_low, DenseI64ArrayAttr:$edge_padding_high,
                       DenseI64ArrayAttr:$interior_padding);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $padding_value `,` `low` `=` $edge_padding_low `,` `high` `=` $edge_padding_high `,`
    `interior` `=` $interior_padding attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_GatherOp : Stablehlo_Op<"gather", [Pure]> {
  let summary = "slices of a tensor at computed indices";
  let description = [{
    Example:
    ```mlir
    %2 = "stablehlo.gather"(%0, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
        collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}>
        : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
    ```

    **Constraints:**
    - (C1) to (C20): dimension numbers are in range, sorted, and once each
    - (C9) and (C12): slices have size 1 in dimensions that the result lacks
    - (C21) slices fit the operand
    - (C22) the result has the batches of the indices and the windows of the operand
    - (C23) and its element type
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_IntTensor:$start_indices,
                       Stablehlo_GatherDimensionNumbersAttr:$dimension_numbers, DenseI64ArrayAttr:$slice_sizes,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs Stablehlo_Tensor:$result);
  let hasVerifier = 1;
}

def Stablehlo_ScatterOp : Stablehlo_Op<"scatter", [RecursiveMemoryEffects, SameVariadicOperandSize]> {
  let summary = "combines updates into a tensor at computed indices";
  let description = [{
    Example:
    ```mlir
    %3 = "stablehlo.scatter"(%0, %1, %2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>
    ```

    **Constraints:**
    - (C1) to (C3): operands have one shape, and updates
    - (C4) updates have the batches of the indices, and windows that fit
    - (C7) to (C22): dimension numbers are in range, sorted, and once each
    - (C23) the computation combines two elements
    - (C24) and (C25): results have the shapes of the operands
  }];
  let arguments = (ins Variadic<Stablehlo_Tensor>:$inputs, Stablehlo_IntTensor:$scatter_indices,
                       Variadic<Stablehlo_Tensor>:$updates,
                       Stablehlo_ScatterDimensionNumbersAttr:$scatter_dimension_numbers,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$unique_indices);
  let regions = (region SizedRegion<1>:$update_computation);
  let results = (outs Variadic<Stablehlo_Tensor>);
  let hasVerifier = 1;
}

def Stablehlo_TorchIndexSelectOp : Stablehlo_Op<"torch_index_select", [Pure]> {
  let summary = "slices of one dimension, at computed indices";
  let description = [{
    The first `batch_dims` dimensions of operand and index go together; `dim` of
    the operand is replaced by the other dimensions of the index. Frontends of
    today write `gather`.

    Example:
    ```mlir
    %2 = "stablehlo.torch_index_select"(%0, %1) <{batch_dims = 0 : i64, dim = 0 : i64}>
        : (tensor<8x4xf32>, tensor<3xi32>) -> tensor<3x4xf32>
    ```

    **Constraints:**
    - (C1) `dim` is a dimension of the operand, `batch_dims` at most that and at most the rank of the index
    - (C2) operand and result have one element type
    - (C3) the result has the dimensions of the operand before `dim`, those of the index after `batch_dims`,
           and those of the operand after `dim`
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_Tensor:$index, I64Attr:$dim, I64Attr:$batch_dims);
  let results = (outs Stablehlo_Tensor:$result);
  let hasVerifier = 1;
}

def Stablehlo_TupleOp : Stablehlo_Op<"tuple", [Pure]> {
  let summary = "several values as one";
  let description = [{
    Example:
    ```mlir
    %2 = stablehlo.tuple %0, %1 : tuple<tensor<4xf32>, tensor<i32>>
    ```

    **Constraints:**
    - (C1) the result's types are those of the operands
  }];
  let arguments = (ins Variadic<Stablehlo_Value>:$val);
  let results = (outs Stablehlo_Tuple:$result);
  let assemblyFormat = "$val attr-dict `:` custom<TupleType>(type($val), type($result))";
  let hasVerifier = 1;
}

def Stablehlo_GetTupleElementOp : Stablehlo_Op<"get_tuple_element", [Pure]> {
  let summary = "one value of a tuple";
  let description = [{
    Example:
    ```mlir
    %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<i32>
    ```

    **Constraints:**
    - (C1) `index` is one of the tuple
    - (C2) the result has the type of that element
  }];
  let arguments = (ins Stablehlo_Tuple:$operand, I32Attr:$index);
  let results = (outs Stablehlo_Value:$result);
  let assemblyFormat = "$operand `[` $index `]` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Stablehlo_OptimizationBarrierOp : Stablehlo_Op<"optimization_barrier", [Pure]> {
  let summary = "its operands, computed before anything that depends on it";
  let description = [{
    Example:
    ```mlir
    %2:2 = stablehlo.optimization_barrier %0, %1 : tensor<4xf32>, tensor<f32>
    ```
  }];
  let arguments = (ins Variadic<Stablehlo_TensorOrToken>:$operand);
  let results = (outs Variadic<Stablehlo_TensorOrToken>:$result);
  let assemblyFormat = "attr-dict ($operand^ `:` custom<PairwiseTypes>(type($operand), type($result)))?";
}

#endif // CGX_DIALECT_STABLEHLO_STABLEHLODATAMOVEMENTOPS_TD
