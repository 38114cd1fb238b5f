//===-- CgxStartOps.td - collectives that run while the program goes on --*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_CGX_CGXSTARTOPS_TD
#define CGX_DIALECT_CGX_CGXSTARTOPS_TD

include "cgx/Dialect/Cgx/CgxCollectiveOps.td"

// Starts and waits keep their order and are never erased: all ranks start in one order, and what was
// started is waited for.
def Cgx_FlightResource : Resource<"::cgx::FlightResource">;

// The asynchronous form of a collective: its arguments are those of `collective`, its results come out of
// the wait.
class Cgx_StartOp<Cgx_CollectiveOp collective, string reduction, string example>
    : Cgx_Op<collective.opName # "_start", [MemoryEffects<[MemWrite<Cgx_FlightResource>]>,
                                            Cgx_CommunicationOpInterface, Cgx_CollectiveOpInterface]> {
  let summary = "starts a cgx." # collective.opName # ", whose results cgx.wait gives";
  let description = [{
    Means what `cgx.}] # collective.opName # [{` means, and obeys its constraints, but the program goes on
    while ranks exchange. Ranks run what was started in the order in which it was
    started; a collective that is not started this way runs behind those that are in flight.

    Example:
    ```mlir
    }] # example # [{
    ```

    **Constraints:** those of `cgx.}] # collective.opName # [{`, and
    - (S1) the handle holds the results
    - (S2) one `cgx.wait`, in the same block, is the only user of the handle
  }];
  let arguments = collective.arguments;
  let results = (outs Cgx_HandleType:$handle);
  let assemblyFormat = reduction # "`(` $inputs `)` `` custom<CollectiveAttrs>(attr-dict, \"getOperationName()\", ref($inputs)) `:` functional-type($inputs, $handle)";
  let hasVerifier = 1;
  let extraClassDeclaration = collective.extraClassDeclaration # [{
    ::llvm::StringRef getKind() { return "}] # collective.opName # [{"; }
    ::mlir::ResultRange getResultTensors();
  }];
}

class Cgx_ReductionStartOp<Cgx_CollectiveOp collective, string example>
    : Cgx_StartOp<collective, "custom<ReductionName>($reduction) `` ", example>;

class Cgx_MoveStartOp<Cgx_CollectiveOp collective, string example> : Cgx_StartOp<collective, "", example>;

def Cgx_AllReduceStartOp : Cgx_ReductionStartOp<Cgx_AllReduceOp, [{%h = cgx.all_reduce_start mean(%g)
        groups([[0, 1, 2, 3]]) id(0) layer("params/l1/w", gradient, [64, 128])
        : (tensor<64x128xf32>) -> !cgx.handle<tensor<64x128xf32>>
    %next = stablehlo.dot_general ...
    %r = cgx.wait %h : !cgx.handle<tensor<64x128xf32>>}]>;

def Cgx_AllGatherStartOp : Cgx_MoveStartOp<Cgx_AllGatherOp, [{%h = cgx.all_gather_start(%w) dim(0)
        groups([[0, 1], [2, 3]]) id(1) layer("params/l1/w", weight, [64, 128])
        : (tensor<32x128xf32>) -> !cgx.handle<tensor<64x128xf32>>}]>;

def Cgx_ReduceScatterStartOp : Cgx_ReductionStartOp<Cgx_ReduceScatterOp, [{%h = cgx.reduce_scatter_start mean(%g) dim(0)
        groups([[0, 1, 2, 3]]) id(2) layer("params/l1/w", gradient, [64, 128])
        : (tensor<64x128xf32>) -> !cgx.handle<tensor<16x128xf32>>}]>;

def Cgx_AllToAllStartOp : Cgx_MoveStartOp<Cgx_AllToAllOp, [{%h = cgx.all_to_all_start(%x)
        concat_dim(1) groups([[0, 1]]) id(3) split_dim(0)
        : (tensor<8x16xf32>) -> !cgx.handle<tensor<4x32xf32>>}]>;

def Cgx_BroadcastStartOp : Cgx_MoveStartOp<Cgx_BroadcastOp, [{%h = cgx.broadcast_start(%w) groups([[0, 1, 2, 3]])
        id(4) layer("params/l1/w", weight, [64, 128]) root(0)
        : (tensor<64x128xf32>) -> !cgx.handle<tensor<64x128xf32>>}]>;

def Cgx_PermuteStartOp : Cgx_MoveStartOp<Cgx_PermuteOp, [{%h = cgx.permute_start(%x) groups([[0, 1, 2]]) id(5)
        layer("", activation) source_target_pairs([[0, 1], [1, 2]])
        : (tensor<8x16xf32>) -> !cgx.handle<tensor<8x16xf32>>}]>;

def Cgx_WaitOp : Cgx_Op<"wait", [MemoryEffects<[MemWrite<Cgx_FlightResource>]>,
    RangedTypesMatchWith<"results are what the handle holds", "handle", "results",
                         "::llvm::cast<::cgx::HandleType>($_self).getTypes()">]> {
  let summary = "waits for a collective that was started, and gives its results";
  let description = [{
    Everything that the collective moves has arrived when `wait` ends.

        start        compute     compute    wait
          |---- ranks exchange ----|          |  results

    Example:
    ```mlir
    %r:2 = cgx.wait %h : !cgx.handle<tensor<64x128xf32>, tensor<128xf32>>
    ```

    **Constraints:**
    - (C1) the operand is the handle of a collective started in the same block
    - (C2) results are what the handle holds
  }];
  let arguments = (ins Cgx_HandleType:$handle);
  let results = (outs Variadic<Cgx_Tensor>:$results);
  let assemblyFormat = "$handle attr-dict `:` qualified(type($handle))";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// What the wait is for. Always there in IR that was verified.
    ::cgx::CollectiveOpInterface getStart();
  }];
}

#endif // CGX_DIALECT_CGX_CGXSTARTOPS_TD
