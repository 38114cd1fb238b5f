//===-- CgxStartOps.td - asynchronous collectives ---------*- tablegen -*-===//
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
def Cgx_PendingResource : Resource<"::cgx::PendingResource">;

// A start has the effects of the collective inside, which has some where it is started.
def Cgx_StartOp : Cgx_Op<"start", [RecursiveMemoryEffects, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "starts a collective, whose results cgx.wait returns";
  let description = [{
    The collective inside has its usual meaning, but the program continues while ranks exchange. Ranks run started
    collectives in the order of their starts; a collective that is not started runs after those that are pending. The
    assembly has the collective, without `cgx.`, in place of the region.

    With a condition, `when(%due)`, ranks exchange only where it holds. Elsewhere nothing is sent, no state of a codec
    changes, and `cgx.wait` returns zeros. The condition must be equal on all ranks of a group, which
    `--cgx-check-control-flow` checks; `cgx.every` and `cgx.turn` may state how often it holds.

    Example:
    ```mlir
    %h = cgx.start all_reduce mean(%g) groups([[0, 1, 2, 3]]) id(0)
        layer("params/l1/w", gradient, [64, 128]) : tensor<64x128xf32>
    %next = stablehlo.dot_general ...
    %r = cgx.wait %h : !cgx.handle<tensor<64x128xf32>>

    %i = cgx.start when(%due) {cgx.every = 50 : i64} all_reduce mean(%progress) groups([[0, 1, 2, 3]]) id(1)
        layer("params/l1/w", outer_gradient, [64, 128]) : tensor<64x128xf32>
    ```

    **Constraints:**
    - (C1) the region is one collective
    - (C2) the handle holds its results
    - (C3) one `cgx.wait`, in the same block, is the only user of the handle
    - (C4) with a condition, the collective is an `all_reduce`
  }];
  let arguments = (ins Optional<0DTensorOf<[I1]>>:$condition);
  let regions = (region SizedRegion<1>:$region);
  let results = (outs Cgx_HandleType:$handle);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the collective. Verified IR always has one.
    ::cgx::CollectiveOpInterface getCollective();
  }];
}

def Cgx_WaitOp : Cgx_Op<"wait", [MemoryEffects<[MemWrite<Cgx_PendingResource>]>,
    RangedTypesMatchWith<"results are what the handle holds", "handle", "results",
                         "::llvm::cast<::cgx::HandleType>($_self).getTypes()">]> {
  let summary = "waits for a started collective, and returns its results";
  let description = [{
    All transfers of the collective have completed when `wait` ends.

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
    /// Returns the collective that the wait is for. Verified IR always has one.
    ::cgx::CollectiveOpInterface getCollective();
  }];
}

#endif // CGX_DIALECT_CGX_CGXSTARTOPS_TD
