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
  let arguments = (ins Variadic<Stablehlo_Tensor>:$operands, Stablehlo_ReplicaGroups:$replica_groups,
                       OptionalAttr<Stablehlo_ChannelHandleAttr>:$channel_handle, UnitAttr:$use_global_device_ids);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Variadic<Stablehlo_Tensor>);
  let hasVerifier = 1;
}

def Stablehlo_ReduceScatterOp : Stablehlo_CollectiveOp<"reduce_scatter"> {
  let summary = "combines the operands of a group and gives each process its slice";
  let arguments = (ins Stablehlo_Tensor:$operand, I64Attr:$scatter_dimension,
                       Stablehlo_ReplicaGroups:$replica_groups,
                       OptionalAttr<Stablehlo_ChannelHandleAttr>:$channel_handle, UnitAttr:$use_global_device_ids);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Stablehlo_Tensor:$result);
  let hasVerifier = 1;
}

def Stablehlo_AllGatherOp : Stablehlo_CollectiveOp<"all_gather"> {
  let summary = "concatenates the operands of the processes of a group";
  let arguments = (ins Variadic<Stablehlo_Tensor>:$operands, I64Attr:$all_gather_dim,
                       Stablehlo_ReplicaGroups:$replica_groups,
                       OptionalAttr<Stablehlo_ChannelHandleAttr>:$channel_handle, UnitAttr:$use_global_device_ids);
  let results = (outs Variadic<Stablehlo_Tensor>);
  let hasVerifier = 1;
}

def Stablehlo_AllToAllOp : Stablehlo_CollectiveOp<"all_to_all"> {
  let summary = "gives each process of a group a slice of every operand";
  let arguments = (ins Variadic<Stablehlo_Tensor>:$operands, I64Attr:$split_dimension, I64Attr:$concat_dimension,
                       I64Attr:$split_count, Stablehlo_ReplicaGroups:$replica_groups,
                       OptionalAttr<Stablehlo_ChannelHandleAttr>:$channel_handle);
  let results = (outs Variadic<Stablehlo_Tensor>);
  let hasVerifier = 1;
}

def Stablehlo_CollectivePermuteOp : Stablehlo_CollectiveOp<"collective_permute"> {
  let summary = "sends the operand of one process to another";
  let arguments = (ins Stablehlo_Tensor:$operand, I64ElementsAttr:$source_target_pairs,
                       OptionalAttr<Stablehlo_ChannelHandleAttr>:$channel_handle);
  let results = (outs Stablehlo_Tensor:$result);
  let hasVerifier = 1;
}

def Stablehlo_CollectiveBroadcastOp : Stablehlo_CollectiveOp<"collective_broadcast"> {
  let summary = "gives each process of a group the operand of its first";
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_ReplicaGroups:$replica_groups,
                       OptionalAttr<Stablehlo_ChannelHandleAttr>:$channel_handle);
  let results = (outs Stablehlo_Tensor:$result);
  let hasVerifier = 1;
}

def Stablehlo_PartitionIdOp : Stablehlo_Op<"partition_id", [Pure]> {
  let summary = "the number of this process among the partitions";
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "attr-dict `:` type(results)";
}

def Stablehlo_ReplicaIdOp : Stablehlo_Op<"replica_id", [Pure]> {
  let summary = "the number of this process among the replicas";
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "attr-dict `:` type(results)";
}

def Stablehlo_AsyncStartOp : Stablehlo_Op<"async_start", [RecursiveMemoryEffects]> {
  let summary = "starts the op of its region";
  let arguments = (ins Variadic<AnyType>:$inputs);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Stablehlo_FutureType:$result);
}

def Stablehlo_AsyncDoneOp : Stablehlo_Op<"async_done"> {
  let summary = "waits for the results of an op that was started";
  let arguments = (ins Stablehlo_FutureType:$future);
  let results = (outs Variadic<AnyType>);
}

#endif // CGX_DIALECT_STABLEHLO_STABLEHLOCOLLECTIVEOPS_TD
