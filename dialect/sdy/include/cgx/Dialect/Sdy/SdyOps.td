//===-- SdyOps.td - the ops of the sdy dialect -------------*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_SDY_SDYOPS_TD
#define CGX_DIALECT_SDY_SDYOPS_TD

include "cgx/Dialect/Sdy/SdyCollectiveOps.td"
include "cgx/Dialect/Sdy/SdyOpBase.td"
include "cgx/Dialect/Sdy/SdyPropagationOps.td"

def Sdy_MeshOp : Sdy_Op<"mesh", [HasParent<"::mlir::ModuleOp">, Symbol]> {
  let summary = "names a mesh";
  let description = [{
    Gives a mesh a symbol, by which shardings refer to it.

    Example:
    ```mlir
    sdy.mesh @mesh = <["data"=4, "model"=2]>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Sdy_Mesh:$mesh);
  let assemblyFormat = "$sym_name `=` $mesh attr-dict";
}

def Sdy_ManualComputationOp : Sdy_Op<"manual_computation",
    [IsolatedFromAbove, RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock,
     DeclareOpInterfaceMethods<RegionBranchOpInterface, ["getEntrySuccessorOperands", "areTypesCompatible"]>]> {
  let summary = "computes per device over some axes of a mesh";
  let description = [{
    Splits the operands as `in_shardings` say, runs the region on every device
    of the manual axes with its own pieces, and puts the pieces that the region
    returns together as `out_shardings` say. Communication over the manual axes
    is explicit inside. This is what `jax.shard_map` exports.

    Axes of the mesh that are not manual are not visible inside: along them the
    region sees whole values.

    Example:
    ```mlir
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}, {} ]>]
        out_shardings=[<@mesh, []>] manual_axes={"data"} (%arg0: tensor<16x8xf32>) {
      ...
      sdy.return %1 : tensor<f32>
    } : (tensor<64x8xf32>) -> tensor<f32>
    ```

    **Constraints:**
    - (C1) one in_sharding per operand, one out_sharding per result, each valid for its type
    - (C2) all shardings name the same mesh, and every manual axis belongs to it
    - (C3) one block argument per operand, of the operand's type with each dimension
           divided by the sizes of its manual axes
    - (C4) the same between the results and the operands of `sdy.return`
    - (C5) manual axes stand before others in each dimension
    - (C6) no manual computation around it has one of its manual axes
  }];
  let arguments = (ins Variadic<AnyType>:$tensors, Sdy_TensorShardingPerValue:$in_shardings,
                       Sdy_TensorShardingPerValue:$out_shardings, Sdy_ManualAxes:$manual_axes);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $tensors `)`
    `in_shardings````=` `` custom<Shardings>($in_shardings)
    `out_shardings````=` `` custom<Shardings>($out_shardings)
    `manual_axes````=` `` custom<ManualAxes>($manual_axes)
    custom<RegionWithArguments>($body)
    attr-dict `:` functional-type($tensors, $results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the mesh that the shardings name; null if no sharding names one with axes.
    MeshAttr getMesh();
  }];
}

def Sdy_ReturnOp : Sdy_Op<"return", [Pure, Terminator, ReturnLike]> {
  let summary = "ends the region of a manual computation";
  let description = [{
    Returns this device's pieces of the results.

    Example:
    ```mlir
    sdy.return %0, %1 : tensor<16x8xf32>, tensor<f32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

class Sdy_ShardedIdentityOp<string mnemonic, list<Trait> traits = []>
    : Sdy_Op<mnemonic, traits # [SameOperandsAndResultType]> {
  let arguments = (ins AnyType:$input, Sdy_TensorSharding:$sharding);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Sdy_ShardingConstraintOp : Sdy_ShardedIdentityOp<"sharding_constraint", [Pure]> {
  let summary = "asks a partitioner to split a value in a given way";
  let description = [{
    The value is unchanged; only its distribution is asked for.

    Example:
    ```mlir
    %1 = sdy.sharding_constraint %0 <@mesh, [{"data"}, {} ]> : tensor<64x8xf32>
    ```

    **Constraints:**
    - (C1) the sharding is valid for the type
    - (C2) it names no axis that a manual computation around the op has
    - (C3) axes along which the operand is unreduced keep their reduction
    - (C4) new unreduced axes are sums
  }];
}

def Sdy_ReshardOp : Sdy_ShardedIdentityOp<"reshard", [Pure]> {
  let summary = "splits a value in another way";
  let description = [{
    The value is unchanged; its distribution becomes the given one.

    Example:
    ```mlir
    %1 = sdy.reshard %0 <@mesh, [{}, {"data"} ]> : tensor<64x8xf32>
    ```

    **Constraints:**
    - (C1) the sharding is valid for the type
    - (C2) it names no axis that a manual computation around the op has
    - (C3) axes along which the operand is unreduced keep their reduction
    - (C4) new unreduced axes are sums
  }];
}

def Sdy_ShardingGroupOp : Sdy_Op<"sharding_group"> {
  let summary = "asks a partitioner to split all values of a group alike";
  let description = [{
    Has no result; values with the same `group_id` get the same sharding.

    Example:
    ```mlir
    sdy.sharding_group %0 group_id=21 : tensor<64x8xf32>
    ```
  }];
  let arguments = (ins AnyType:$input, I64Attr:$group_id);
  let assemblyFormat = "$input `group_id````=```$group_id attr-dict `:` type($input)";
}

#endif // CGX_DIALECT_SDY_SDYOPS_TD
