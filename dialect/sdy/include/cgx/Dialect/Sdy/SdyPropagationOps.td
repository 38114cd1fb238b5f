//===-- SdyPropagationOps.td - ops that a partitioner leaves in a program -*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_SDY_SDYPROPAGATIONOPS_TD
#define CGX_DIALECT_SDY_SDYPROPAGATIONOPS_TD

include "cgx/Dialect/Sdy/SdyOpBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

def Sdy_ConstantOp : Sdy_Op<"constant", [Pure, AllTypesMatch<["value", "output"]>]> {
  let summary = "a constant that is not shared";
  let description = [{
    A partitioner splits each use of a constant in its own way, so these are not
    folded into one.

    Example:
    ```mlir
    %0 = sdy.constant dense<1.0> : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyStaticShapeTensor:$output);
  let assemblyFormat = "attr-dict $value";
}

def Sdy_DataFlowEdgeOp : Sdy_Op<"data_flow_edge", [SameOperandsAndResultType]> {
  let summary = "values through regions that are split alike";
  let description = [{
    Marks, for example, the values that one iteration of a loop hands to the next. Only a
    partitioner reads it.

    Example:
    ```mlir
    %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"x"}, {} ]> : tensor<16x8xf32>
    ```

    **Constraints:**
    - (C1) the sharding is valid for the type, which has a static shape
    - (C2) the input has no other use, and no op of this dialect defines it
  }];
  let arguments = (ins AnyShaped:$input, OptionalAttr<Sdy_TensorSharding>:$sharding);
  let results = (outs AnyShaped:$result);
  let assemblyFormat = [{
    $input (`sharding````=` `` custom<Sharding>($sharding)^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Sdy_FuncDataFlowEdgeOp : Sdy_Op<"func_data_flow_edge", [SameOperandsAndResultType]> {
  let summary = "values through calls that are split alike";
  let description = [{
    Example:
    ```mlir
    %1 = sdy.func_data_flow_edge %arg0 : tensor<16x8xf32>
    ```

    **Constraints:**
    - (C1) the type has a static shape
    - (C2) the operand has no other use
    - (C3) the operand is an argument of a function or a result of a call
  }];
  let arguments = (ins AnyShaped:$operand);
  let results = (outs AnyShaped:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Sdy_PropagationBarrierOp : Sdy_Op<"propagation_barrier", [Pure, SameOperandsAndResultType]> {
  let summary = "a value through which shardings go in one direction only";
  let description = [{
    Example:
    ```mlir
    %1 = sdy.propagation_barrier %0 allowed_direction=BACKWARD : tensor<16x8xf32>
    ```

    **Constraints:**
    - (C1) the direction is not BOTH
  }];
  let arguments = (ins AnyRankedTensor:$input, Sdy_PropagationDirection:$allowed_direction);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `allowed_direction````=` `` $allowed_direction attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Sdy_NamedComputationOp : Sdy_Op<"named_computation",
    [IsolatedFromAbove, RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let summary = "a part of the program with a name";
  let description = [{
    A call of a function becomes this op while shardings are propagated.

    Example:
    ```mlir
    %1 = sdy.named_computation<"foo">(%0) in_shardings=[<@mesh, [{"x"}, {} ]>] (%arg1: tensor<16x8xf32>) {
      sdy.return %arg1 : tensor<16x8xf32>
    } : (tensor<16x8xf32>) -> tensor<16x8xf32>
    ```

    **Constraints:**
    - (C1) one block argument per operand, of its type
    - (C2) one returned value per result, of its type
    - (C3) if given, one sharding per operand or result, each valid for its type
  }];
  let arguments = (ins StrAttr:$name, Variadic<AnyType>:$operands,
                       OptionalAttr<Sdy_TensorShardingPerValue>:$in_shardings,
                       OptionalAttr<Sdy_TensorShardingPerValue>:$out_shardings);
  let results = (outs Variadic<AnyType>);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `<` $name `>` `` `(` $operands `)`
    (`in_shardings````=` `` custom<Shardings>($in_shardings)^)?
    (`out_shardings````=` `` custom<Shardings>($out_shardings)^)?
    custom<RegionWithArguments>($body)
    attr-dict `:` functional-type($operands, results)
  }];
  let hasVerifier = 1;
}

#endif // CGX_DIALECT_SDY_SDYPROPAGATIONOPS_TD
