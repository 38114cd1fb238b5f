//===-- StablehloCollectiveOps.td - collectives -*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_DIALECT_STABLEHLO_STABLEHLOCOLLECTIVEOPS_TD
#define CGX_DIALECT_STABLEHLO_STABLEHLOCOLLECTIVEOPS_TD

include "cgx/Dialect/Stablehlo/StablehloAttrs.td"
include "cgx/Dialect/Stablehlo/StablehloTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// Collectives touch no memory that the program can see, so an unused one may go (every rank runs
// the same program), but they are not speculatable: their peers have to take part.
class Stablehlo_CollectiveOp<string mnemonic, list<Trait> traits = []>
    : Stablehlo_Op<mnemonic, [NoMemoryEffect] # traits>;

def Stablehlo_AllReduceOp : Stablehlo_CollectiveOp<"all_reduce"> {
  let summary = "combines the operands of the processes of a group";
  let description = [{
    Example:
    ```mlir
    %1 = "stablehlo.all_reduce"(%0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    **Constraints:**
    - (C1) to (C3): each process is in one group; -1 fills rows
    - (C4) `use_global_device_ids` needs a channel
    - (C5) the computation combines two elements
    - (C6) and (C7): results have the shapes of the operands
  }];
  let arguments = (ins Variadic<Stablehlo_Tensor>:$operands, Stablehlo_ReplicaGroups:$replica_groups,
                       OptionalAttr<Stablehlo_ChannelHandleAttr>:$channel_handle, UnitAttr:$use_global_device_ids);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Variadic<Stablehlo_Tensor>);
  let hasVerifier = 1;
}

def Stablehlo_ReduceScatterOp : Stablehlo_CollectiveOp<"reduce_scatter"> {
  let summary = "combines the operands of a group and gives each process its slice";
  let description = [{
    Example:
    ```mlir
    %1 = "stablehlo.reduce_scatter"(%0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<2xf32>
    ```

    **Constraints:**
    - (C1) a group divides the dimension
    - (C2) `scatter_dimension` is one of the operand
    - (C3) to (C5): each process is in one group
    - (C6) `use_global_device_ids` needs a channel
    - (C7) the computation combines two elements
    - (C8) and (C9): the result is a slice
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, I64Attr:$scatter_dimension,
                       Stablehlo_ReplicaGroups:$replica_groups,
                       OptionalAttr<Stablehlo_ChannelHandleAttr>:$channel_handle, UnitAttr:$use_global_device_ids);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Stablehlo_Tensor:$result);
  let hasVerifier = 1;
}

def Stablehlo_AllGatherOp : Stablehlo_CollectiveOp<"all_gather"> {
  let summary = "concatenates the operands of the processes of a group";
  let description = [{
    Example:
    ```mlir
    %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
    ```

    **Constraints:**
    - (C1) `all_gather_dim` is one of the operands
    - (C2) to (C4): each process is in one group
    - (C5) `use_global_device_ids` needs a channel
    - (C6) results are as many times larger as a group is large
  }];
  let arguments = (ins Variadic<Stablehlo_Tensor>:$operands, I64Attr:$all_gather_dim,
                       Stablehlo_ReplicaGroups:$replica_groups,
                       OptionalAttr<Stablehlo_ChannelHandleAttr>:$channel_handle, UnitAttr:$use_global_device_ids);
  let results = (outs Variadic<Stablehlo_Tensor>);
  let hasVerifier = 1;
}

def Stablehlo_AllToAllOp : Stablehlo_CollectiveOp<"all_to_all"> {
  let summary = "gives each process of a group a slice of every operand";
  let description = [{
    Example:
    ```mlir
    %1 = "stablehlo.all_to_all"(%0) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
        split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Variadic<Stablehlo_Tensor>:$operands, I64Attr:$split_dimension, I64Attr:$concat_dimension,
                       I64Attr:$split_count, Stablehlo_ReplicaGroups:$replica_groups,
                       OptionalAttr<Stablehlo_ChannelHandleAttr>:$channel_handle);
  let results = (outs Variadic<Stablehlo_Tensor>);
  let hasVerifier = 1;
}

def Stablehlo_CollectivePermuteOp : Stablehlo_CollectiveOp<"collective_permute"> {
  let summary = "sends the operand of one process to another";
  let description = [{
    Example:
    ```mlir
    %1 = "stablehlo.collective_permute"(%0) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}>
        : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, I64ElementsAttr:$source_target_pairs,
                       OptionalAttr<Stablehlo_ChannelHandleAttr>:$channel_handle);
  let results = (outs Stablehlo_Tensor:$result);
  let hasVerifier = 1;
}

def Stablehlo_CollectiveBroadcastOp : Stablehlo_CollectiveOp<"collective_broadcast"> {
  let summary = "gives each process of a group the operands of its first";
  let description = [{
    With `has_dynamic_root` the last operand holds for each other operand the
    position in the group of the process that sends.

    Example:
    ```mlir
    %1 = "stablehlo.collective_broadcast"(%0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>
        : (tensor<4xf32>) -> tensor<4xf32>
    ```

    **Constraints:**
    - (C1) no process is in two groups
    - (C2) there is an operand, and a result per operand but for the dynamic roots
    - (C3) operands and results have one type
    - (C4) dynamic roots are an i32 tensor of rank 1, one per other operand
  }];
  let arguments = (ins Variadic<Stablehlo_Tensor>:$operands, Stablehlo_ReplicaGroups:$replica_groups,
                       OptionalAttr<Stablehlo_ChannelHandleAttr>:$channel_handle, UnitAttr:$has_dynamic_root);
  let results = (outs Variadic<Stablehlo_Tensor>);
  let hasVerifier = 1;
}

def Stablehlo_CollectiveReduceOp : Stablehlo_CollectiveOp<"collective_reduce"> {
  let summary = "combines the operands of a group on its first process";
  let description = [{
    Like `all_reduce`, but only the first process of each group has the result;
    the others have zeros. With `has_dynamic_root` the last operand says instead
    for each other operand which process has it.

    Example:
    ```mlir
    %1 = "stablehlo.collective_reduce"(%0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<Stablehlo_Tensor>:$operands, Stablehlo_ReplicaGroups:$replica_groups,
                       OptionalAttr<Stablehlo_ChannelHandleAttr>:$channel_handle, UnitAttr:$use_global_device_ids,
                       UnitAttr:$has_dynamic_root);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Variadic<Stablehlo_Tensor>);
  let hasVerifier = 1;
}

def Stablehlo_CrossReplicaSumOp : Stablehlo_CollectiveOp<"cross-replica-sum"> {
  let summary = "the sum over the replicas of a group";
  let description = [{
    The older form of an `all_reduce` that adds.

    Example:
    ```mlir
    %1 = "stablehlo.cross-replica-sum"(%0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>
        : (tensor<4xf32>) -> tensor<4xf32>
    ```

    **Constraints:**
    - (C1) operand and result have one type
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, I64ElementsAttr:$replica_groups);
  let results = (outs Stablehlo_Tensor:$result);
  let hasVerifier = 1;
}

def Stablehlo_PartitionIdOp : Stablehlo_Op<"partition_id", [Pure]> {
  let summary = "the number of this process among the partitions";
  let description = [{
    Example:
    ```mlir
    %0 = stablehlo.partition_id : tensor<ui32>
    ```
  }];
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "attr-dict `:` type(results)";
  let hasVerifier = 1;
}

def Stablehlo_ReplicaIdOp : Stablehlo_Op<"replica_id", [Pure]> {
  let summary = "the number of this process among the replicas";
  let description = [{
    Example:
    ```mlir
    %0 = stablehlo.replica_id : tensor<ui32>
    ```
  }];
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "attr-dict `:` type(results)";
  let hasVerifier = 1;
}

def Stablehlo_AsyncStartOp : Stablehlo_Op<"async_start", [RecursiveMemoryEffects]> {
  let summary = "starts the op of its region";
  let description = [{
    Example:
    ```mlir
    %1 = "stablehlo.async_start"(%0) ({
    ^bb0(%a: tensor<4xf32>):
      %2 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>
          : (tensor<4xf32>) -> tensor<8xf32>
      stablehlo.return %2 : tensor<8xf32>
    }) : (tensor<4xf32>) -> !stablehlo.future<tensor<8xf32>>
    ```

    **Constraints:**
    - (C1) the body has one op and returns
    - (C2) which is a collective or a slice
    - (C3) and has the operands of the body
    - (C4) the future is of the results of the body
  }];
  let arguments = (ins Variadic<AnyType>:$inputs);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Stablehlo_FutureType:$result);
  let hasVerifier = 1;
}

def Stablehlo_AsyncDoneOp : Stablehlo_Op<"async_done"> {
  let summary = "waits for the results of an op that was started";
  let description = [{
    Example:
    ```mlir
    %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<8xf32>>) -> tensor<8xf32>
    ```

    **Constraints:**
    - (C1) results have the types of the future
  }];
  let arguments = (ins Stablehlo_FutureType:$future);
  let results = (outs Variadic<AnyType>);
  let hasVerifier = 1;
}

#endif // CGX_DIALECT_STABLEHLO_STABLEHLOCOLLECTIVEOPS_TD
