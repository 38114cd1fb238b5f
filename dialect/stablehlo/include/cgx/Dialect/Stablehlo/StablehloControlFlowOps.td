//===-- StablehloControlFlowOps.td - ops with regions, random numbers, calls and tokens -*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_DIALECT_STABLEHLO_STABLEHLOCONTROLFLOWOPS_TD
#define CGX_DIALECT_STABLEHLO_STABLEHLOCONTROLFLOWOPS_TD

include "cgx/Dialect/Stablehlo/StablehloAttrs.td"
include "cgx/Dialect/Stablehlo/StablehloTypes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

def Stablehlo_ReturnOp : Stablehlo_Op<"return", [Pure, Terminator, ReturnLike]> {
  let summary = "ends a region with its results";
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
}

def Stablehlo_ReduceOp : Stablehlo_Op<"reduce", [RecursiveMemoryEffects, SameVariadicOperandSize]> {
  let summary = "combines the elements along dimensions";
  let arguments = (ins Variadic<Stablehlo_Tensor>:$inputs, Variadic<Stablehlo_Tensor>:$init_values,
                       DenseI64ArrayAttr:$dimensions);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<Stablehlo_Tensor>);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Stablehlo_ReduceWindowOp : Stablehlo_Op<"reduce_window", [RecursiveMemoryEffects, SameVariadicOperandSize]> {
  let summary = "combines the elements of windows";
  let arguments = (ins Variadic<Stablehlo_Tensor>:$inputs, Variadic<Stablehlo_Tensor>:$init_values,
                       DenseI64ArrayAttr:$window_dimensions, OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<DenseI64ArrayAttr>:$base_dilations,
                       OptionalAttr<DenseI64ArrayAttr>:$window_dilations, OptionalAttr<I64ElementsAttr>:$padding);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<Stablehlo_Tensor>);
}

def Stablehlo_SelectAndScatterOp : Stablehlo_Op<"select_and_scatter", [RecursiveMemoryEffects]> {
  let summary = "adds each source element where its window selects";
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_Tensor:$source, Stablehlo_Tensor:$init_value,
                       OptionalAttr<DenseI64ArrayAttr>:$window_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides, OptionalAttr<I64ElementsAttr>:$padding);
  let regions = (region SizedRegion<1>:$select, SizedRegion<1>:$scatter);
  let results = (outs Stablehlo_Tensor:$result);
}

def Stablehlo_SortOp : Stablehlo_Op<"sort", [RecursiveMemoryEffects, SameOperandsAndResultShape]> {
  let summary = "sorts tensors together along a dimension";
  let arguments = (ins Variadic<Stablehlo_Tensor>:$inputs, DefaultValuedOptionalAttr<I64Attr, "-1">:$dimension,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_stable);
  let regions = (region SizedRegion<1>:$comparator);
  let results = (outs Variadic<Stablehlo_Tensor>);
}

def Stablehlo_MapOp : Stablehlo_Op<"map", [RecursiveMemoryEffects, SameOperandsAndResultShape]> {
  let summary = "applies a region to each element";
  let arguments = (ins Variadic<Stablehlo_Tensor>:$inputs, DenseI64ArrayAttr:$dimensions);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Stablehlo_Tensor:$result);
}

def Stablehlo_WhileOp : Stablehlo_Op<"while", [RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "repeats a body while a condition holds";
  let arguments = (ins Variadic<Stablehlo_TensorOrToken>:$operand);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let results = (outs Variadic<Stablehlo_TensorOrToken>);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Stablehlo_IfOp : Stablehlo_Op<"if", [RecursiveMemoryEffects]> {
  let summary = "one of two regions";
  let arguments = (ins Stablehlo_PredTensor:$pred);
  let regions = (region SizedRegion<1>:$true_branch, SizedRegion<1>:$false_branch);
  let results = (outs Variadic<Stablehlo_TensorOrToken>);
}

def Stablehlo_CaseOp : Stablehlo_Op<"case", [RecursiveMemoryEffects]> {
  let summary = "one of several regions; an index outside takes the last";
  let arguments = (ins Stablehlo_IntTensor:$index);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let results = (outs Variadic<Stablehlo_TensorOrToken>);
}

def Stablehlo_RngBitGeneratorOp : Stablehlo_Op<"rng_bit_generator", [Pure]> {
  let summary = "random bits, and the next state";
  let arguments = (ins Stablehlo_RngAlgorithmAttr:$rng_algorithm, Stablehlo_IntTensor:$initial_state);
  let results = (outs Stablehlo_IntTensor:$output_state, Stablehlo_Tensor:$output);
  let assemblyFormat = [{
    $initial_state `,` `algorithm` `=` $rng_algorithm attr-dict `:` functional-type(operands, results)
  }];
}

def Stablehlo_RngOp : Stablehlo_Op<"rng", [MemoryEffects<[MemWrite]>]> {
  let summary = "random numbers of a hidden state";
  let arguments = (ins Stablehlo_Tensor:$a, Stablehlo_Tensor:$b, Stablehlo_IntTensor:$shape,
                       Stablehlo_RngDistributionAttr:$rng_distribution);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $shape `,` `distribution` `=` $rng_distribution attr-dict `:` functional-type(operands, results)
  }];
}

