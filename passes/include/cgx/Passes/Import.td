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
    JAX outlines what was a function with a jit of its own (relu, log_softmax). This
    pass puts the bodies back where they are called, so that data flow is that of
    one function. Locations say both where an op was and where it was called.

    Upstream's `--inline` asks the dialect of each op whether it may be inlined and
    so leaves calls of functions with an op that no dialect defines (MLIR 22
    crashes at one with a region); an exported function is a plain sequence of ops,
    which is all that has to be known here.

    A `stablehlo.composite` becomes the body of its decomposition likewise: native code knows none by name, and
    collectives inside must be found.

    Precondition: none. Postcondition: no call of a private function with one block
    remains, except in a recursion; private functions without a use are gone.

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

def ExpandComplexCollectivesPass : Pass<"cgx-expand-complex-collectives", "::mlir::ModuleOp"> {
  let summary = "have complex numbers travel as two real ones";
  let description = [{
    Codecs and transports know real numbers. A collective of complex numbers becomes one of their real and imaginary
    parts, side by side in a new last dimension: the gradient of a complex weight is one
    layer, and can be compressed like any other.

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

def ImportManualComputationPass : Pass<"cgx-import-manual-computation", "::mlir::ModuleOp"> {
  let summary = "make the program of one rank out of an exported step";
  let description = [{
    A framework exports a step with global shapes and, inside, what each device
    does with its pieces. This pass leaves what one rank does: `@main` takes and
    returns the rank's pieces, and says about each of them its name, how the
    ranks' pieces make up the global tensor, and which argument of the next step
    a result is.

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

    Refused, with a message that says what to do: a step that leaves communication
    to a partitioner (`jit` with shardings only), GSPMD's custom calls, a mesh axis
    of more than one device that is not manual.

    What feeds what is read from names, from the arithmetic of the step and from
    donated buffers (`tf.aliasing_output`, `jax.buffer_donor`, the module's
    `mhlo.input_output_alias`), in this order. A result that seems to be the next
    value of an argument, but is not the only one, feeds nothing, has the number of
    that argument as `cgx.updates`, and is warned of.

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
    %1 = cgx.all_reduce sum(%0) {id = 0 : i64, groups = #cgx.groups<[[0, 1, 2, 3]]>, codecs = [#cgx.identity],
        layers = [#cgx.layer<"", other>], algorithm = #cgx.algorithm<auto>} : tensor<64x128xf32>
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
    %1 = cgx.all_reduce sum(%0) {id = 0 : i64, groups = #cgx.groups<[[0, 1], [2, 3]]>, ...} : tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::cgx::CgxDialect"];
}

def LabelLayersPass : Pass<"cgx-label-layers", "::mlir::ModuleOp"> {
  let summary = "find out which parameter each collective operand belongs to";
  let description = [{
    Decides, for each operand of each collective, the name, kind and shape of its
    layer, by data flow alone: neither names of ops nor the order of collectives
    matter, and no divide by the number of ranks is looked for.

    Terms: data flow *keeps elements* when each element of a result is made from the
    same number of elements of the operand, place by place: elementwise ops on
    operands of equal size, convert, reshape, transpose, reductions over dimensions
    of size 1, pure movement (slice, concatenate, pad, optimization_barrier). A
    scalar that scales a whole gradient (a clipping factor, a loss scale, a step
    size) does not keep elements: nothing is followed through it.

    1. *gradient*: what keeps elements leads from the collective to results that feed
       arguments of the same number of elements. These arguments are the parameter
       and the optimizer's state for it. The parameter is the one on which the
       collective's operand depends: a gradient is computed with the parameters,
       never with the moments. State that is replaced and not updated does not count.
       Of several, the one with "param" in its path, else the first. If there is
       none (the update goes through a matrix product, the loss is linear): an
       argument of the same type on which the operand depends and whose path ends
       like that of reached state (`mu['l1']['w']`, `params['l1']['w']`); else reached state
       with "param" in its path, or whose next value is the value minus something,
       unless other collectives compute with the result, as they do with statistics.
       Results in one buffer are cut up to several parameters: one label, the
       common part of their paths, no shape.
    2. *weight*: an operand that keeps elements of a parameter, of a collective that
       moves data (all_gather, permute, ...), or that is the only way by which they
       come to the parameter's next value (averaged parameters, local SGD).
    3. *activation*: any other float operand of rank 1 or more that depends on data
       (arguments that nothing feeds) and whose result is used to compute a
       gradient. Of reductions only sums, and only of what a contraction made: sums
       of sums are statistics.
    4. *other*: everything else: losses, metrics, norms, batch statistics.

    A layer is named by the parameter's path in the state, without the name of the
    Python variable: `state['params']['l1']['w']` is `params/l1/w`.

    Precondition: the per-rank form (`cgx-import-manual-computation`).
    Postcondition: every collective has its labels; nothing else changed. Operands
    that have a name already keep their label.

    Input:
    ```mlir
    %1 = cgx.all_reduce sum(%0) {layers = [#cgx.layer<"", other>], ...} : tensor<64x128xf32>
    %2 = stablehlo.multiply %1, %lr : tensor<64x128xf32>
    %3 = stablehlo.subtract %w, %2 : tensor<64x128xf32>
    return %3 : tensor<64x128xf32>      // feeds %w, which is named state['params']['l1']['w']
    ```
    Output:
    ```mlir
    %1 = cgx.all_reduce sum(%0) {layers = [#cgx.layer<"params/l1/w", gradient, [64, 128]>], ...} : tensor<64x128xf32>
    ```
  }];
  let dependentDialects = ["::cgx::CgxDialect"];
}

#endif // CGX_PASSES_IMPORT_TD
