//===-- SdyCollectiveOps.td - collectives between shardings -*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_SDY_SDYCOLLECTIVEOPS_TD
#define CGX_DIALECT_SDY_SDYCOLLECTIVEOPS_TD

include "cgx/Dialect/Sdy/SdyOpBase.td"

// Collectives of Shardy say how the sharding of a value changes; the value itself stays. They appear between Shardy's
// own passes and in what its exporter writes with explicit collectives. cgx reads and checks them; it takes programs
// in which they have become StableHLO's.
class Sdy_CollectiveOp<string mnemonic> : Sdy_Op<mnemonic, [Pure, SameOperandsAndResultType]> {
  let results = (outs AnyType:$result);
  let hasVerifier = 1;
}

def Sdy_AllGatherOp : Sdy_CollectiveOp<"all_gather"> {
  let summary = "gathers dimensions along axes";
  let description = [{
    Takes the axes from the end of the sharding of each dimension.

    Example:
    ```mlir
    %1 = sdy.all_gather [{}, {"x"} ] %0 out_sharding=<@mesh, [{"y"}, {} ]> : tensor<16x8xf32>
    ```

    **Constraints:**
    - (C1) the operand has a sharding, of the mesh of `out_sharding`, which is valid for the type
    - (C2) there is one list of axes per dimension, each valid, no axis twice
    - (C3) each list ends the sharding of its dimension, and `out_sharding` is the rest
  }];
  let arguments = (ins AnyType:$tensor, Sdy_ListOfAxisRefLists:$gathering_axes, Sdy_TensorSharding:$out_sharding);
  let assemblyFormat = [{
    custom<AxesPerDimension>($gathering_axes) $tensor `out_sharding````=` `` custom<Sharding>($out_sharding)
    attr-dict `:` type($result)
  }];
}

def Sdy_AllSliceOp : Sdy_CollectiveOp<"all_slice"> {
  let summary = "keeps the own slice of dimensions along axes";
  let description = [{
    The inverse of `all_gather`. Nothing is communicated.

    Example:
    ```mlir
    %1 = sdy.all_slice [{}, {"x"} ] %0 out_sharding=<@mesh, [{"y"}, {"x"} ]> : tensor<16x8xf32>
    ```

    **Constraints:**
    - (C1) the operand's sharding, if it has one, is of the mesh of `out_sharding`, which is valid for the type
    - (C2) there is one list of axes per dimension, each valid, no axis twice
    - (C3) `out_sharding` is that of the operand with the axes at the end
  }];
  let arguments = (ins AnyType:$tensor, Sdy_ListOfAxisRefLists:$slicing_axes, Sdy_TensorSharding:$out_sharding);
  let assemblyFormat = [{
    custom<AxesPerDimension>($slicing_axes) $tensor `out_sharding````=` `` custom<Sharding>($out_sharding)
    attr-dict `:` type($result)
  }];
}

def Sdy_AllToAllOp : Sdy_CollectiveOp<"all_to_all"> {
  let summary = "splits another dimension along axes";
  let description = [{
    For each `{axes}: source->target` the axes go from the end of the sharding of
    one dimension to the end of that of another.

    Example:
    ```mlir
    %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{}, {"x"} ]> : tensor<16x8xf32>
    ```

    **Constraints:**
    - (C1) the operand has a sharding, of the mesh of `out_sharding`, which is valid for the type
    - (C2) something moves, and all axes are valid, no axis twice
    - (C3) sources and targets are dimensions, none of them twice, sources in increasing order
    - (C4) the axes end the sharding of their source, and `out_sharding` is the result
  }];
  let arguments = (ins AnyType:$tensor, Sdy_AllToAllParamList:$params, Sdy_TensorSharding:$out_sharding);
  let assemblyFormat = [{
    custom<AllToAllParams>($params) $tensor `out_sharding````=` `` custom<Sharding>($out_sharding) attr-dict `:`
    type($result)
  }];
}

def Sdy_CollectivePermuteOp : Sdy_CollectiveOp<"collective_permute"> {
  let summary = "splits dimensions along other axes, in as many parts";
  let description = [{
    Example:
    ```mlir
    %1 = sdy.collective_permute %0 out_sharding=<@mesh, [{"y"}, {"x"} ]> : tensor<16x8xf32>
    ```

    **Constraints:**
    - (C1) the operand has a sharding, of a mesh with the axes of that of `out_sharding`, which is valid for the type
    - (C2) each dimension is split in as many parts as before
  }];
  let arguments = (ins AnyType:$tensor, Sdy_TensorSharding:$out_sharding);
  let assemblyFormat = [{
    $tensor `out_sharding````=` `` custom<Sharding>($out_sharding) attr-dict `:` type($result)
  }];
}