def Stablehlo_CustomCallOp : Stablehlo_Op<"custom_call", [MemoryEffects<[MemWrite]>]> {
  let summary = "a call of code outside of the program";
  let arguments = (ins Variadic<AnyType>:$inputs, StrAttr:$call_target_name,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$has_side_effect,
                       OptionalAttr<AnyAttr>:$backend_config,
                       DefaultValuedOptionalAttr<I32Attr, "1">:$api_version,
                       OptionalAttr<ArrayAttr>:$called_computations, OptionalAttr<ArrayAttr>:$operand_layouts,
                       OptionalAttr<ArrayAttr>:$result_layouts, OptionalAttr<ArrayAttr>:$output_operand_aliases);
  let results = (outs Variadic<AnyType>);
  let assemblyFormat = [{
    custom<CallTarget>($call_target_name) `(` $inputs `)` attr-dict `:` functional-type(operands, results)
  }];
}

def Stablehlo_CompositeOp : Stablehlo_Op<"composite"> {
  let summary = "a named op that a function decomposes";
  let arguments = (ins Variadic<AnyType>:$inputs, StrAttr:$name,
                       DefaultValuedOptionalAttr<DictionaryAttr, "{}">:$composite_attributes,
                       FlatSymbolRefAttr:$decomposition, DefaultValuedOptionalAttr<I32Attr, "0">:$version);
  let results = (outs Variadic<AnyType>);
  let assemblyFormat = "$name $inputs attr-dict `:` functional-type(operands, results)";
}

def Stablehlo_CreateTokenOp : Stablehlo_Op<"create_token", [Pure]> {
  let summary = "a token that waits for nothing";
  let results = (outs Stablehlo_TokenType:$output);
  let assemblyFormat = "attr-dict `:` type($output)";
}

def Stablehlo_AfterAllOp : Stablehlo_Op<"after_all", [Pure]> {
  let summary = "a token that waits for tokens";
  let arguments = (ins Variadic<Stablehlo_TokenType>:$inputs);
  let results = (outs Stablehlo_TokenType:$result);
  let assemblyFormat = "$inputs attr-dict `:` type($result)";
}

// Batch normalization in one op; JAX prints it written out, other frontends do not.
def Stablehlo_BatchNormTrainingOp : Stablehlo_Op<"batch_norm_training", [Pure]> {
  let summary = "normalizes over the batch; also mean and variance";
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_Tensor:$scale, Stablehlo_Tensor:$offset,
                       F32Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs Stablehlo_Tensor:$output, Stablehlo_Tensor:$batch_mean, Stablehlo_Tensor:$batch_var);
}

def Stablehlo_BatchNormInferenceOp : Stablehlo_Op<"batch_norm_inference", [Pure]> {
  let summary = "normalizes with given mean and variance";
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_Tensor:$scale, Stablehlo_Tensor:$offset,
                       Stablehlo_Tensor:$mean, Stablehlo_Tensor:$variance, F32Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs Stablehlo_Tensor:$result);
}

def Stablehlo_BatchNormGradOp : Stablehlo_Op<"batch_norm_grad", [Pure]> {
  let summary = "the gradient of batch_norm_training";
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_Tensor:$scale, Stablehlo_Tensor:$mean,
                       Stablehlo_Tensor:$variance, Stablehlo_Tensor:$grad_output, F32Attr:$epsilon,
                       I64Attr:$feature_index);
  let results = (outs Stablehlo_Tensor:$grad_operand, Stablehlo_Tensor:$grad_scale, Stablehlo_Tensor:$grad_offset);
}

#endif // CGX_DIALECT_STABLEHLO_STABLEHLOCONTROLFLOWOPS_TD
