//===-- Xla.td - Passes from a per-rank program back to its framework -*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===--------------------------------------------------------------------------------===//

#ifndef CGX_PASSES_XLA
#define CGX_PASSES_XLA

include "mlir/Pass/PassBase.td"

def KeepShardingsPass : Pass<"cgx-keep-shardings", "::mlir::ModuleOp"> {
  let summary = "Record the caller's shardings of arguments and results";
  let description = [{
    The import records what a rank holds (`cgx.sharding`), and drops the shardings that a partitioner was given for the
    whole tensors. A framework that is to call the rewritten step in the place of its own relies on these: the two
    differ where a step itself splits an argument that it takes whole. So this pass, before the import, copies the
    shardings of public functions' arguments and results to `cgx.caller_sharding`, with their meshes written out, since
    meshes are removed with the computations that name them; `cgx-wrap-per-rank` restores them.

    That framework's loop also keeps the state, and may pass any result on: with another sharding it compiles the step
    anew. The module gets `cgx.caller_keeps_state`, and the import does not warn of state that is not fed back.

    Precondition: an exported step. Postcondition: the same with `cgx.caller_keeps_state`, and `cgx.caller_sharding`
    beside each `sdy.sharding` or `mhlo.sharding` of arguments and results.

    Input:
    ```mlir
    sdy.mesh @mesh = <["data"=4]>
    func.func public @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {} ]>})
    ```
    Output:
    ```mlir
    module attributes {cgx.caller_keeps_state} {
      sdy.mesh @mesh = <["data"=4]>
      func.func public @main(%x: tensor<8x4xf32> {cgx.caller_sharding = #sdy.sharding<mesh<["data"=4]>, [{"data"}, {} ]>, sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {} ]>})
    }
    ```
  }];
  let dependentDialects = ["::cgx::sdy::SdyDialect"];
}

def LowerToXlaFfiPass : Pass<"cgx-lower-to-xla-ffi", "::mlir::ModuleOp"> {
  let summary = "Turn collectives into calls of the runtime by XLA";
  let description = [{
    Each cgx collective becomes one `stablehlo.custom_call` of XLA's typed foreign function interface (api_version 4),
    with all of its operands. XLA runs independent calls in any order, while ranks must issue collectives in one order:
    so each call takes a token that the one before it gives. The token is the number of the rank, a `tensor<ui32>`;
    loops carry it, and branches return it.

    | call | takes | gives |
    |---|---|---|
    | `cgx_begin_step` | the number of the rank | the token |
    | `cgx_collective` | the token, the operands, the tensors that `cgx.bind_optimizer_state` binds to their codecs | the token, the results |
    | `cgx_end_step` | the token | the token; fails where a collective of the step did |

    All calls have the attribute `program`, the option or else the manifest's hash, by which libcgx_xla.so finds the
    manifest. `cgx_collective` also has `collective`, its id there, `operands`, their number, and `kept`, a pair for
    each tensor bound: the operand, and the kind of state (`cgx_kept` of cgx/codec.h).

    On a GPU the rank is that of the device that calls, tensors are read and written in the order of XLA's stream, and
    nobody reads the token.

    A start and its wait become one call in the place of the start: handlers are asynchronous, and XLA continues with
    ops that do not need the results. Constants of many `i1` are written as bytes, since versions of MLIR differ in how
    they write bits.

    The manifest becomes the module's attribute `cgx_rt.manifest`, without the arguments and results of @main, which the
    runtime need not know.

    Precondition: a per-rank program, no collective in explicit form. Postcondition: no operation of cgx. A program
    without collectives calls nothing.

    Input:
    ```mlir
    %r = cgx.all_reduce sum(%g) codec(quantize<bits = 4, ...>) id(0) ... : tensor<64x128xf32>
    ```
    Output:
    ```mlir
    %rank = stablehlo.partition_id : tensor<ui32>
    %t0 = stablehlo.custom_call @cgx_begin_step(%rank) {api_version = 4 : i32, backend_config = {program = "93..."}, has_side_effect = true} : (tensor<ui32>) -> tensor<ui32>
    %t1, %r = stablehlo.custom_call @cgx_collective(%t0, %g) {..., backend_config = {collective = 0 : i64, kept = array<i64>, operands = 1 : i64, program = "93..."}} : ...
    %t2 = stablehlo.custom_call @cgx_end_step(%t1) ...
    ```
  }];
  let options = [
    Option<"program", "program", "std::string", "\"\"", "Name of the program in the calls; by default its hash">
  ];
  let dependentDialects = ["::cgx::stablehlo::StablehloDialect"];
}

def WrapPerRankPass : Pass<"cgx-wrap-per-rank", "::mlir::ModuleOp"> {
  let summary = "Restore the exported signature of a per-rank program";
  let description = [{
    This is the reverse of `cgx-import-manual-computation`: `@main` takes and returns whole tensors again, with the
    shardings that it had (`cgx.caller_sharding`, from `cgx-keep-shardings`), and its body is one
    `sdy.manual_computation` over all axes of the mesh, so that a framework can compile it in the place of the exported
    step. Names, donation and locations are kept. With `per-rank`, or on one rank, @main stays the program of a rank.
    Attributes of cgx are removed.

    Precondition: a per-rank program whose arguments have `cgx.sharding` and `cgx.global_type`; no operation of
    cgx. Postcondition: no attribute of cgx.

    Input:
    ```mlir
    module attributes {cgx.mesh = #cgx.mesh<["data" = 4]>, cgx.num_ranks = 4 : i64} {
      func.func public @main(%x: tensor<16x8xf32> {cgx.global_type = tensor<64x8xf32>, cgx.sharding = #cgx.sharding<[["data"], []]>}) -> ...
    ```
    Output:
    ```mlir
    module {
      sdy.mesh @mesh = <["data"=4]>
      func.func public @main(%x: tensor<64x8xf32>) -> ... {
        %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}, {} ]>] ... manual_axes={"data"} (%arg0: tensor<16x8xf32>) {
    ```
  }];
  let options = [
    Option<"perRank", "per-rank", "bool", "false", "Leave @main the program of one rank">
  ];
  let dependentDialects = ["::cgx::sdy::SdyDialect"];
}

def TakeRankPass : Pass<"cgx-take-rank", "::mlir::ModuleOp"> {
  let summary = "Take the number of the rank as an argument of @main";
  let description = [{
    Where each rank is a process with a device of its own, as under `cgx-run --device`, a compiler that sees one device
    answers 0 to `stablehlo.partition_id` on all of them. So @main takes the number of the rank as one more argument,
    the last, and what asked for the number of a partition or replica has it from there. All ranks compile one program.

    Precondition: the program of a rank. Postcondition: the last argument of @main is a `tensor<ui32>`; no
    `stablehlo.partition_id` or `replica_id` in it, and no number of partitions or replicas on the module: it is a program for one
    device.

    Input:
    ```mlir
    module attributes {mhlo.num_partitions = 4 : i32} {
      func.func public @main(%x: tensor<4xf32>) -> ... {
        %rank = stablehlo.partition_id : tensor<ui32>
        %t = stablehlo.custom_call @cgx_begin_step(%rank) ...
    ```
    Output:
    ```mlir
    module {
      func.func public @main(%x: tensor<4xf32>, %rank: tensor<ui32>) -> ... {
        %t = stablehlo.custom_call @cgx_begin_step(%rank) ...
    ```
  }];
  let dependentDialects = ["::cgx::stablehlo::StablehloDialect"];
}

#endif // CGX_PASSES_XLA
