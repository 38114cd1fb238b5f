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
  let description = [{
    Example:
    ```mlir
    stablehlo.return %0 : tensor<f32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
}

def Stablehlo_ReduceOp : Stablehlo_Op<"reduce", [RecursiveMemoryEffects, SameVariadicOperandSize]> {
  let summary = "combines the elements along dimensions";
  let description = [{
    Example:
    ```mlir
    %2 = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    ```

    **Constraints:**
    - (C1) operands have one shape
    - (C2) and (C6): the body combines two elements
    - (C3) there is a result per operand
    - (C4) and (C5): dimensions are in range, each once
    - (C7) and (C8): results lack the dimensions
  }];
  let arguments = (ins Variadic<Stablehlo_Tensor>:$inputs, Variadic<Stablehlo_Tensor>:$init_values,
                       DenseI64ArrayAttr:$dimensions);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<Stablehlo_Tensor>);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Stablehlo_ReduceWindowOp : Stablehlo_Op<"reduce_window", [RecursiveMemoryEffects, SameVariadicOperandSize]> {
  let summary = "combines the elements of windows";
  let description = [{
    Example:
    ```mlir
    %2 = "stablehlo.reduce_window"(%0, %1) <{window_dimensions = array<i64: 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4xf32>, tensor<f32>) -> tensor<3xf32>
    ```

    **Constraints:**
    - (C1) there is an operand, and a result per operand
    - (C2) operands have one shape
    - (C3) and (C13): the body combines two elements
    - (C4) to (C12): the window has a positive entry per dimension
    - (C14) to (C16): results have as many elements as there are windows
  }];
  let arguments = (ins Variadic<Stablehlo_Tensor>:$inputs, Variadic<Stablehlo_Tensor>:$init_values,
                       DenseI64ArrayAttr:$window_dimensions, OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<DenseI64ArrayAttr>:$base_dilations,
                       OptionalAttr<DenseI64ArrayAttr>:$window_dilations, OptionalAttr<I64ElementsAttr>:$padding);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<Stablehlo_Tensor>);
  let hasVerifier = 1;
}

def Stablehlo_SelectAndScatterOp : Stablehlo_Op<"select_and_scatter", [RecursiveMemoryEffects]> {
  let summary = "adds each source element where its window selects";
  let description = [{
    Example:
    ```mlir
    %3 = "stablehlo.select_and_scatter"(%0, %1, %2) <{window_dimensions = array<i64: 2>,
        window_strides = array<i64: 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.compare  GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
    ```

    **Constraints:**
    - (C1) and (C2): the source has an element per window
    - (C3) and (C10): scatter combines two elements
    - (C4) to (C8): the window has a positive entry per dimension
    - (C9) select compares two elements
    - (C11) and (C12): the result has the shape of the operand
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_Tensor:$source, Stablehlo_Tensor:$init_value,
                       OptionalAttr<DenseI64ArrayAttr>:$window_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides, OptionalAttr<I64ElementsAttr>:$padding);
  let regions = (region SizedRegion<1>:$select, SizedRegion<1>:$scatter);
  let results = (outs Stablehlo_Tensor:$result);
  let hasVerifier = 1;
}

def Stablehlo_SortOp : Stablehlo_Op<"sort", [RecursiveMemoryEffects, SameOperandsAndResultShape]> {
  let summary = "sorts tensors together along a dimension";
  let description = [{
    Example:
    ```mlir
    %1 = "stablehlo.sort"(%0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.compare  LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    **Constraints:**
    - (C1) there is an operand
    - (C2) and (C3): results have the types of the operands, all one shape
    - (C4) `dimension` is in range; a negative one counts from the end
    - (C5) the comparator takes two elements of each operand
  }];
  let arguments = (ins Variadic<Stablehlo_Tensor>:$inputs, DefaultValuedOptionalAttr<I64Attr, "-1">:$dimension,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_stable);
  let regions = (region SizedRegion<1>:$comparator);
  let results = (outs Variadic<Stablehlo_Tensor>);
  let hasVerifier = 1;
}

def Stablehlo_MapOp : Stablehlo_Op<"map", [RecursiveMemoryEffects, SameOperandsAndResultShape]> {
  let summary = "applies a region to each element";
  let description = [{
    Example:
    ```mlir
    %1 = "stablehlo.map"(%0) <{dimensions = array<i64: 0>}> ({
    ^bb0(%a: tensor<f32>):
      %b = stablehlo.negate %a : tensor<f32>
      stablehlo.return %b : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    **Constraints:**
    - (C3) `dimensions` are all of the operands
    - (C4) the computation takes an element of each operand and returns one
  }];
  let arguments = (ins Variadic<Stablehlo_Tensor>:$inputs, DenseI64ArrayAttr:$dimensions);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Stablehlo_Tensor:$result);
  let hasVerifier = 1;
}

def Stablehlo_WhileOp : Stablehlo_Op<"while", [RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<RegionBranchOpInterface, ["getEntrySuccessorOperands", "areTypesCompatible"]>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "repeats a body while a condition holds";
  let description = [{
    Example:
    ```mlir
    %1 = stablehlo.while(%iterArg = %0) : tensor<i32>
     cond {
      %c = stablehlo.compare  LT, %iterArg, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %n = stablehlo.add %iterArg, %one : tensor<i32>
      stablehlo.return %n : tensor<i32>
    }
    ```

    **Constraints:**
    - (C1) the condition takes the operands and returns `tensor<i1>`
    - (C2) the body takes and returns the operands
    - (C3) results have the types of the operands
  }];
  let arguments = (ins Variadic<Stablehlo_Value>:$operand);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let results = (outs Variadic<Stablehlo_Value>);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Stablehlo_IfOp : Stablehlo_Op<"if", [RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<RegionBranchOpInterface, ["areTypesCompatible"]>]> {
  let summary = "one of two regions";
  let description = [{
    Example:
    ```mlir
    %1 = "stablehlo.if"(%0) ({
      stablehlo.return %a : tensor<f32>
    }, {
      stablehlo.return %b : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    ```

    **Constraints:**
    - (C1) to (C3): branches take nothing and have the results of the op
  }];
  let arguments = (ins Stablehlo_PredTensor:$pred);
  let regions = (region SizedRegion<1>:$true_branch, SizedRegion<1>:$false_branch);
  let results = (outs Variadic<Stablehlo_Value>);
  let hasVerifier = 1;
}

def Stablehlo_CaseOp : Stablehlo_Op<"case", [RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<RegionBranchOpInterface, ["areTypesCompatible"]>]> {
  let summary = "one of several regions; an index outside takes the last";
  let description = [{
    Example:
    ```mlir
    %1 = "stablehlo.case"(%0) ({
      stablehlo.return %a : tensor<f32>
    }, {
      stablehlo.return %b : tensor<f32>
    }) : (tensor<i32>) -> tensor<f32>
    ```

    **Constraints:**
    - (C1) there is a branch
    - (C2) to (C4): branches take nothing and have the results of the op
  }];
  let arguments = (ins Stablehlo_IntTensor:$index);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let results = (outs Variadic<Stablehlo_Value>);
  let hasVerifier = 1;
}

def Stablehlo_RngBitGeneratorOp : Stablehlo_Op<"rng_bit_generator", [Pure]> {
  let summary = "random bits, and the next state";
  let description = [{
    Example:
    ```mlir
    %1, %2 = stablehlo.rng_bit_generator %0, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
    ```

    **Constraints:**
    - (C1) both states have one type
    - (C2) of 64-bit numbers, THREE_FRY takes 2, PHILOX 2 or 3
  }];
  let arguments = (ins Stablehlo_RngAlgorithmAttr:$rng_algorithm, Stablehlo_IntTensor:$initial_state);
  let results = (outs Stablehlo_IntTensor:$output_state, Stablehlo_Tensor:$output);
  let assemblyFormat = [{
    $initial_state `,` `algorithm` `=` $rng_algorithm attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_RngOp : Stablehlo_Op<"rng", [MemoryEffects<[MemWrite]>]> {
  let summary = "random numbers of a hidden state";
  let description = [{
    Example:
    ```mlir
    %3 = stablehlo.rng %0, %1, %2, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
    ```

    **Constraints:**
    - (C1) a, b and result have one element type
    - (C2) which is a float for NORMAL
    - (C3) the result has the shape
  }];
  let arguments = (ins Stablehlo_Tensor:$a, Stablehlo_Tensor:$b, Stablehlo_IntTensor:$shape,
                       Stablehlo_RngDistributionAttr:$rng_distribution);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $shape `,` `distribution` `=` $rng_distribution attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_CustomCallOp : Stablehlo_Op<"custom_call", [MemoryEffects<[MemWrite]>]> {
  let summary = "a call of code outside of the program";
  let description = [{
    Example:
    ```mlir
    %1 = stablehlo.custom_call @foo(%0) {api_version = 4 : i32, backend_config = {bits = 4 : i64}} : (tensor<4xf32>) -> tensor<4xf32>
    ```

    A buffer (`memref`) that is a result is one that the call took: `output_operand_aliases` says which. `CreateBuffer`,
    `Pin` and `Unpin` make buffers of nothing and of tensors, and tensors of buffers.
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, StrAttr:$call_target_name,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$has_side_effect,
                       OptionalAttr<AnyAttr>:$backend_config,
                       DefaultValuedOptionalAttr<I32Attr, "1">:$api_version,
                       OptionalAttr<ArrayAttr>:$called_computations, OptionalAttr<ArrayAttr>:$operand_layouts,
                       OptionalAttr<ArrayAttr>:$result_layouts, OptionalAttr<ArrayAttr>:$output_operand_aliases,
                       OptionalAttr<ArrayAttr>:$result_tilings);
  let results = (outs Variadic<AnyType>);
  let assemblyFormat = [{
    custom<CallTarget>($call_target_name) `(` $inputs `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_CompositeOp : Stablehlo_Op<"composite", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a named op that a function decomposes";
  let description = [{
    Example:
    ```mlir
    %1 = stablehlo.composite "my.op" %0 {decomposition = @my_op} : (tensor<4xf32>) -> tensor<4xf32>
    ```

    **Constraints:**
    - (C1) the name has a namespace
    - (C2) the decomposition is a function
    - (C3) with the types of the operands
    - (C4) and of the results
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, StrAttr:$name,
                       DefaultValuedOptionalAttr<DictionaryAttr, "{}">:$composite_attributes,
                       FlatSymbolRefAttr:$decomposition, DefaultValuedOptionalAttr<I32Attr, "0">:$version);
  let regions = (region VariadicRegion<AnyRegion>:$composite_regions);
  let results = (outs Variadic<AnyType>);
  let assemblyFormat = [{
    $name operands (` ` `(` $composite_regions^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_CreateTokenOp : Stablehlo_Op<"create_token", [Pure]> {
  let summary = "a token that waits for nothing";
  let description = [{
    Example:
    ```mlir
    %0 = stablehlo.create_token : !stablehlo.token
    ```
  }];
  let results = (outs Stablehlo_TokenType:$output);
  let assemblyFormat = "attr-dict `:` type($output)";
}

def Stablehlo_AfterAllOp : Stablehlo_Op<"after_all", [Pure]> {
  let summary = "a token that waits for tokens";
  let description = [{
    Example:
    ```mlir
    %2 = stablehlo.after_all %0, %1 : !stablehlo.token
    ```
  }];
  let arguments = (ins Variadic<Stablehlo_TokenType>:$inputs);
  let results = (outs Stablehlo_TokenType:$result);
  let assemblyFormat = "$inputs attr-dict `:` type($result)";
}

// Batch normalization in one op; JAX prints it written out, other frontends do not.
def Stablehlo_BatchNormTrainingOp : Stablehlo_Op<"batch_norm_training", [Pure]> {
  let summary = "normalizes over the batch; also mean and variance";
  let description = [{
    Example:
    ```mlir
    %3:3 = "stablehlo.batch_norm_training"(%0, %1, %2) <{epsilon = 1.0e-5 : f32, feature_index = 1 : i64}>
        : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>)
    ```

    **Constraints:**
    - (C1) `feature_index` is a dimension
    - (C2) to (C7): one number per feature, all of one element type
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_Tensor:$scale, Stablehlo_Tensor:$offset,
                       F32Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs Stablehlo_Tensor:$output, Stablehlo_Tensor:$batch_mean, Stablehlo_Tensor:$batch_var);
  let hasVerifier = 1;
}

def Stablehlo_BatchNormInferenceOp : Stablehlo_Op<"batch_norm_inference", [Pure]> {
  let summary = "normalizes with given mean and variance";
  let description = [{
    Example:
    ```mlir
    %5 = "stablehlo.batch_norm_inference"(%0, %1, %2, %3, %4) <{epsilon = 1.0e-5 : f32, feature_index = 1 : i64}>
        : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    ```

    **Constraints:**
    - (C1) `feature_index` is a dimension
    - (C2) to (C7): one number per feature, all of one element type
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_Tensor:$scale, Stablehlo_Tensor:$offset,
                       Stablehlo_Tensor:$mean, Stablehlo_Tensor:$variance, F32Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs Stablehlo_Tensor:$result);
  let hasVerifier = 1;
}

def Stablehlo_BatchNormGradOp : Stablehlo_Op<"batch_norm_grad", [Pure]> {
  let summary = "the gradient of batch_norm_training";
  let description = [{
    Example:
    ```mlir
    %5:3 = "stablehlo.batch_norm_grad"(%0, %1, %2, %3, %4) <{epsilon = 1.0e-5 : f32, feature_index = 1 : i64}>
        : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<4x2xf32>)
        -> (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>)
    ```

    **Constraints:**
    - (C1) `feature_index` is a dimension
    - (C2) to (C5): one number per feature, all of one element type
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_Tensor:$scale, Stablehlo_Tensor:$mean,
                       Stablehlo_Tensor:$variance, Stablehlo_Tensor:$grad_output, F32Attr:$epsilon,
                       I64Attr:$feature_index);
  let results = (outs Stablehlo_Tensor:$grad_operand, Stablehlo_Tensor:$grad_scale, Stablehlo_Tensor:$grad_offset);
  let hasVerifier = 1;
}

#endif // CGX_DIALECT_STABLEHLO_STABLEHLOCONTROLFLOWOPS_TD
