//===-- Import.td - passes from an exported step to cgx ----*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_TD
#define CGX_PASSES_IMPORT_TD

include "mlir/Pass/PassBase.td"

def InlineFunctionsPass : Pass<"cgx-inline-functions", "::mlir::ModuleOp"> {
  let summary = "inline the functions that the framework outlined";
  let description = [{
    JAX outlines each function with a jit of its own (relu, log_softmax). This pass inlines the bodies where they are
    called, so that data flow is that of one function. Locations say both where an op was and where it was called.

    Upstream's `--inline` asks the dialect of each op whether it may be inlined, and so leaves calls of functions with
    an op that no dialect defines (MLIR 22 crashes at one with a region). This pass need not ask: an exported function
    is a plain sequence of ops.

    A `stablehlo.composite` becomes the body of its decomposition, too: native code supports none by name, and
    collectives inside must be found.

    Hand-written modules leave their functions public. A `@main`, if there is one, is the step; the functions that it
    calls are inlined into it and dropped, public or not.

    A function is copied to each of its calls. If that would make more than a million operations and a step sixteen
    times as long, or if calls are nested more than 500 deep, an error names the function.

    Precondition: none. Postcondition: no call of a private function with one block
    remains, nor of a public one beside `@main`, except in a recursion; private functions without a use are gone, and
    so are public ones that were called.

    Input:
    ```mlir
    func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = call @relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func private @relu(%x: tensor<4xf32>) -> tensor<4xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
      %0 = stablehlo.maximum %x, %zero : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
    Output:
    ```mlir
    func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
      %0 = stablehlo.maximum %x, %zero : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
}

def FlattenTuplesPass : Pass<"cgx-flatten-tuples", "::mlir::ModuleOp"> {
  let summary = "replace tuples by their elements";
  let description = [{
    Modules that were HLO return tuples, and carry them through loops and branches. Data flow is followed through
    tensors, so each tuple, nested ones included, is replaced by its elements in functions, calls and every op that
    takes or returns one.

    Precondition: none. Postcondition: no tuple. Attributes of an argument or a result that was a tuple are gone.

    Input:
    ```mlir
    func.func public @main(%x: tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<i32>> {
      %0 = stablehlo.constant dense<1> : tensor<i32>
      %1 = stablehlo.tuple %x, %0 : tuple<tensor<4xf32>, tensor<i32>>
      return %1 : tuple<tensor<4xf32>, tensor<i32>>
    }
    ```
    Output:
    ```mlir
    func.func public @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>) {
      %0 = stablehlo.constant dense<1> : tensor<i32>
      return %x, %0 : tensor<4xf32>, tensor<i32>
    }
    ```
  }];
}

def NormalizeHloPass : Pass<"cgx-normalize-hlo", "::mlir::ModuleOp"> {
  let summary = "convert ops of HLO and of partitioners to StableHLO";
  let description = [{
    Modules that were HLO have its instructions in mhlo (`topk`, `erf`, `bitcast`, fusions), and calls that XLA made of
    StableHLO (`@TopK`). Modules that went through a part of Shardy's passes have its constants, edges and named
    computations. Each is converted to StableHLO or chlo: fusions and named computations become their ops; edges,
    barriers and copies their operand; a bitcast the transpositions and the reshape that its layouts express.

    Precondition: no tuple. Postcondition: no op of mhlo, except those without a form in StableHLO, which stay.

    Input:
    ```mlir
    %0 = sdy.constant dense<2.0> : tensor<2x16xf32>
    %1 = "mhlo.fusion"(%x, %0) <{fusion_kind = #mhlo<fusion_kind kLoop>}> ({
    ^bb0(%a: tensor<2x16xf32>, %b: tensor<2x16xf32>):
      %4 = stablehlo.multiply %a, %b : tensor<2x16xf32>
      mhlo.return %4 : tensor<2x16xf32>
    }) : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
    %2:2 = stablehlo.custom_call @TopK(%1) : (tensor<2x16xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
    ```
    Output:
    ```mlir
    %0 = stablehlo.constant dense<2.0> : tensor<2x16xf32>
    %1 = stablehlo.multiply %x, %0 : tensor<2x16xf32>
    %values, %indices = chlo.top_k(%1, k = 3) : tensor<2x16xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)
    ```
  }];
  let dependentDialects = ["::cgx::chlo::ChloDialect", "::cgx::stablehlo::StablehloDialect"];
}

def ExpandComplexCollectivesPass : Pass<"cgx-expand-complex-collectives", "::mlir::ModuleOp"> {
  let summary = "communicate complex numbers as two real ones";
  let description = [{
    Codecs and transports support real numbers only. A collective of complex numbers becomes one of their real and
    imaginary parts, side by side in a new last dimension: the gradient of a complex weight is one layer, and can be
    compressed like any other.

    Precondition: reductions of complex numbers are sums. Postcondition: no collective of complex numbers.

    Input:
    ```mlir
    %1 = "stablehlo.all_reduce"(%0) ... : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
    ```
    Output:
    ```mlir
    %pairs = stablehlo.concatenate %re, %im, dim = 1 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
    %sum = "stablehlo.all_reduce"(%pairs) ... : (tensor<4x2xf32>) -> tensor<4x2xf32>
    ...
    %1 = stablehlo.complex %sum_re, %sum_im : tensor<4xcomplex<f32>>
    ```
  }];
  let dependentDialects = ["::cgx::stablehlo::StablehloDialect"];
}

def ExpandNarrowCollectivesPass : Pass<"cgx-expand-narrow-collectives", "::mlir::ModuleOp"> {
  let summary = "communicate numbers of fewer than eight bits, and f8, as wider ones";
  let description = [{
    Codecs and transports support floats of 16 bits and more, and integers of eight. Narrower integers are communicated
    as those of eight bits, and floats of eight bits that are only moved as their bits. Sums of narrow floats are
    computed in f16, and can be compressed as such: rounding to eight bits after each addition would lose most digits.
    XLA on CPUs does the same. Powers of two (f8E8M0FNU) are communicated as bf16, which represents all of them.

    Precondition: reductions of narrow numbers are sums, products, maxima or minima. Postcondition: no collective of
    narrow numbers.

    Input:
    ```mlir
    %1 = "stablehlo.all_gather"(%0) ... : (tensor<4xf8E4M3FN>) -> tensor<16xf8E4M3FN>
    ```
    Output:
    ```mlir
    %bits = stablehlo.bitcast_convert %0 : (tensor<4xf8E4M3FN>) -> tensor<4xui8>
    %all = "stablehlo.all_gather"(%bits) ... : (tensor<4xui8>) -> tensor<16xui8>
    %1 = stablehlo.bitcast_convert %all : (tensor<16xui8>) -> tensor<16xf8E4M3FN>
    ```
  }];
  let dependentDialects = ["::cgx::stablehlo::StablehloDialect"];
}

def ImportManualComputationPass : Pass<"cgx-import-manual-computation", "::mlir::ModuleOp"> {
  let summary = "convert an exported step to the program of one rank";
  let description = [{
    A framework exports a step with global shapes and, inside, the program of each device on its pieces. This pass
    converts it to the program of one rank: `@main` takes and returns the rank's pieces. Attributes give the name of
    each piece, how the ranks' pieces make up the global tensor, and which argument of the next step a result is.

    Terms: a *mesh* is the grid of ranks; rank numbers run row-major over its
    axes. A result *feeds* an argument when a training loop passes it there.

    Accepted forms:
    - `sdy.manual_computation` (`jax.shard_map`): bodies are inlined in order. Ops
      around them stay: every rank computes them alike, on whole values. An argument
      that such an op reads is therefore kept whole (with a warning when a manual
      computation takes pieces of it), and a rank cuts its piece where a manual
      computation starts. A value that one manual computation leaves in pieces is
      not put together again: an op that reads it is an error.
    - `mhlo.num_replicas = N` (`jax.pmap` before JAX 0.8): the program is that of
      a replica already. What it takes and returns are slices of size 1 of stacks,
      one slice per replica: split in the first dimension. One that is marked
      `mhlo.is_same_data_across_replicas` is replicated, and so are scalars and
      state (what a result feeds) that is no such slice. The next value of a state
      is distributed as the state.
    - a program with collectives and without manual computation: per-rank already.
      State is taken as replicated, and any other argument as split in the first
      dimension.
    - anything else: one rank.

    Rejected, with a message that says what to do, are steps that leave communication to a partitioner (`jit` with
    shardings only), GSPMD's custom calls, and a mesh axis of more than one device that is not manual.

    Feeds are found by names, by the arithmetic of the step and by donated buffers (`tf.aliasing_output`,
    `jax.buffer_donor`, the module's `mhlo.input_output_alias`), in this order. A result that may be the next value of
    an argument, but is not the only candidate, feeds nothing, gets the number of that argument as `cgx.updates`, and
    causes a warning. There is no warning in a module that has `cgx.caller_keeps_state`, whose loop belongs to a
    framework.

    Precondition: `@main`, or a single public function, that contains the manual
    computations itself (`cgx-inline-functions`).
    Postcondition: the per-rank form. A module that has `cgx.num_ranks` already only
    gets what is missing.

    Input:
    ```mlir
    sdy.mesh @mesh = <["data"=4]>
    func.func public @main(%w: tensor<8x2xf32> loc("state['w']"), %x: tensor<64x8xf32> loc("batch"))
        -> (tensor<8x2xf32> {jax.result_info = "result[0]['w']"}) {
      %0 = sdy.manual_computation(%w, %x) in_shardings=[<@mesh, [{}, {} ]>, <@mesh, [{"data"}, {} ]>]
          out_shardings=[<@mesh, [{}, {} ]>] manual_axes={"data"} (%a: tensor<8x2xf32>, %b: tensor<16x8xf32>) {
        ...
        sdy.return %1 : tensor<8x2xf32>
      } : (tensor<8x2xf32>, tensor<64x8xf32>) -> tensor<8x2xf32>
      return %0 : tensor<8x2xf32>
    }
    ```
    Output:
    ```mlir
    module attributes {cgx.mesh = #cgx.mesh<["data" = 4]>, cgx.num_ranks = 4 : i64} {
      func.func public @main(
          %a: tensor<8x2xf32> {cgx.name = "state['w']", cgx.sharding = #cgx.sharding<[[], []]>, cgx.global_type = tensor<8x2xf32>},
          %b: tensor<16x8xf32> {cgx.name = "batch", cgx.sharding = #cgx.sharding<[["data"], []]>, cgx.global_type = tensor<64x8xf32>})
          -> (tensor<8x2xf32> {cgx.name = "result[0]['w']", cgx.feeds = 0 : i64, ...}) {
        ...
        return %1 : tensor<8x2xf32>
      }
    }
    ```
    In the example above, `result[0]['w']` feeds `state['w']`: the same keys below
    the root, the same type.
  }];
  let dependentDialects = ["::cgx::CgxDialect", "::mlir::func::FuncDialect"];
}

def ImportStablehloCollectivesPass : Pass<"cgx-import-stablehlo-collectives", "::mlir::ModuleOp"> {
  let summary = "convert StableHLO's collectives to cgx's";
  let description = [{
    Collectives become `cgx` ops with the identity codec, no layer yet, and ids in
    program order. Replica groups, which StableHLO writes in five ways, become the
    ranks that they stand for. A process is a pair (replica, partition) there; its
    rank is `replica * num_partitions + partition`, the flattened id.

    - channel 0, no global ids: groups of replicas, once for each partition
    - channel > 0, no global ids: groups of replicas, over all partitions together
      (`all_gather`, `all_reduce`, `reduce_scatter`); groups of partitions, once
      for each replica (`all_to_all`, `collective_permute`, `collective_broadcast`)
    - channel > 0 and `use_global_device_ids`: groups of flattened ids
    - mesh axes: one group for each position on the other axes of the mesh
    - no groups: all processes in one group

    Rows of unequal length are padded with -1. A reduction is recognized when its
    body is one add, maximum, minimum or multiply (and, or on `i1`) of its two
    arguments; any other stays as it is, with a remark, since only native lowering
    needs it. Asynchronous forms become the collective that they start.

    Precondition: `mhlo.num_replicas` and `mhlo.num_partitions` say how many
    processes there are; else `cgx.num_ranks`.
    Postcondition: no StableHLO collective with a known reduction remains, and no
    mesh that nothing refers to, once the program is per-rank.

    Input:
    ```mlir
    %1 = "stablehlo.all_reduce"(%0) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %2 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<64x128xf32>) -> tensor<64x128xf32>
    ```
    Output:
    ```mlir
    %1 = cgx.all_reduce sum(%0) codec(identity) groups([[0, 1, 2, 3]]) id(0) layer("", other)
        : tensor<64x128xf32>
    ```
  }];
  let dependentDialects = ["::cgx::CgxDialect"];
}

def ImportShardCollectivesPass : Pass<"cgx-import-shard-collectives", "::mlir::ModuleOp"> {
  let summary = "convert the shard dialect's collectives to cgx's";
  let description = [{
    Takes `all_reduce`, `all_gather`, `reduce_scatter` and `all_to_all` on a static
    grid. The devices of a grid are numbered row-major; a group is the devices that
    differ only in the grid axes that the op names. Ops with a reduction that cgx
    does not have stay, with a remark.

    Precondition: `@main` is the program of one device, as `--shard-partition` leaves it.
    Postcondition: no `shard` collective with a known reduction remains; a grid that
    nothing refers to is gone.

    Input:
    ```mlir
    shard.grid @grid(shape = 2x2)
    %1 = shard.all_reduce %0 on @grid grid_axes = [1] : tensor<8xf32> -> tensor<8xf32>
    ```
    Output:
    ```mlir
    %1 = cgx.all_reduce sum(%0) groups([[0, 1], [2, 3]]) id(0) ... : tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::cgx::CgxDialect"];
}

def HoistReductionsPass : Pass<"cgx-hoist-reductions", "::mlir::ModuleOp"> {
  let summary = "hoist all-reduces that a loop accumulates, and do them once after it";
  let description = [{
    JAX differentiates a `lax.scan` into a loop that accumulates the gradient of each weight, and under
    `shard_map(check_vma=True)` it reduces over the ranks in every iteration. Sums and means are linear: each rank may
    accumulate its own part, and the ranks reduce once, after the loop. A scan over n positions sends n times less.

    Operands of `cgx.all_reduce` sum and mean are moved if their results, or linear maps of them (see
    `cgx-combine-reductions`), are only added to, or subtracted from, values that the loop carries and that nothing else
    in it reads. The order of floating-point additions changes.

    Precondition: none.
    Postcondition: no such reduction is left in a `stablehlo.while`.

    Input:
    ```mlir
    %0:2 = stablehlo.while(%i = %c0, %sum = %begin) ... do {
      %r = cgx.all_reduce sum(%x) ... : tensor<8xf32>
      %s = stablehlo.add %sum, %r : tensor<8xf32>
      stablehlo.return %n, %s : tensor<i32>, tensor<8xf32>
    }
    ```
    Output:
    ```mlir
    %0:2 = stablehlo.while(%i = %c0, %sum = %zero) ... do {
      %s = stablehlo.add %sum, %x : tensor<8xf32>
      stablehlo.return %n, %s : tensor<i32>, tensor<8xf32>
    }
    %r = cgx.all_reduce sum(%0#1) ... : tensor<8xf32>
    %total = stablehlo.add %begin, %r : tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::cgx::stablehlo::StablehloDialect"];
}

def RecognizeReductionsPass : Pass<"cgx-recognize-reductions", "::mlir::ModuleOp"> {
  let summary = "recognize reductions that are written as other ops";
  let description = [{
    Scripts average gradients in other ways than by an all-reduce: by rings, trees and butterflies of permutes, by an
    all_gather, or by an all_to_all, and a sum over the gathered dimension. Such programs send more than they need, and
    with compression the ranks would get different sums:

        g + permute(g)                           over a pair of ranks  ->  all_reduce sum(g)
        reduce add over d (all_gather(g) along d)                      ->  all_reduce sum(g)
        reduce add over d (all_to_all(g) along d)                      ->  reduce_scatter sum(g) along d

    A value that permutes, sums, differences, constant factors and choices by the number of the rank (`RankValues`) make
    of another one is a matrix of factors, with a row for each rank. The pass computes this matrix, so that it
    recognizes every order of hops. A sum over all ranks of a group with one factor is an all-reduce. Hops that are not
    used any more are erased. The order of floating-point additions changes. Rings in loops, those that hand on a slice
    at a time, and those of more than 64 ranks stay.

    Precondition: a per-rank program with cgx collectives.
    Postcondition: no value outside of loops is such a sum.

    Input: two ranks.
    ```mlir
    %0 = cgx.permute(%g) groups([[0, 1]]) id(0) source_target_pairs([[0, 1], [1, 0]]) ... : tensor<32x64xf32>
    %1 = stablehlo.add %g, %0 : tensor<32x64xf32>
    ```
    Output:
    ```mlir
    %1 = cgx.all_reduce sum(%g) groups([[0, 1]]) id(1) ... : tensor<32x64xf32>
    ```
  }];
  let dependentDialects = ["::cgx::CgxDialect", "::cgx::stablehlo::StablehloDialect"];
}

def CombineReductionsPass : Pass<"cgx-combine-reductions", "::mlir::ModuleOp"> {
  let summary = "combine reductions whose results are added up";
  let description = [{
    A parameter that is used twice (tied embeddings, a layer applied in two places) has two gradients, which are added
    up. If autodiff reduces each by itself (`shard_map(check_vma=True)`), the step sends twice as many bytes as
    necessary:

        all_reduce sum(a) + all_reduce sum(b)  ->  all_reduce sum(a + b)

    Terms of one sum, a tree of `add` and `subtract` in one block, are combined if they are results of `cgx.all_reduce`,
    sum or mean, of one process group, algorithm, codec and layer, or linear maps of them: transpose, reshape, reverse,
    negate, a constant factor, a convert to a wider float type unless that makes more bytes. A factor or convert that
    all of them share stays after the reduction, whatever it is. Neither the results nor the maps may have other users.
    Reductions of one value in one block become one. The order of floating-point additions changes.

    Precondition: none.
    Postcondition: no sum of a block has two such terms, and no value is reduced twice in a block.

    Input: the embedding of the input, and its transpose after the last layer.
    ```mlir
    %0 = cgx.all_reduce sum(%a) id(0) ... : tensor<32x64xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<32x64xf32>) -> tensor<64x32xf32>
    %2 = cgx.all_reduce sum(%b) id(1) ... : tensor<64x32xf32>
    %3 = stablehlo.add %1, %2 : tensor<64x32xf32>
    ```
    Output:
    ```mlir
    %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<32x64xf32>) -> tensor<64x32xf32>
    %1 = stablehlo.add %0, %b : tensor<64x32xf32>
    %3 = cgx.all_reduce sum(%1) id(2) ... : tensor<64x32xf32>
    ```
  }];
  let dependentDialects = ["::cgx::stablehlo::StablehloDialect"];
}

def SplitReductionsPass : Pass<"cgx-split-reductions", "::mlir::ModuleOp"> {
  let summary = "split the reduction of a vector of gradients into its layers";
  let description = [{
    Training scripts ravel all gradients into one vector (`ravel_pytree`, `optax.flatten`, DDP buckets) to reduce them
    in one message. Its elements belong to several parameters, each of which has a name, a kind and a codec of its own.
    Whether they travel in one message is decided later, by `cgx-group-collectives`.

    1. An all-reduce whose result is cut by slices is cut likewise:

           all_reduce(concatenate(a, b))  ->  concatenate(all_reduce(a), all_reduce(b))

       Pieces are taken from the values that the operand is made of (concatenations, padding, updates at constant
       indices, reshapes, elementwise ops without other users); otherwise they are slices of it. Zeros, and elements
       that nobody reads, are not reduced.
    2. Slices of a concatenation of reductions, also after elementwise ops with other vectors such as the moments of an
    optimizer, are computed from the pieces:

           slice_i(f(concatenate(a, b), m))  ->  f(piece_i, slice_i(m))

    Results are bitwise equal. Operands of a layer that has a name stay whole.

    Precondition: none; collectives have no labels yet.
    Postcondition: no result of such an all-reduce is cut by slices at constant indices in its block.

    Input:
    ```mlir
    %0 = stablehlo.reshape %a : (tensor<64x128xf32>) -> tensor<8192xf32>
    %1 = stablehlo.concatenate %0, %b, dim = 0 : (tensor<8192xf32>, tensor<128xf32>) -> tensor<8320xf32>
    %2 = cgx.all_reduce sum(%1) id(0) ... : tensor<8320xf32>
    %3 = stablehlo.divide %2, %n : tensor<8320xf32>
    %4 = stablehlo.slice %3 [0:8192] : (tensor<8320xf32>) -> tensor<8192xf32>
    %5 = stablehlo.slice %3 [8192:8320] : (tensor<8320xf32>) -> tensor<128xf32>
    ```
    Output:
    ```mlir
    %0 = cgx.all_reduce sum(%a) id(1) ... : tensor<64x128xf32>
    %1 = cgx.all_reduce sum(%b) id(2) ... : tensor<128xf32>
    %2 = stablehlo.divide %0, %n0 : tensor<64x128xf32>
    %4 = stablehlo.reshape %2 : (tensor<64x128xf32>) -> tensor<8192xf32>
    %5 = stablehlo.divide %1, %n1 : tensor<128xf32>
    ```
  }];
  let dependentDialects = ["::cgx::stablehlo::StablehloDialect"];
}

def ScatterReductionsPass : Pass<"cgx-scatter-reductions", "::mlir::ModuleOp"> {
  let summary = "replace all-reduces of which each rank keeps a slice by reduce-scatters";
  let description = [{
    Partitioners, and optimizers with sharded state, reduce a gradient for all ranks, of which each then keeps a slice.
    A reduce-scatter gives each rank its slice with half of the bytes:

        rank 0   [a0 a1]                 [a0+b0 a1+b1]                 [a0+b0]
        rank 1   [b0 b1]   all_reduce    [a0+b0 a1+b1]  dynamic_slice  [a1+b1]

    The pass computes whether the slices are those of a reduce-scatter: it evaluates the indices for each rank, be they
    products of its position along an axis, remainders of its number or entries of a table. If ranks keep the slices in
    another order than that of the process group, the group takes that order.

    If there are fewer slices than ranks, as with weights that one axis of the mesh splits and another replicates, ranks
    with different slices scatter, and those with the same slice all-reduce the results.

    An `all_reduce` with the algorithm `auto` is rewritten if all of its uses end in such slices, of one dimension, with
    only reshapes, transposes, padding with zeros, and factors or converts of floats between. The shape ops move before
    the reduction, the others after it.

    Precondition: a per-rank program.
    Postcondition: no such `cgx.all_reduce` is left.

    Input: two ranks.
    ```mlir
    %0 = cgx.all_reduce sum(%g) groups([[0, 1]]) id(0) ... : tensor<64x128xf32>
    %rank = stablehlo.partition_id : tensor<ui32>
    %1 = stablehlo.multiply %rank, %c32 : tensor<ui32>
    %2 = stablehlo.dynamic_slice %0, %1, %c0, sizes = [32, 128]
        : (tensor<64x128xf32>, tensor<ui32>, tensor<ui32>) -> tensor<32x128xf32>
    ```
    Output:
    ```mlir
    %2 = cgx.reduce_scatter sum(%g) dim(0) groups([[0, 1]]) id(1) ...
        : (tensor<64x128xf32>) -> tensor<32x128xf32>
    ```
  }];
  let dependentDialects = ["::cgx::stablehlo::StablehloDialect"];
}

def LabelLayersPass : Pass<"cgx-label-layers", "::mlir::ModuleOp"> {
  let summary = "label each operand of a collective with its layer";
  let description = [{
    Decides, for each operand of each collective, the name, kind and shape of its layer, by data flow alone: neither
    names of ops nor the order of collectives matter, and divisions by the number of ranks are ignored.

    Terms: data flow *keeps elements* when each element of a result is made from the
    same number of elements of the operand, place by place: elementwise ops on
    operands of equal size, convert, reshape, transpose, reductions over dimensions
    of size 1, pure movement (slice, concatenate, pad, optimization_barrier). A
    scalar that scales a whole gradient (a clipping factor, a loss scale, a step
    size) does not keep elements: nothing is followed through it.

    A value has its *sign* from another when it changes sign with it: through sums, scales, masks, odd functions, and
    products with something else, also matrix products. A product of two values that both have their sign from one
    source does not have it, nor does a root, an absolute value or an exponential, and a divisor gives none.

    1. *gradient*: a flow that keeps elements and their sign leads from the collective to results that feed arguments
       of the same number of elements. These arguments are the parameter and the optimizer's state for it. The parameter
       is the one on which the collective's operand depends: a gradient is computed with the parameters, never with the
       moments. In a loop of several steps, one round counts. State that is replaced and not updated does not count.
       Of several candidates, the one with "param" in its path is taken, else the first. If there is none (the update
       goes through a matrix product, the loss is linear), it is an argument of the same type on which the operand
       depends, whose path ends like that of reached state (`mu['l1']['w']`, `params['l1']['w']`) and whose next value
       has its sign from the collective. Otherwise it is reached state with "param" in its path, or whose next value is
       the value minus something, unless other collectives compute with the result, as they do with statistics.
       A buffer whose results are cut up to several parameters has one label, the common part of their paths, and no
       shape. Rows that a scatter adds to such state, or to a value that becomes it, are a gradient, too (a sparse
       gradient of an embedding, as the rows that were looked up); its shape is that of the whole table. So is a value
       that is added to a parameter only to take another gradient there (the ascent of sharpness-aware minimisation, the
       inner step of meta-learning).
    *outer_gradient*: a gradient, by rule 1, whose operand is the difference of two values that both consist mostly of
       state: the progress of a rank since the last outer step (DiLoCo), inside branches, too. If the step takes data,
       one of the two is computed from it.
    2. *weight*: an operand that keeps elements of a parameter, of a collective that moves data (all_gather, permute,
       ...), or of a reduction whose result reaches the parameter's next value without meeting, in arithmetic, elements
       of the parameter that come another way (averaged parameters, local SGD). Branches and selections, which leave the
       average out in some steps, are no arithmetic.
    3. *activation*: any other float operand of rank 1 or more that depends on data (arguments that nothing feeds) and
       whose result is used to compute a gradient. Of reductions, only sums of contractions count: sums of sums are
       statistics.
       An activation that no metric of the step depends on (the loss is one; metrics made of gradients are ignored)
       travels backward: *activation_gradient*. An exchange that the backward pass repeats, computed from nothing but
       the sources of the same exchange before, travels forward, and in a step without metrics all do.
       An `all_to_all` whose result goes into a contraction with an expert is *dispatch*, or, backward,
       *combine_gradient*; one of the result of such a contraction is *combine*, or *dispatch_gradient*. An expert is a
       parameter of which the ranks of a group hold different pieces, and whose gradient they do not reduce. Results of
       a router are no activations: a router is a parameter whose product is sorted (`sort`, `top_k`, a reduction to an
       index) to decide the positions of `all_to_all`. Nor are values that no contraction with a parameter meets, such
       as masks.
    4. *other*: everything else: losses, metrics, norms, batch statistics, and statistics of gradients: second moments,
       Fisher information, factors of preconditioners. They are recognized by the operand, whose elements all have one
       sign (squares, Gram matrices), or by the use: no sign reaches a parameter.

    A layer is named by the parameter's path in the state, without the name of the Python variable:
    `state['params']['l1']['w']` is `params/l1/w`. A statistic is named by the state that keeps it (`opt/nu/l1/w`), or
    `params/l1/w#statistic` if none does. An activation is named by the parameter of the contraction that made it, or by
    the first parameter that it meets if it is moved and not summed; of several, by the common part of their paths.
    Different reductions of one kind for one parameter get different names: the first that reaches the state has the
    plain name, others are `params/l1/w#2` and so on. Two that follow each other on the way of one gradient (over one
    axis, then another) are one reduction, and so are two in different branches, of which a step does one.

    A parameter that loops go through piece by piece along its leading dimensions (`lax.scan` over
    stacked layers) is marked as `stacked`; a collective inside of such a loop has the shape of one layer.

    Precondition: the per-rank form (`cgx-import-manual-computation`).
    Postcondition: every collective has its labels; nothing else changed. Operands
    that have a name already keep their label.

    Input:
    ```mlir
    %1 = cgx.all_reduce sum(%0) layer("", other) ... : tensor<64x128xf32>
    %2 = stablehlo.multiply %1, %lr : tensor<64x128xf32>
    %3 = stablehlo.subtract %w, %2 : tensor<64x128xf32>
    return %3 : tensor<64x128xf32>      // feeds %w, which is named state['params']['l1']['w']
    ```
    Output:
    ```mlir
    %1 = cgx.all_reduce sum(%0) layer("params/l1/w", gradient, [64, 128]) ... : tensor<64x128xf32>
    ```
  }];
  let dependentDialects = ["::cgx::CgxDialect"];
}

def LocalStepsPass : Pass<"cgx-local-steps", "::mlir::ModuleOp"> {
  let summary = "convert a data-parallel step to local training with outer steps (local SGD, DiLoCo)";
  let description = [{
    Converts a data-parallel step to local training (local SGD; DiLoCo with `outer=nesterov`). All-reduces of gradients
    are removed: each rank updates its own parameters by its own gradient, in place of a mean, or by the number of ranks
    times its gradient, in place of a sum. After every `every` steps the ranks average their progress, the *outer
    gradient* `anchor - parameter`; the outer optimizer moves the anchor by it, and all ranks continue from the anchor:

        sgd        a - lr d                                      lr = 1
        momentum   m' = momentum m + d,  a - lr m'               lr = 0.7, momentum = 0.9
        nesterov   m' = momentum m + d,  a - lr (momentum m' + d)

    Parameters are written `outer=nesterov<lr=0.7 momentum=0.9>`, or as options of their own. The default is `sgd`,
    plain averaging. With momentum the anchor moves up to `lr / (1 - momentum)` times as far as the ranks did.

    The arguments with the previous names hold the anchors, on which the ranks agree: an evaluation and a saved file
    have the model of the last outer step. The following arguments are added; they are state, too, fed back and saved:

    - `local['state']['params']['w']`, for `state['params']['w']`, holds each rank's own parameter, with a first
      dimension that counts ranks; it begins as the anchor (`cgx.initial`). State that depends on gradients, such as the
      inner optimizer's momentum, becomes each rank's own, too, and gets such a name.
    - `outer_momentum['state']['params']['w']`, at least f32, from zero.
    - `local_steps`: inner steps since the last outer one. All ranks count alike, so that they take the branch
      together.

    With `fragments=4` parameters form four fragments of about equal bytes, which take turns (Streaming DiLoCo). Each is
    averaged after every `every` steps, the first after a quarter of these, the last at their end, so that an outer step
    sends a quarter of the bytes.

    With `overlap` the exchange takes no time of the step's computing (delayed averaging). The outer gradient is `anchor
    - parameter` at the beginning of the step of its turn. It is sent by a `cgx.start` with a condition, transferred
    while that step computes, and applied at its end. The rank keeps its progress meanwhile: `parameter = anchor' +
    (parameter after the inner step - parameter before it)`. Ranks are therefore not equal after an outer step.
    Reductions of metrics move to the end of the step: they run after the outer gradient, and computing would wait for
    them.

    With `axes=replica` a worker consists of all ranks that differ along other axes of the mesh (an island, as in HSDP):
    its ranks gather and scatter as before and share each parameter's anchor, and only reductions across `replica`
    become outer steps. A reduction over both keeps the part that is inside of a worker.

    Metrics and statistics are reduced as before. Results that were made of reduced gradients are averaged, and a flag
    holds if it holds on all ranks. With `every=1` there is no branch and no counter.

    Precondition: none; an exported step is imported first. Gradients are all-reduced over the same ranks, or along
    `axes`, and parameters are whole on each worker.
    Postcondition: no gradient is reduced between workers; branches of outer steps, or their starts, have `cgx.every`, and `cgx.turn` where others come
    after them, and their all-reduces have the
    kind `outer_gradient`. `--cgx-compress` gives them codecs, and `--cgx-report` shows the mean of their bytes.

    Input:
    ```mlir
    %g1 = cgx.all_reduce mean(%g) layer("params/w", gradient, [64, 128]) ...
    %d = stablehlo.multiply %lr, %g1 : tensor<64x128xf32>
    %next = stablehlo.subtract %w, %d : tensor<64x128xf32>
    return %next : tensor<64x128xf32>
    ```
    Output: with `every=50`, in the example above,
    ```mlir
    %own = stablehlo.reshape %local : (tensor<1x64x128xf32>) -> tensor<64x128xf32>
    %d = stablehlo.multiply %lr, %g : tensor<64x128xf32>
    %next = stablehlo.subtract %own, %d : tensor<64x128xf32>
    %1:2 = "stablehlo.if"(%is_outer) ({
      %2 = stablehlo.subtract %w, %next : tensor<64x128xf32>
      %3 = cgx.all_reduce mean(%2) layer("params/w", outer_gradient, [64, 128]) ...
      %4 = stablehlo.subtract %w, %3 : tensor<64x128xf32>
      stablehlo.return %4, %4 : tensor<64x128xf32>, tensor<64x128xf32>
    }, {
      stablehlo.return %w, %next : tensor<64x128xf32>, tensor<64x128xf32>
    }) {cgx.every = 50 : i64} : (tensor<i1>) -> (tensor<64x128xf32>, tensor<64x128xf32>)
    ```
  }];
  let options = [
    Option<"every", "every", "int64_t", "50", "Inner steps for each outer one">,
    Option<"fragments", "fragments", "int64_t", "1", "Number of parts of the parameters that are averaged in turn">,
    Option<"overlap", "overlap", "bool", "false", "Exchange while the inner step computes">,
    ListOption<"axes", "axes", "std::string",
      "Axes of the mesh across which there are outer steps; by default those over which all gradients are reduced">,
    Option<"outer", "outer", "std::string", "\"sgd\"", "Outer optimizer: sgd (plain averaging), momentum or nesterov">,
    Option<"rate", "lr", "std::string", "\"\"", "Learning rate of the outer optimizer; by default 1 for sgd, 0.7 for the others">,
    Option<"momentum", "momentum", "std::string", "\"\"", "Momentum of the outer optimizer, for momentum and nesterov; by default 0.9">
  ];
  let dependentDialects = ["::cgx::CgxDialect", "::cgx::stablehlo::StablehloDialect"];
}

#endif // CGX_PASSES_IMPORT_TD
