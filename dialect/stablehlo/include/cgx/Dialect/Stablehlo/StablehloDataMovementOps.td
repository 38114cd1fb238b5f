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

def Stablehlo_ConstantOp : Stablehlo_Op<"constant", [Pure, ConstantLike, AllTypesMatch<["value", "output"]>]> {
  let summary = "a constant tensor";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Stablehlo_Tensor:$output);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Stablehlo_IotaOp : Stablehlo_Op<"iota", [Pure]> {
  let summary = "counts along one dimension";
  let arguments = (ins I64Attr:$iota_dimension);
  let results = (outs Stablehlo_Tensor:$output);
  let assemblyFormat = "`dim` `=` $iota_dimension attr-dict `:` type($output)";
  let hasVerifier = 1;
}

def Stablehlo_BroadcastOp : Stablehlo_Op<"broadcast", [Pure]> {
  let summary = "adds leading dimensions";
  let arguments = (ins Stablehlo_Tensor:$operand, DenseI64ArrayAttr:$broadcast_sizes);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `sizes` `=` $broadcast_sizes attr-dict `:` functional-type(operands, results)
  }];
}

def Stablehlo_BroadcastInDimOp : Stablehlo_Op<"broadcast_in_dim", [Pure]> {
  let summary = "repeats a tensor along the dimensions that it lacks or has once";
  let arguments = (ins Stablehlo_Tensor:$operand, DenseI64ArrayAttr:$broadcast_dimensions);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $broadcast_dimensions attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_TransposeOp : Stablehlo_Op<"transpose", [Pure]> {
  let summary = "permutes the dimensions";
  let arguments = (ins Stablehlo_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "$operand `,` `dims` `=` $permutation attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Stablehlo_ReverseOp : Stablehlo_Op<"reverse", [Pure, SameOperandsAndResultType]> {
  let summary = "reverses the order along dimensions";
  let arguments = (ins Stablehlo_Tensor:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "$operand `,` `dims` `=` $dimensions attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Stablehlo_ReshapeOp : Stablehlo_Op<"reshape", [Pure]> {
  let summary = "the same elements in another shape";
  let arguments = (ins Stablehlo_Tensor:$operand);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Stablehlo_BitcastConvertOp : Stablehlo_Op<"bitcast_convert", [Pure]> {
  let summary = "the same bits as another element type";
  let arguments = (ins Stablehlo_Tensor:$operand);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Stablehlo_SliceOp : Stablehlo_Op<"slice", [Pure]> {
  let summary = "a strided part of a tensor, at fixed indices";
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
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_Tensor:$update,
                       Variadic<Stablehlo_IntTensor>:$start_indices);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Stablehlo_ConcatenateOp : Stablehlo_Op<"concatenate", [Pure]> {
  let summary = "puts tensors one behind the other along a dimension";
  let arguments = (ins Variadic<Stablehlo_Tensor>:$inputs, I64Attr:$dimension);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    custom<VariadicOperands>($inputs) `dim` `=` $dimension attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_PadOp : Stablehlo_Op<"pad", [Pure]> {
  let summary = "adds elements at the edges and between elements; negative amounts remove";
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
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_IntTensor:$start_indices,
                       Stablehlo_GatherDimensionNumbersAttr:$dimension_numbers, DenseI64ArrayAttr:$slice_sizes,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs Stablehlo_Tensor:$result);
  let hasVerifier = 1;
}

def Stablehlo_ScatterOp : Stablehlo_Op<"scatter", [RecursiveMemoryEffects, SameVariadicOperandSize]> {
  let summary = "combines updates into a tensor at computed indices";
  let arguments = (ins Variadic<Stablehlo_Tensor>:$inputs, Stablehlo_IntTensor:$scatter_indices,
                       Variadic<Stablehlo_Tensor>:$updates,
                       Stablehlo_ScatterDimensionNumbersAttr:$scatter_dimension_numbers,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$unique_indices);
  let regions = (region SizedRegion<1>:$update_computation);
  let results = (outs Variadic<Stablehlo_Tensor>);
  let hasVerifier = 1;
}

def Stablehlo_GetDimensionSizeOp : Stablehlo_Op<"get_dimension_size", [Pure]> {
  let summary = "the size of a dimension";
  let arguments = (ins Stablehlo_Tensor:$operand, I64Attr:$dimension);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "$operand `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)";
}

def Stablehlo_OptimizationBarrierOp : Stablehlo_Op<"optimization_barrier", [Pure]> {
  let summary = "its operands, computed before anything that depends on it";
  let arguments = (ins Variadic<Stablehlo_TensorOrToken>:$operand);
  let results = (outs Variadic<Stablehlo_TensorOrToken>:$result);
  let assemblyFormat = "attr-dict ($operand^ `:` custom<PairwiseTypes>(type($operand), type($result)))?";
}

#endif // CGX_DIALECT_STABLEHLO_STABLEHLODATAMOVEMENTOPS_TD