def Sdy_AllReduceOp : Sdy_CollectiveOp<"all_reduce"> {
  let summary = "combines partial values along axes";
  let description = [{
    Example:
    ```mlir
    %1 = sdy.all_reduce max {"y"} %0 out_sharding=<@mesh, [{}, {"x"} ]> : tensor<16x8xf32>
    ```

    **Constraints:**
    - (C1) the operand's sharding, if it has one, is of the mesh of `out_sharding`, which is valid for the type
    - (C2) the axes are valid, none twice, in the order of the mesh
    - (C3) operand and result split their dimensions alike
    - (C4) the axes split no dimension, and the operand is not replicated along them by name
    - (C5) the result is not unreduced along them, nor along an axis along which the operand is not
    - (C6) unreduced axes are reduced by their own reduction
  }];
  let arguments = (ins AnyType:$tensor, Sdy_AxisRefList:$reduction_axes,
                       DefaultValuedAttr<Sdy_ReductionOp, "::cgx::sdy::ReductionOp::Sum">:$reduction_op,
                       Sdy_TensorSharding:$out_sharding);
  let assemblyFormat = [{
    ($reduction_op^)? custom<AxisList>($reduction_axes) $tensor `out_sharding````=` ``
    custom<Sharding>($out_sharding) attr-dict `:` type($result)
  }];
}

def Sdy_ReduceScatterOp : Sdy_CollectiveOp<"reduce_scatter"> {
  let summary = "combines partial values along axes and keeps the own slice";
  let description = [{
    An `all_reduce` and an `all_slice` in one.

    Example:
    ```mlir
    %1 = sdy.reduce_scatter [{}, {"y"} ] %0 out_sharding=<@mesh, [{"x"}, {"y"} ]> : tensor<16x8xf32>
    ```

    **Constraints:**
    - (C1) the operand's sharding, if it has one, is of the mesh of `out_sharding`, which is valid for the type
    - (C2) there is one list of axes per dimension, each valid, no axis twice
    - (C3) `out_sharding` is that of the operand with the axes at the end
    - (C4) unreduced axes are reduced by their own reduction
  }];
  let arguments = (ins AnyType:$tensor, Sdy_ListOfAxisRefLists:$reduce_scatter_axes,
                       DefaultValuedAttr<Sdy_ReductionOp, "::cgx::sdy::ReductionOp::Sum">:$reduction_op,
                       Sdy_TensorSharding:$out_sharding);
  let assemblyFormat = [{
    ($reduction_op^)? custom<AxesPerDimension>($reduce_scatter_axes) $tensor `out_sharding````=` ``
    custom<Sharding>($out_sharding) attr-dict `:` type($result)
  }];
}

def Sdy_ShardedToUnreducedOp : Sdy_CollectiveOp<"sharded_to_unreduced"> {
  let summary = "reads the parts of a split dimension as partial sums of the whole";
  let description = [{
    Each device pads its part with zeros: an `all_reduce` of the result is an
    `all_gather` of the operand.

    Example:
    ```mlir
    %1 = sdy.sharded_to_unreduced [{}, {"x"} ] %0 out_sharding=<@mesh, [{"y"}, {} ], unreduced={"x"}> : tensor<16x8xf32>
    ```

    **Constraints:**
    - (C1) the operand has a sharding, of the mesh of `out_sharding`, which is valid for the type
    - (C2) there is one list of axes per dimension, each valid, no axis twice
    - (C3) each list ends the sharding of its dimension, and `out_sharding` has the rest
    - (C4) `out_sharding` is unreduced, by a sum, along these axes and those of the operand
  }];
  let arguments = (ins AnyType:$tensor, Sdy_ListOfAxisRefLists:$axes, Sdy_TensorSharding:$out_sharding);
  let assemblyFormat = [{
    custom<AxesPerDimension>($axes) $tensor `out_sharding````=` `` custom<Sharding>($out_sharding) attr-dict `:`
    type($result)
  }];
}

def Sdy_ReplicatedToUnreducedOp : Sdy_CollectiveOp<"replicated_to_unreduced"> {
  let summary = "reads replicas as partial sums: one keeps the value, the others zeros";
  let description = [{
    An `all_reduce` of the result is the operand.

    Example:
    ```mlir
    %1 = sdy.replicated_to_unreduced {"x"} %0 out_sharding=<@mesh, [{"y"}, {} ], unreduced={"x"}> : tensor<16x8xf32>
    ```

    **Constraints:**
    - (C1) the operand has a sharding, of the mesh of `out_sharding`, which is valid for the type
    - (C2) there are axes, all valid, none twice, in the order of the mesh
    - (C3) operand and result split their dimensions alike
    - (C4) the operand is replicated along the axes
    - (C5) `out_sharding` is unreduced, by a sum, along these axes and those of the operand
  }];
  let arguments = (ins AnyType:$tensor, Sdy_AxisRefList:$axes, Sdy_TensorSharding:$out_sharding);
  let assemblyFormat = [{
    custom<AxisList>($axes) $tensor `out_sharding````=` `` custom<Sharding>($out_sharding) attr-dict `:`
    type($result)
  }];
}

#endif // CGX_DIALECT_SDY_SDYCOLLECTIVEOPS_TD
