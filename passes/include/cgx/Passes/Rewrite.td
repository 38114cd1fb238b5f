//===-- Rewrite.td - the passes that decide about collectives --*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_REWRITE_TD
#define CGX_PASSES_REWRITE_TD

include "mlir/Pass/PassBase.td"

def EnsurePerRankPass : Pass<"cgx-ensure-per-rank", "::mlir::ModuleOp"> {
  let summary = "imports a step, unless it is a program of cgx collectives already";
  let description = [{
    Runs the pipeline `cgx-import` on a module without cgx collectives. A module that has some was imported before or
    was written by hand, and has what its author knows about its arguments: without `cgx.sharding` nothing is known of
    them, and an import must not claim that they are equal on all ranks.

    Precondition: an exported step, or a per-rank program.
    Postcondition: a per-rank program.

    Input: a program written by hand. Each rank has its own %g.
    ```mlir
    func.func public @main(%g: tensor<64x128xf32>) -> tensor<64x128xf32> {
      %0 = cgx.all_reduce mean(%g) id(0) ... : tensor<64x128xf32>
      return %0 : tensor<64x128xf32>
    }
    ```
    Output: the same.
  }];
  let options = [
    Option<"scatter", "scatter", "bool", "true", "Reduce only the slice that each rank keeps">
  ];
}

def SetRanksPass : Pass<"cgx-set-ranks", "::mlir::ModuleOp"> {
  let summary = "converts a data-parallel step to another number of ranks";
  let description = [{
    `--cgx-set-ranks=8` (short for `ranks=8`) converts a step that was exported for 4 devices to 8 ranks, without
    another export. Each rank takes as many samples as before, so that the batch of all ranks together grows. Means stay
    means: the constants that divide sums by the number of ranks are replaced, also where the loss was averaged before
    it was differentiated. A remark counts them.

    Rejected, with the op or argument, is everything that has another meaning or shape on other ranks: a collective that
    is no all_reduce over all ranks, a sum of floating-point numbers that is not divided by the number of ranks, the
    number of the rank, state that is split over the ranks, a mesh of several axes. State that each rank has of its own
    after `cgx-local-steps` is accepted: both orders of the two passes give the same training. The second order is
    rejected where a number that divides a sum may divide a local gradient as well. Other constants of the script, such
    as a global batch size that was written into the loss, cannot be told from numbers that stay.

    Precondition: an exported step, or a per-rank program.
    Postcondition: a per-rank program for `ranks` ranks.

    Input:
    ```mlir
    module attributes {cgx.mesh = #cgx.mesh<["data" = 4]>, cgx.num_ranks = 4 : i64} {
      %1 = cgx.all_reduce sum(%0) groups([[0, 1, 2, 3]]) ... : tensor<6x5xf32>
      %2 = stablehlo.constant dense<4.0> : tensor<6x5xf32>
      %3 = stablehlo.divide %1, %2 : tensor<6x5xf32>
    ```
    Output, with `--cgx-set-ranks=2`:
    ```mlir
    module attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
      %1 = cgx.all_reduce sum(%0) groups([[0, 1]]) ... : tensor<6x5xf32>
      %2 = stablehlo.constant dense<2.0> : tensor<6x5xf32>
      %3 = stablehlo.divide %1, %2 : tensor<6x5xf32>
    ```
  }];
  let options = [
    Option<"ranks", "ranks", "int64_t", "0", "Number of ranks that the step is to run on">
  ];
}

def FoldReplicatedPass : Pass<"cgx-fold-replicated", "::mlir::ModuleOp"> {
  let summary = "removes reductions of values that all ranks already hold";
  let description = [{
    A value is *replicated* along an axis of the mesh if ranks that differ only along that axis hold the same value.
    Reducing it along such axes needs no communication:

        all_reduce sum(x)            over N ranks  ->  x * N
        all_reduce mean|max|min(x)                 ->  x
        broadcast(x)                               ->  x

    JAX writes such reductions: under `shard_map(check_vma=True)` the gradient of a replicated parameter is reduced in
    the backward pass, and the `pmean` of the training script reduces it again. Removing the second halves the wire
    bytes of the step.

    Constants are replicated, results of collectives along the axes of their groups, and all values that ops without
    effects compute from replicated ones. Arguments are not, whatever their `cgx.sharding` says: under
    `shard_map(check_vma=False)` devices may begin with different values, and the user's mean makes them equal. The
    number of the rank, and random numbers without a key, are not replicated. A value that a loop carries is replicated
    if all of its incoming values are; results of a branch or a loop, if its condition is, too.

    Precondition: a per-rank program. Where the module has no `cgx.mesh`, its
    `cgx.num_ranks` ranks are one axis.
    Postcondition: no `cgx.all_reduce` other than `product`, and no
    `cgx.broadcast`, has an operand known to be replicated along its groups;
    `cgx.folded` of the module lists what is gone, with the reason, for
    `cgx-report`.

    Input:
    ```mlir
    %1 = cgx.all_reduce sum(%0) groups([[0, 1, 2, 3]]) id(0) ... : tensor<128x10xf32>
    %2 = cgx.all_reduce sum(%1) groups([[0, 1, 2, 3]]) id(1) ... : tensor<128x10xf32>
    ```
    Output: the second reduction would add four equal tensors.
    ```mlir
    %1 = cgx.all_reduce sum(%0) groups([[0, 1, 2, 3]]) id(0) ... : tensor<128x10xf32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<128x10xf32>
    %2 = stablehlo.multiply %1, %cst : tensor<128x10xf32>
    ```
  }];
  let dependentDialects = ["::cgx::CgxDialect", "::cgx::stablehlo::StablehloDialect"];
}

def WarnOfRepeatedSumsPass : Pass<"cgx-warn-of-repeated-sums", "::mlir::ModuleOp"> {
  let summary = "warns of gradients that are reduced a second time after they were summed";
  let description = [{
    Under `shard_map(check_vma=True)`, the default of JAX, the gradient of a
    replicated parameter comes out of autodiff as the sum over the ranks. A
    `pmean` of it is the mean of N equal values: the gradient stays the sum, N
    times what the script means. It trains, with N times the learning rate.

    Warns where the operand of a sum, labelled a gradient, is equal on the ranks of its groups and keeps the elements of
    a sum over the same groups. If a loss was divided by N before it was differentiated, the first sum is the mean
    already, and the second one does no harm: there is no warning.

    Precondition: a per-rank program with labels, before `cgx-fold-replicated`
    takes the second reduction away.
    Postcondition: the same.

    Input:
    ```mlir
    %1 = cgx.all_reduce sum(%0) layer("params/w", gradient, [6, 5]) ... : tensor<6x5xf32>
    %2 = cgx.all_reduce sum(%1) layer("params/w", gradient, [6, 5]) ... : tensor<6x5xf32>
    %3 = stablehlo.divide %2, %four : tensor<6x5xf32>
    ```
    Output: the same, and a warning that %3 is four times the mean.
  }];
  let dependentDialects = ["::cgx::CgxDialect"];
}

def WarnOfDivergencePass : Pass<"cgx-warn-of-divergence", "::mlir::ModuleOp"> {
  let summary = "warns of replicated state that is computed from a rank's own data";
  let description = [{
    A step whose author forgot the `pmean` of the gradients runs, and each rank trains on its own part of the data;
    `shard_map(check_vma=False)` does not object. Warns where a result that feeds state is declared equal on all ranks,
    but depends on a split argument without a collective between. The result of a collective counts as equal, so that
    every warning is certain.

    Precondition: a per-rank program.
    Postcondition: the same.

    Input: %x is split, and the result, which feeds %w, is not.
    ```mlir
    func.func @main(%w: tensor<4xf32> {cgx.sharding = #cgx.sharding<[[]]>, ...},
                    %x: tensor<4xf32> {cgx.sharding = #cgx.sharding<[["data"]]>, ...})
        -> (tensor<4xf32> {cgx.feeds = 0 : i64, cgx.sharding = #cgx.sharding<[[]]>, ...}) {
      %0 = stablehlo.subtract %w, %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
    Output: the same, and a warning that names the result and %x.
  }];
}

def CheckControlFlowPass : Pass<"cgx-check-control-flow", "::mlir::ModuleOp"> {
  let summary = "warns of collectives that only some ranks of a group may reach";
  let description = [{
    A collective in a branch or a loop is reached by the ranks for which the condition holds. If it holds on only some
    ranks of a group, these wait for the others: the job may deadlock, perhaps at a step that no test has reached. So
    the condition must be equal on all ranks of the group: computed from arguments that are replicated along the axes of
    the group, or from results of collectives over them.

    For each `stablehlo.while`, `if` and `case` that contains collectives and whose condition is not known to be equal,
    one diagnostic names the collective, the axes of the mesh along which ranks may differ, and, as notes, the condition
    and the value that makes it differ. The analysis is that of `cgx-fold-replicated`. Counters, step numbers and
    reduced losses are equal; the position along one axis of the mesh is equal along the others.

    Precondition: a per-rank program, whose arguments have `cgx.sharding` where they are split. Without it, single
    integers are taken to be equal on all ranks, and so is state whose next value is; nothing is known of other
    arguments.
    Postcondition: the same module.

    Input: `%loss` is computed from the rank's own part of the batch.
    ```mlir
    %big = stablehlo.compare GT, %loss, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %r = "stablehlo.if"(%big) ({
      %0 = cgx.all_reduce mean(%g) groups([[0, 1, 2, 3]]) id(0) ... : tensor<64x128xf32>
      stablehlo.return %0 : tensor<64x128xf32>
    }, {
      stablehlo.return %g : tensor<64x128xf32>
    }) : (tensor<i1>) -> tensor<64x128xf32>
    ```
    Output: the warning "all_reduce with id 0 runs where a condition holds that may differ along axis "data" of the
    mesh...", with notes on `%big` and on the argument `batch['x']`.
  }];
  let options = [
    Option<"action", "action", "std::string", "\"warn\"", "Response to such a collective: warn, error, or ignore">
  ];
}

def CheckActivationsPass : Pass<"cgx-check-activations", "::mlir::ModuleOp"> {
  let summary = "warns where activations are communicated and weights should be";
  let description = [{
    If one axis of the mesh splits the batch and the weights (FSDP), each rank gathers weights and computes on its part
    of the batch. A free partitioner may gather the activations instead, or sum products of them over the ranks. That is
    cheaper with few samples, but not with a real batch, and activations cannot be compressed as weights and gradients
    can.

    Looks for activations in `cgx.all_gather`, `cgx.all_reduce` and `cgx.reduce_scatter` along an axis that splits data
    arguments, if these activations are, or were, multiplied by a weight that the same axis splits. If a weight is
    gathered along such an axis and updated, and no gradient of it is reduced, `cgx.all_to_all` is searched, too. One
    warning gives their bytes, and notes name the weights.

    An axis that splits within samples, such as sequences, is one of model parallelism, and causes no warning. Samples
    lie along the first dimension of data, or along the one that an axis of no weight splits.

    Precondition: a per-rank program with labels.
    Postcondition: the same module.

    Input: `%v` is a part of a weight that `data` splits.
    ```mlir
    %0 = cgx.all_gather(%x) dim(0) layer("", activation) ... : (tensor<8x64xf32>) -> tensor<16x64xf32>
    %1 = stablehlo.dot_general %0, %v, contracting_dims = [1] x [0] : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
    ```
    Output: the warning "activations travel in place of weights: 1 tensor of 4096 bytes, along axis "data" of the
    mesh...".
  }];
  let dependentDialects = ["::cgx::CgxDialect"];
}

def SplitStackedLayersPass : Pass<"cgx-split-stacked-layers", "::mlir::ModuleOp"> {
  let summary = "makes each layer of a stack an operand of its own, where a plan or the user asks";
  let description = [{
    With `lax.scan` over layers, the weights of all layers are one parameter, whose first dimension counts layers. It
    has one name and one codec. If `plan` has no entry for such a parameter but entries for its layers,
    `params/blocks/w[0]`, `params/blocks/w[1]` and so on, or if its name matches a pattern of `layers`, the operand
    becomes one operand for each layer, in the same collective. They travel together, each with its codec, and `cgx-run
    --profile` measures them one by one, which is how such a plan is made.

    Operands of `cgx.all_reduce` are split, and operands of `cgx.all_gather` and `cgx.reduce_scatter` along another
    dimension than the first, if their layer has the shape of a stack.

    Precondition: collectives have layers (`cgx-label-layers`), and were not merged.
    Postcondition: the operands are those that the plan names.

    Input:
    ```mlir
    %r = cgx.all_reduce mean(%g) layer("w", gradient, [2, 64, 128]) ... : tensor<2x64x128xf32>
    ```
    Output:
    ```mlir
    %0 = stablehlo.slice %g [0:1, 0:64, 0:128] : (tensor<2x64x128xf32>) -> tensor<1x64x128xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x64x128xf32>) -> tensor<64x128xf32>
    %2 = stablehlo.slice %g [1:2, 0:64, 0:128] : (tensor<2x64x128xf32>) -> tensor<1x64x128xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x64x128xf32>) -> tensor<64x128xf32>
    %4:2 = cgx.all_reduce mean(%1, %3) layer("w[0]", gradient, [64, 128]) layer("w[1]", gradient, [64, 128]) ...
        : tensor<64x128xf32>, tensor<64x128xf32>
    %5 = stablehlo.reshape %4#0 : (tensor<64x128xf32>) -> tensor<1x64x128xf32>
    %6 = stablehlo.reshape %4#1 : (tensor<64x128xf32>) -> tensor<1x64x128xf32>
    %r = stablehlo.concatenate %5, %6, dim = 0 : (tensor<1x64x128xf32>, tensor<1x64x128xf32>) -> tensor<2x64x128xf32>
    ```
  }];
  let options = [
    ListOption<"layers", "layers", "std::string", "Names of stacks, as globs">,
    Option<"plan", "plan", "std::string", "\"\"", "Plan of cgx-plan">
  ];
  let dependentDialects = ["::cgx::stablehlo::StablehloDialect"];
}

def FilterLayersPass : Pass<"cgx-filter-layers", "::mlir::ModuleOp"> {
  let summary = "decides which operands must stay uncompressed, and records the reason";
  let description = [{
    Small tensors and vectors (biases, scales of normalizations) lose accuracy and save nothing; metrics and losses are
    numbers that people read. For each operand of each collective, writes into `exact_reasons` why it must stay
    uncompressed, or "" if it may be compressed. The reasons, in this order:

    - its layer's name matches a pattern of `exclude`
    - its kind is not among `kinds`, nor covered by one of them (dispatched tokens, and gradients of activations, are
      activations); without `kinds`, it is no gradient, nor a kind that `plan` has codecs for
    - its parameter has fewer than `min-rank` dimensions (a bias [16, 1, 1] has one; a matrix of
      one column has two); without a parameter's
      shape, the operand's dimensions other than 1 count (JAX reduces the
      gradient of a bias as `1x128`)
    - it has fewer than `min-elements` elements

    A vector that holds several parameters (FSDP's flat buffers, raveled gradients) has the rank of the parameters that
    most of its elements belong to. These are the arguments that its name stands for, `params` for `params/w` and
    `params/b`, or, where state itself is such a vector, the matrices that the step makes of it. 1-D parameters in such
    a vector are compressed with the rest.

    The rank and elements of a stack are those of each layer: twelve norm scales in one `12x768` tensor stay
    uncompressed, as they would one by one.

    A pattern matches a whole name; `*` and `?` match `/` as well, `[a-z]` and
    `{w,b}` are understood. A pattern that matches no layer is a warning.

    Precondition: collectives have layers (`cgx-label-layers`).
    Postcondition: every collective has `exact_reasons`, one string per operand.

    Input:
    ```mlir
    %r:2 = cgx.all_reduce mean(%w, %b) layer("params/l1/w", gradient, [64, 128]) layer("params/l1/b", gradient, [128])
        ... : tensor<64x128xf32>, tensor<1x128xf32>
    ```
    Output: with `min-rank=2`, in the example above,
    ```mlir
    %r:2 = cgx.all_reduce mean(%w, %b) exact_reasons("", "1-D parameter") ...
        : tensor<64x128xf32>, tensor<1x128xf32>
    ```
  }];
  let options = [
    ListOption<"kinds", "kinds", "std::string",
               "Kinds that may be compressed: gradient and outer_gradient (default), weight, other, activation or a kind that it covers">,
    ListOption<"exclude", "exclude", "std::string", "Names of layers that stay uncompressed, as globs">,
    Option<"plan", "plan", "std::string", "\"\"", "Plan of cgx-plan: without kinds, the kinds that it has codecs for">,
    Option<"minElements", "min-elements", "int64_t", "::cgx::layers::FilterOptions().minElements", "Smaller operands stay uncompressed">,
    Option<"minRank", "min-rank", "int64_t", "::cgx::layers::FilterOptions().minRank", "Parameters of fewer dimensions stay uncompressed">
  ];
}

def KeepReplicasAlikePass : Pass<"cgx-keep-replicas-alike", "::mlir::ModuleOp"> {
  let summary = "leaves operands uncompressed whose codec would make replicas differ";
  let description = [{
    State that is equal on ranks before a step must be equal after it, with codecs as without. All-reduces, all-gathers
    and broadcasts give the ranks of a group the same bits, since a rank's own part is decoded like the others'.
    Permutes, all_to_alls and reduce_scatters do not: if one contributes to a value that all ranks must hold alike, such
    as a mean that a ring of permutes adds up, a rank's own part is not encoded, and every rank would get another sum.

    For each result of the step that is declared replicated along axes of the mesh (`cgx.sharding`) and is not proved to
    be so, follows the values back that it is computed from, as far as these are not proved replicated either, and marks
    such collectives on the way, in `exact_reasons`, to stay uncompressed. For results that are no state, and for state
    with an entry for each rank (`pmap`), which may be copies of one model, only gradients are marked.

    Precondition: collectives have layers and `exact_reasons`.
    Postcondition: whatever codecs operands without a reason get, results are equal on the ranks on which they are equal
    without codecs.

    Input: of a ring over two ranks, which adds its own gradient to the other's.
    ```mlir
    %1 = cgx.permute(%g) exact_reasons("") groups([[0, 1]]) id(0) layer("w", gradient, [64, 128])
        source_target_pairs([[0, 1], [1, 0]]) : tensor<64x128xf32>
    %2 = stablehlo.add %g, %1 : tensor<64x128xf32>
    ```
    Output:
    ```mlir
    %1 = cgx.permute(%g) exact_reasons("ranks would drift apart in 'state['w']'") ...
    ```
  }];
}

def AssignCodecsPass : Pass<"cgx-assign-codecs", "::mlir::ModuleOp"> {
  let summary = "assigns a codec to every operand that may be compressed: one for all, or those of a plan";
  let description = [{
    Replaces the codecs of all collectives: operands whose `exact_reasons` is "" get the codec of the options, the
    others `#cgx.identity`. If the codec cannot encode an operand, because of its element type, its shape or the
    collective, the operand stays uncompressed and the reason is recorded.

    A parameter that is not given has the default of the family's attribute, which parses `codec` and its parameters:
    `codec=quantize bits=8` and `codec=quantize<bits=8>` are `#cgx.quantize<bits = 8>`. There is an option for each
    parameter of the table of codecs. A format of `cast` stands for the codec: `codec=mxfp4`.

    `back-codec` is parsed like `codec`; the two form a `#cgx.two_way`.

    There is also an option for the codec of each kind of layers: `gradient`, `outer-gradient`, `weight`, `activation`,
    `dispatch`, `combine` and `other`. Its value is a list of words, as in `weight='quantize bits=8 bucket=1024'`. If no
    codec is named, the parameters are those of `quantize`: `weight=bits=8`. `error-feedback`, `error-feedback-decay`,
    `back-codec`, `delta` and `samples` of a kind are among its words: `activation='bits=3 delta=f32 samples=4096'` is
    `#cgx.delta<#cgx.quantize<bits = 3>, samples = 4096, storage = f32>`. The separate options of these names, like
    `codec`, apply to kinds without a codec of their own. For weights, `delta` has no `samples`: `weight='bits=4
    delta=bf16'` sends the change of each rank's part since it was last gathered, and the attribute counts the runs of
    the gather in a step. A gather in a loop or branch whose number of runs is known only at run time stays
    uncompressed.

    `activation` also applies to tokens on their way to experts (`dispatch`) and back (`combine`), unless these have
    codecs of their own. All three apply to both passes, unless `dispatch-gradient`, `combine-gradient` and, after
    these, `activation-gradient` give the backward pass a codec of its own. Changes without a codec (`delta` alone)
    apply to forward activations only; other operands of the kind stay uncompressed. A codec of a kind that no operand
    has is a warning.

    `along` gives codecs of kinds to collectives whose groups lie along given axes of the mesh, and to no others. If
    sharded gradients are scattered within a host and summed between hosts, 8 bits within and 4 between are
    `along="shard<gradient=bits=8> host<gradient=bits=4>"`. A codec of several words is quoted, or in the brackets of a
    family: `along='host<weight="bits=4 delta=bf16">'`. Groups along several axes at once are `host+shard<...>`. An axis
    along which nothing is communicated is a warning.

    `bucket=row` makes a block of each row, so that no two rows share a scale; a row is the last dimension of the part
    of the operand that one rank gets. It is the default of `dispatch` and `combine`: a scale for each token.

    With `plan`, a file that `cgx-plan solve` wrote, each layer has a codec of its own, and the options for one codec
    are ignored; `error-feedback` is added to codecs without. The plan must be of this program: one error lists all
    layers that are missing on either side, or have another size or element type. An operand that must stay uncompressed
    does so whatever the plan says.

    Precondition: `cgx-filter-layers`; a collective without `exact_reasons`
    may be compressed throughout.
    Postcondition: an operand has a codec other than identity if and only if its `exact_reasons` is "" and the options
    name such a codec. If the plan leaves an operand uncompressed, that is the reason.

    Input:
    ```mlir
    %r:2 = cgx.all_reduce mean(%w, %b) exact_reasons("", "1-D parameter") codec(identity, identity) ...
        : tensor<64x128xf32>, tensor<128xf32>
    ```
    Output:
    ```mlir
    %r:2 = cgx.all_reduce mean(%w, %b) exact_reasons("", "1-D parameter")
        codec(quantize<bits = 4, bucket = 128, rounding = stochastic, scale = bf16>, identity) ...
        : tensor<64x128xf32>, tensor<128xf32>
    ```
  }];
  let options = [
    Option<"plan", "plan", "std::string", "\"\"", "Plan of cgx-plan, with a codec for each layer">,
    Option<"codec", "codec", "std::string", "::cgx::layers::CodecOptions().codec",
           "Codec family, with its parameters in angle brackets or as options of their names">,
    Option<"backCodec", "back-codec", "std::string", "\"\"",
           "Codec of the results that an all-reduce sends back, with its parameters in angle brackets; by default that of `codec`">,
    Option<"along", "along", "std::string", "\"\"",
           "Codecs of kinds along axes of the mesh: shard<gradient=bits=8> host<gradient=bits=4>">,
    Option<"errorFeedback", "error-feedback", "std::string", "::cgx::layers::CodecOptions().errorFeedback",
           "Error feedback, by the type of the residual: none, f32, bf16 or int8">,
    Option<"decay", "error-feedback-decay", "double", "::cgx::layers::CodecOptions().decay",
           "Share of an encoding error that error feedback corrects, above 0 and up to 1">
  ];
  let dependentDialects = ["::cgx::CgxDialect"];
}

def FindPipelinesPass : Pass<"cgx-find-pipelines", "::mlir::ModuleOp"> {
  let summary = "names the edges between stages of a pipeline, and drops those that carry nothing";
  let description = [{
    A pipeline in the form of GPipe is a loop of ticks, in each of which a stage computes one microbatch and hands it
    to the next stage by a permute; the backward pass is a second loop that hands gradients of activations back.

        stage 0   | f0 | f1 | f2 | f3 |              forward: pairs [[0, 1], [1, 2]], 6 ticks of 4 microbatches
        stage 1        | f0 | f1 | f2 | f3 |         and 3 stages; in 2 ticks a stage has nothing to do
        stage 2             | f0 | f1 | f2 | f3 |    backward: pairs [[1, 0], [2, 1]]

    A *forward edge* is a permute of an activation in a loop, whose result goes into its operand a round later. It is
    called `pipeline/forward`, that of a second pipeline `pipeline#2/forward`. A *backward edge*, `pipeline/backward` of
    kind `activation_gradient`, is such a permute in another loop of as many rounds, which depends on results of the
    first loop, with the pairs of the forward edge reversed and an operand of the same type. So each direction has a
    codec of its own. In a schedule of one forward and one backward at a time (1F1B), both are in one loop; the backward
    edge is then the one that depends on the result of the other, and not the reverse.

    A permute around a ring also sends from the last stage to the first. A pair is dropped if nothing that the target
    computes depends on its message, since all ops that read it choose something else on that rank (`select(rank == 0,
    microbatch, arrived)`). It is dropped, too, if the source sends zeros: a rank that is no target gets zeros anyway.
    Results are bitwise equal.

    Precondition: collectives have layers (`cgx-label-layers`).
    Postcondition: the same program; edges have names and kinds.

    Input: in the body of a loop of 7 rounds, on 4 ranks,
    ```mlir
    %in = stablehlo.select %is_first, %microbatch, %arrived : tensor<i1>, tensor<4x32xf32>
    %out = stablehlo.tanh %in : tensor<4x32xf32>
    %next = cgx.permute(%out) layer("", activation) source_target_pairs([[0, 1], [1, 2], [2, 3], [3, 0]]) ...
        : tensor<4x32xf32>
    stablehlo.return %next, ...
    ```
    Output:
    ```mlir
    %next = cgx.permute(%out) layer("pipeline/forward", activation) source_target_pairs([[0, 1], [1, 2], [2, 3]]) ...
        : tensor<4x32xf32>
    ```
  }];
}

def SilenceBubblesPass : Pass<"cgx-silence-bubbles", "::mlir::ModuleOp"> {
  let summary = "removes the messages of a pipeline in ticks that have nothing to send";
  let description = [{
    Before its first microbatch and after its last one, a stage of a pipeline computes on meaningless values, and its
    permutes send the results. These messages are not needed.

        stage 0   | f0 | f1 | f2 | f3 | .. | .. |              . is a bubble
        stage 1   | .. | f0 | f1 | f2 | f3 | .. |              edge 0 -> 1 sends after ticks 0 to 3
        stage 2   | .. | .. | f0 | f1 | f2 | f3 |              edge 1 -> 2 sends after ticks 1 to 4

    The pass runs the step on the numbers of ranks and of loop rounds alone, for all ranks at once. So it knows which
    value is chosen in which tick, and which values are zero: the gradient of a loss that is not counted, and all sums
    and products of such zeros. Then it goes back from the results of the step, from the last tick to the first, and
    finds the values that they need. A pair sends nothing in a run
    - in which the source would send zeros: a target without a message gets zeros anyway, or
    - in which no result of the step depends on the message: all ops that read it choose something else there, multiply
      it by zeros, hand it on where it is not needed either, or overwrite it. The loop must begin with zeros there, so
      that a stage sees no other value than in its first tick.

    A pair that never sends is dropped; the attribute `sends` of the permute lists the runs in which the others do.
    Ranks count runs, so that both ends of a pair agree without a message. Results are bitwise equal except for the sign
    of zeros, as long as stages compute finite values from zeros: a product of a zero and an infinity counts as zero.

    The pass changes nothing if the number of ticks depends on data, if permutes stand in branches, if choices depend on
    more than ranks and ticks, or if the step is too long to be run (8 million ops in all ticks together).

    Precondition: `cgx-find-pipelines`, which drops pairs around which nothing ever goes; permutes are not started yet.
    Postcondition: the same program; permutes in loops have `sends` where some pair sends nothing in some run.

    Input: in the body of a loop of 7 rounds, on 4 ranks, which hands on 4 microbatches,
    ```mlir
    %next = cgx.permute(%out) layer("pipeline/forward", activation) source_target_pairs([[0, 1], [1, 2], [2, 3]]) ...
        : tensor<4x32xf32>
    ```
    Output:
    ```mlir
    %next = cgx.permute(%out) layer("pipeline/forward", activation) sends("1111000", "0111100", "0011110")
        source_target_pairs([[0, 1], [1, 2], [2, 3]]) ... : tensor<4x32xf32>
    ```
  }];
}

def CarrySampleIdsPass : Pass<"cgx-carry-sample-ids", "::mlir::ModuleOp"> {
  let summary = "sends sample ids with activations whose changes are sent";
  let description = [{
    A codec of changes (`#cgx.delta`) needs the id of the sample that each row of the operand belongs to. An argument of
    the step holds the ids of the batch, one i32 for each sample: `sample-ids`, or the one called `ids`, `id`,
    `sample_ids` or `sample_id`. Data whose first dimension is as long, and split over the same axes, is the batch.

    The pass follows each operand back to the batch, and the dimension that counts samples with it. All ops on that
    dimension are applied to the ids as well: microbatches are cut by the same reshape, chosen by the same
    `dynamic_slice`, and a stage's choice between its own microbatch and the one that arrived is made for the ids, too.
    Loops carry ids beside activations, and permutes send them uncompressed, as a last operand: four bytes a sample. So
    ids need not be computed from the schedule, and a receiver has those of the sender. Rows of no sample, such as the
    zeros before the first tick, have ids below zero.

    Ids only tell which sample a change belongs to. If they were wrong, both ends would still agree, bit for bit, and
    only the changes would be larger.

    If positions of the batch do not map to themselves (a sum over the batch, samples shuffled by other samples, an op
    that cannot be followed), the pass fails and names the op. It also fails if there is no argument with ids, if the
    dimension of samples is not the operand's first, and if a permute without changes stands on the way.

    Precondition: `cgx-assign-codecs`; permutes are not started yet.
    Postcondition: a permute with a codec of changes has ids as its last operand.

    Input:
    ```mlir
    %m = stablehlo.dynamic_slice %batch, %t, %zero, sizes = [4, 32] : (tensor<16x32xf32>, tensor<i32>, tensor<i32>) -> tensor<4x32xf32>
    %r = cgx.permute(%m) codec(delta<#cgx.quantize<bits = 3>, samples = 64, storage = f32>) ... : tensor<4x32xf32>
    ```
    Output:
    ```mlir
    %m = stablehlo.dynamic_slice %batch, %t, %zero, sizes = [4, 32] : (tensor<16x32xf32>, tensor<i32>, tensor<i32>) -> tensor<4x32xf32>
    %i = stablehlo.dynamic_slice %ids, %t, sizes = [4] : (tensor<16xi32>, tensor<i32>) -> tensor<4xi32>
    %r:2 = cgx.permute(%m, %i) codec(delta<#cgx.quantize<bits = 3>, samples = 64, storage = f32>, identity) ...
        : tensor<4x32xf32>, tensor<4xi32>
    ```
  }];
  let options = [
    Option<"ids", "ids", "std::string", "\"\"", "Argument with the number of each sample of the batch">
  ];
  let dependentDialects = ["::cgx::stablehlo::StablehloDialect"];
}

def ReduceProductsPass : Pass<"cgx-reduce-products", "::mlir::ModuleOp"> {
  let summary = "reduces products of a gradient instead of the gradient, where they have fewer bytes";
  let description = [{
    Weights with low-rank adapters are `w = base + a b`. A partitioner reduces the gradient of `w`, which is as large as
    `w`, and each rank computes from it the gradients of both factors, which are as small as these. The pass computes
    them first, and reduces them:

        (sum G_r) b^T   =   sum (G_r b^T)      of ranks r, where b is the same on all of them

    A gradient that is all-reduced by a sum or a mean is replaced if it is used only in `stablehlo.dot_general` with
    factors that ranks hold alike, through transposes, reshapes, negations and constant factors, and if the products
    together have fewer uncompressed bytes. A gradient with other uses stays, since it must be reduced as a whole.

    Factors are proved to be equal on all ranks from one assumption only: state is equal on all ranks if the step, given
    equal state, returns equal state.

    Floats are added in another order, also without compression, as in `cgx-combine-reductions`. Each product is a layer
    with the name of its parameter, which `cgx-label-layers` finds.

    Precondition: a per-rank program with labels.
    Postcondition: the same; no such all-reduce is left.

    Input: 8192 elements travel.
    ```mlir
    %g = cgx.all_reduce sum(%x) layer("lora", gradient, [64, 128]) ... : tensor<64x128xf32>
    %da = stablehlo.dot_general %g, %b, contracting_dims = [1] x [1] : (tensor<64x128xf32>, tensor<4x128xf32>) -> tensor<64x4xf32>
    %db = stablehlo.dot_general %a, %g, contracting_dims = [0] x [0] : (tensor<64x4xf32>, tensor<64x128xf32>) -> tensor<4x128xf32>
    ```
    Output: 768 elements travel.
    ```mlir
    %0 = stablehlo.dot_general %x, %b, contracting_dims = [1] x [1] : (tensor<64x128xf32>, tensor<4x128xf32>) -> tensor<64x4xf32>
    %da = cgx.all_reduce sum(%0) layer("lora/a", gradient, [64, 4]) ... : tensor<64x4xf32>
    %1 = stablehlo.dot_general %a, %x, contracting_dims = [0] x [0] : (tensor<64x4xf32>, tensor<64x128xf32>) -> tensor<4x128xf32>
    %db = cgx.all_reduce sum(%1) layer("lora/b", gradient, [4, 128]) ... : tensor<4x128xf32>
    ```
  }];
  let dependentDialects = ["::cgx::CgxDialect", "::cgx::stablehlo::StablehloDialect"];
}

def UnscaleGradientsPass : Pass<"cgx-unscale-gradients", "::mlir::ModuleOp"> {
  let summary = "reduces gradients without their loss scale, where error feedback keeps a residual of them";
  let description = [{
    A loss that is multiplied by a scale, so that gradients of f16 do not vanish, gives gradients in units of that
    scale, and the step divides them by it after their reduction. The residual of error feedback is then in units of the
    scale of one step, while the next one may have another: after a scale of 1024 has become 16, the correction is 64
    times too large. The pass divides before the reduction instead:

        (sum x_r) / s   =   sum (x_r / s)       of ranks r, where s is the same on all of them

    The gradient itself is then sent, and its own residual kept. Other users of the reduction (a test for infinity) get
    it multiplied by the scale again. Gradients of f16 would vanish without their scale, so they are sent as f32. With
    codecs of a few bits the wire bytes stay equal, while the report counts the uncompressed bytes of f32. bf16 has the
    exponents of f32, and stays.

    The alternative, to keep the scale and to multiply the residual by the new scale over the old one, would need the
    old scale in every checkpoint.

    *The scale* of an operand is a number computed from a single float argument that the step does not return unchanged.
    The operand was computed with it, too, and the result is divided by it, or multiplied by its reciprocal, with only
    converts, reshapes, transposes and constant factors between.

    The scale is proved to be equal on all ranks from one assumption only: state is equal on all ranks if the step,
    given equal state, returns equal state. The pass leaves a scale in place that is computed from arguments that are
    given anew each time, from each rank's own gradients, or from the reduction itself, and one with a codec that casts
    to few exponents (f16, fp8), for which gradients need it; `cgx-warn-of-lost-residuals` then warns.

    Precondition: `cgx-assign-codecs` gave each operand a codec.
    Postcondition: no all-reduce or reduce-scatter with error feedback is divided by such a scale.

    Input:
    ```mlir
    %s = stablehlo.broadcast_in_dim %scale, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %g = cgx.all_reduce mean(%x) codec(error_feedback<...>) layer("w", gradient, [64, 64]) ... : tensor<64x64xf32>
    %0 = stablehlo.divide %g, %s : tensor<64x64xf32>
    ```
    Output:
    ```mlir
    %s = stablehlo.broadcast_in_dim %scale, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %y = stablehlo.divide %x, %s : tensor<64x64xf32>
    %0 = cgx.all_reduce mean(%y) codec(error_feedback<...>) layer("w", gradient, [64, 64]) ... : tensor<64x64xf32>
    ```
  }];
  let dependentDialects = ["::cgx::stablehlo::StablehloDialect"];
}

def WarnOfLostResidualsPass : Pass<"cgx-warn-of-lost-residuals", "::mlir::ModuleOp"> {
  let summary = "warns where error feedback does not correct encoding errors";
  let description = [{
    With error feedback, the updates that a step applied plus the residual are the sum of the gradients that it was
    given, as long as every result of the collective is applied, in units that stay the same. Warns, once each, where

    - a condition leaves a step out (`where(isfinite(...))`,
      `optax.apply_if_finite`): on one side of it nothing of the results goes
      into the next state. Gradients that are added up until they are applied
      (`optax.MultiSteps`) are not left out;
    - the results are divided by, or multiplied with, a number that the step is
      given and changes, with which the gradients were computed, too: a loss
      scale, where `cgx-unscale-gradients` could not prove that all ranks have
      the same. The residual is in units of the scale of the step that left it.

    Loops count as applying what they are given.

    Precondition: `cgx-assign-codecs` gave each operand a codec.
    Postcondition: the same.

    Input:
    ```mlir
    %g = cgx.all_reduce mean(%x) codec(error_feedback<...>) layer("w", gradient, [64, 64]) ... : tensor<64x64xf32>
    %1 = stablehlo.subtract %w, %g : tensor<64x64xf32>
    %2 = stablehlo.select %finite, %1, %w : tensor<i1>, tensor<64x64xf32>
    ```
    Output: the same, and the warning "layer 'w': error feedback does not make
    up for what steps lose that are left out ...".
  }];
}

def WarnOfUncompressedPass : Pass<"cgx-warn-of-uncompressed", "::mlir::ModuleOp"> {
  let summary = "warns where nothing is compressed, and of f64 gradients, and says what to do";
  let description = [{
    Warns, in one sentence, of cases that `cgx-report` shows row by row:

    - the step is for one device, or has no collective;
    - no operand of a collective is a gradient;
    - gradients are communicated, and each has a reason to stay uncompressed;
    - some gradients are of f64, which no codec takes.

    A codec `identity` that the user asked for is no reason for a warning.

    Precondition: `cgx-filter-layers` and `cgx-assign-codecs` gave each operand a
    codec, or a reason to stay uncompressed.
    Postcondition: the same.

    Input:
    ```mlir
    %1 = cgx.all_reduce sum(%0) exact_reasons("1-D parameter") codec(identity) layer("b", gradient, [128]) ...
        : tensor<128xf32>
    ```
    Output: the same, and the warning "nothing is compressed, though 1 gradient
    travels: 1-D parameter (1); min-rank=1 takes vectors, too". With `identity`, which says that the user asked for that
    codec and for no other, there is no such warning. A step without any collective causes one in any case.
  }];
  let options = [
    Option<"identity", "identity", "bool", "false", "The user asked to compress nothing">
  ];
}

def ReuseGathersPass : Pass<"cgx-reuse-gathers", "::mlir::ModuleOp"> {
  let summary = "keeps gathered values that would be gathered again";
  let description = [{
    Fully sharded training (FSDP, ZeRO-3) gathers the weights of a layer before its forward pass, frees them, and
    gathers them again before its backward pass. JAX writes that as `jax.checkpoint` around a gather, which becomes a
    second `cgx.all_gather` after an `optimization_barrier`. With memory to spare, the first gather serves both, which
    saves a third of the wire bytes of a step.

        forward   gather w1 | l1 | gather w2 | l2 | loss
        backward                                       | l2 | decode w1 | l1
        kept                |--------- w1 --------------------------|

    Of a compressed gather, the payloads of all ranks are kept, at 8 bits a quarter of the weights in f32: the later
    gathers stay, exchange nothing, and decode them again (`decodes_again`). The value is kept, and later gathers are
    erased, where payloads are not shorter than the value, as with uncompressed gathers and small ones, and for gathers
    that send changes (`#cgx.delta`), whose payloads cannot be decoded without the earlier messages.

    Two gathers of one block are the same if they have equal groups, dimension and codecs, and the same operands through
    barriers and equal reshapes, slices, transpositions and conversions.

    If layers are stacked, and both passes are loops over them (`lax.scan`), each trip gathers a slice of the stacked
    weights. The first loop then carries one value more, the gathered values of its trips, and the second takes its
    slice of that in place of its gathers. Both must certainly read the same slices: of a tensor that neither loop
    changes, at indices that go up or down by one and stay in range, in loops of one block that count from a constant to
    a constant. One loop may gather the slice as it is, and the other its reshape without the leading dimension of size
    1. For loops the values are kept, also of compressed gathers.

        forward   i = 0 .. n-1:  w[i] = gather(slice(w, i)) | kept[i] = w[i] | layer
        backward  i = 0 .. n-1:  w[n-1-i] = kept[n-1-i]     | layer

    `memory` bounds the bytes that a rank keeps. Gathers that save the most wire bytes per byte of memory are kept
    first; among equals, the last one is, since it is kept for the shortest time.

    A codec with stochastic rounding rounds each gather independently; with this pass, the backward pass uses the very
    weights of the forward pass. With other codecs, results are bitwise equal.

    Precondition: codecs are assigned, no explicit form.
    Postcondition: a gather that replaces others has `cgx.reuses`, their number, and `keeps_payloads` where payloads are
    kept; one that replaces gathers of later loops has `cgx.loop_reuses`, the number of those, and `cgx.kept_trips`, the
    number of values that are kept. `cgx-report` shows the bytes saved and kept.

    Input:
    ```mlir
    %w1 = cgx.all_gather(%w) dim(0) id(0) ... : (tensor<64x128xf32>) -> tensor<128x128xf32>
    %b:2 = stablehlo.optimization_barrier %w, %x : tensor<64x128xf32>, tensor<8x128xf32>
    %w2 = cgx.all_gather(%b#0) dim(0) id(1) ... : (tensor<64x128xf32>) -> tensor<128x128xf32>
    ```
    Output: with `memory=64KiB`, %w1 in the place of %w2, and
    ```mlir
    %w1 = cgx.all_gather(%w) dim(0) id(0) {cgx.reuses = 1 : i64, ...} : (tensor<64x128xf32>) -> tensor<128x128xf32>
    ```
    or, of a codec of 8 bits, with `memory=17KiB`
    ```mlir
    %w1 = cgx.all_gather(%w) dim(0) id(0) keeps_payloads {cgx.reuses = 1 : i64, ...}
        : (tensor<64x128xf32>) -> tensor<128x128xf32>
    %w2 = cgx.all_gather(%b#0) decodes_again(0) dim(0) id(1) ... : (tensor<64x128xf32>) -> tensor<128x128xf32>
    ```
  }];
  let options = [
    Option<"memory", "memory", "std::string", "\"all\"",
           "Bytes of payloads and gathered tensors that a rank may keep: 64MiB, or all">
  ];
}

def GroupCollectivesPass : Pass<"cgx-group-collectives", "::mlir::ModuleOp"> {
  let summary = "merges small all-reduces that do not depend on each other";
  let description = [{
    Every exchange pays the latency of its messages, however small they are.
    All-reduces of one block that have the same groups, reduction and algorithm
    and do not depend on each other become one variadic all-reduce, a fusion group, in program
    order, as long as the operands together stay within `group-bytes`. Codecs
    and layers stay with their operands; the new collective takes the smallest
    id.

    Ops of a block in which something was merged are ordered by the number of collectives before them, so that the
    operands of a fusion group come before it and the users after it.

    Precondition: none; usually codecs are assigned.
    Postcondition: no two all-reduces of a block could be merged within `group-bytes`,
    taking them in program order.

    Input:
    ```mlir
    %0 = cgx.all_reduce sum(%w) codec(#q) groups(#g) id(0) layer(#w) ... : tensor<64x128xf32>
    %1 = cgx.all_reduce sum(%b) codec(#i) groups(#g) id(1) layer(#b) ... : tensor<128xf32>
    ```
    Output:
    ```mlir
    %0:2 = cgx.all_reduce sum(%w, %b) codec(#q, #i) groups(#g) id(0) layer(#w) layer(#b) ...
        : tensor<64x128xf32>, tensor<128xf32>
    ```
  }];
  let options = [
    Option<"groupBytes", "group-bytes", "uint64_t", "4194304",
           "Uncompressed bytes that a fusion group may hold; larger operands travel alone, 0 merges nothing">
  ];
}

def GroupAsAvailablePass : Pass<"cgx-group-as-available", "::mlir::ModuleOp"> {
  let summary = "merges small all-reduces whose operands become available one after the other";
  let description = [{
    This is the first of the three passes of `cgx-overlap-collectives`. It merges all-reduces as `cgx-group-collectives`
    does, but in the order in which their operands become available: the backward pass computes the gradient of the last
    layer first, and a fusion group starts when its last gradient is available. A reduction that needs one of a group
    closes that group.

    Ops of a block in which something was merged are ordered by the collectives that they need, so that the operands of
    a fusion group come before it and the users after it.

    Precondition: none; usually codecs are assigned.
    Postcondition: no two all-reduces of a block could be merged within `group-bytes`, taking them in the
    order in which their operands become available.

    Input:
    ```mlir
    %g3 = stablehlo.cosine %p3 : tensor<64x64xf32>
    %g2 = stablehlo.cosine %p2 : tensor<64x64xf32>
    %g1 = stablehlo.cosine %p1 : tensor<64x64xf32>
    %r1 = cgx.all_reduce mean(%g1) id(0) ... : tensor<64x64xf32>
    %r2 = cgx.all_reduce mean(%g2) id(1) ... : tensor<64x64xf32>
    %r3 = cgx.all_reduce mean(%g3) id(2) ... : tensor<64x64xf32>
    ```
    Output: with `group-bytes=32768`,
    ```mlir
    %g3 = stablehlo.cosine %p3 : tensor<64x64xf32>
    %g2 = stablehlo.cosine %p2 : tensor<64x64xf32>
    %g1 = stablehlo.cosine %p1 : tensor<64x64xf32>
    %r1 = cgx.all_reduce mean(%g1) id(0) ... : tensor<64x64xf32>
    %r:2 = cgx.all_reduce mean(%g2, %g3) id(1) ... : tensor<64x64xf32>, tensor<64x64xf32>
    ```
  }];
  let options = [
    Option<"groupBytes", "group-bytes", "uint64_t", "524288",
           "Uncompressed bytes that a fusion group may hold; larger operands travel alone, 0 merges nothing">
  ];
}

def OrderByCollectivesPass : Pass<"cgx-order-by-collectives", "::mlir::ModuleOp"> {
  let summary = "orders ops by the collectives that they need";
  let description = [{
    This is the second of the three passes of `cgx-overlap-collectives`. It numbers the collectives of a block in the
    order in which their operands become available. An op is placed after the last of those that it needs, and before
    ops that need a later one: an op that needs no collective, or an early one, does not wait for one that needs a late
    one. Ops that need the same collective keep their order, and so do ops with effects.

    Precondition: none; usually small all-reduces are merged.
    Postcondition: no op of a block comes after one that needs a later collective than it does.

    Input:
    ```mlir
    %g2 = stablehlo.cosine %p2 : tensor<64x64xf32>
    %g1 = stablehlo.cosine %p1 : tensor<64x64xf32>
    %r1 = cgx.all_reduce mean(%g1) id(0) ... : tensor<64x64xf32>
    %u1 = stablehlo.subtract %p1, %r1 : tensor<64x64xf32>
    %r2 = cgx.all_reduce mean(%g2) id(1) ... : tensor<64x64xf32>
    %u2 = stablehlo.subtract %p2, %r2 : tensor<64x64xf32>
    ```
    Output: `%g2` is the first that is there.
    ```mlir
    %g2 = stablehlo.cosine %p2 : tensor<64x64xf32>
    %g1 = stablehlo.cosine %p1 : tensor<64x64xf32>
    %r1 = cgx.all_reduce mean(%g1) id(0) ... : tensor<64x64xf32>
    %r2 = cgx.all_reduce mean(%g2) id(1) ... : tensor<64x64xf32>
    %u2 = stablehlo.subtract %p2, %r2 : tensor<64x64xf32>
    %u1 = stablehlo.subtract %p1, %r1 : tensor<64x64xf32>
    ```
  }];
}

def StartCollectivesPass : Pass<"cgx-start-collectives", "::mlir::ModuleOp"> {
  let summary = "starts collectives as soon as their operands are available, and waits where results are used";
  let description = [{
    This is the last of the three passes of `cgx-overlap-collectives`. It splits each collective into a start right
    after its operands and a `cgx.wait` right before the first use, so that it is transferred while the rank computes:

        compute  | backward l3 | backward l2 | backward l1 | update l3 | ...
        travel                 |  gradients of l3  | of l2        | of l1 |

    If nothing is computed between the two, the collective stays as it is. All ranks run one program, and so have one
    order of starts: that in which operands become available. Results are bitwise equal to those without this pass.

    The operands of gathers of sharded weights are available at the beginning of a step; if all were started at once,
    all weights would be in memory. `prefetch` bounds the bytes of gathered tensors between start and first use: gathers
    start as far ahead of their use as that allows, in the order of their uses. One that alone exceeds the bound starts
    when no other is pending.

    Precondition: codecs are assigned, no explicit form (its ops are not started; that is an error).
    Postcondition: every collective that is not started has nothing to overlap with.

    Input:
    ```mlir
    %g2 = stablehlo.dot_general ...
    %g1 = stablehlo.dot_general ...
    %r1 = cgx.all_reduce mean(%g1) id(0) ... : tensor<64x128xf32>
    %r2 = cgx.all_reduce mean(%g2) id(1) ... : tensor<128x10xf32>
    %u2 = stablehlo.subtract %p2, %r2 : tensor<128x10xf32>
    %u1 = stablehlo.subtract %p1, %r1 : tensor<64x128xf32>
    ```
    Output:
    ```mlir
    %g2 = stablehlo.dot_general ...
    %h2 = cgx.start all_reduce mean(%g2) id(1) ... : tensor<128x10xf32>
    %g1 = stablehlo.dot_general ...
    %h1 = cgx.start all_reduce mean(%g1) id(0) ... : tensor<64x128xf32>
    %r2 = cgx.wait %h2 : !cgx.handle<tensor<128x10xf32>>
    %u2 = stablehlo.subtract %p2, %r2 : tensor<128x10xf32>
    %r1 = cgx.wait %h1 : !cgx.handle<tensor<64x128xf32>>
    %u1 = stablehlo.subtract %p1, %r1 : tensor<64x128xf32>
    ```
  }];
  let options = [
    Option<"prefetch", "prefetch", "std::string", "\"all\"",
           "Bytes of tensors that are being gathered, or wait for their first use: 64MiB, or all">
  ];
}

def BindOptimizerStatePass : Pass<"cgx-bind-optimizer-state", "::mlir::ModuleOp"> {
  let summary = "binds the parameter, moments and learning rate to the codecs that read them";
  let description = [{
    For each operand whose codec reads optimizer state (`gcomp`), finds the arguments of the step that hold the layer's
    parameter, its moments and its learning rate, as far as the codec reads them, and binds them by a
    `cgx.bind_optimizer_state` at the beginning of the step. The parameter is the argument that has the layer's name. A
    moment is an argument whose next value is computed from its last one and from the reduced gradient, element by
    element; the second moment is computed from the square. The learning rate is a single f32 that multiplies, directly
    or negated, every term by which the reduced gradient enters the parameter, but not every term by which it enters a
    moment. A rate that the step computes cannot be bound, since its memory may be reused before the step ends; the
    codec's own `learning_rate` then applies. Earlier bindings are replaced. If an argument is not found, or if there
    are several, an error names the layer and what was looked for.

    Precondition: codecs are assigned, and collectives in their places; layers have the names of parameters.
    Postcondition: each operand whose codec reads something has a `cgx.bind_optimizer_state` that binds it, and no other has one.

    Input:
    ```mlir
    func.func @main(%w: tensor<64x128xf32> {cgx.name = "w"}, %b: tensor<64x128xf32> {cgx.name = "b"}, %eta: tensor<f32>) -> ... {
      %r = cgx.all_reduce mean(%g) codec(gcomp<optimizer = momentum, ...>) id(0) layer("w", gradient, [64, 128]) ...
          : tensor<64x128xf32>
      %0 = stablehlo.multiply %b, %mu : tensor<64x128xf32>
      %1 = stablehlo.add %0, %r : tensor<64x128xf32>
      %eta1 = stablehlo.broadcast_in_dim %eta, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
      %2 = stablehlo.multiply %1, %eta1 : tensor<64x128xf32>
      %3 = stablehlo.subtract %w, %2 : tensor<64x128xf32>
      return %3, %1 : tensor<64x128xf32>, tensor<64x128xf32>
    ```
    Output:
    ```mlir
    func.func @main(%w: tensor<64x128xf32> {cgx.name = "w"}, %b: tensor<64x128xf32> {cgx.name = "b"}, %eta: tensor<f32>) -> ... {
      cgx.bind_optimizer_state parameter(%w : tensor<64x128xf32>) first_moment(%b : tensor<64x128xf32>)
          learning_rate(%eta : tensor<f32>) id(0) operand_number(0)
      %r = cgx.all_reduce mean(%g) ...
    ```
  }];
}

def MergeLayersPass : Pass<"cgx-merge-layers", "::mlir::ModuleOp"> {
  let summary = "encodes layers of one codec as one vector: the scope of an entire model";
  let description = [{
    In each `cgx.all_reduce`, concatenates the operands that have the same lossy codec, element type and kind of layer
    into one operand, and splits the results. A codec that makes a choice, such as the largest elements, then makes it
    among all of them, and its blocks do not end with a layer. The new operand's layer has the names of all, joined by `
    + `.

    Precondition: codecs are assigned, and collectives grouped: layers of different
    collectives are not merged.
    Postcondition: no all-reduce has two such operands.

    Input:
    ```mlir
    %r:2 = cgx.all_reduce mean(%a, %b) codec(#t, #t) layer("a", gradient, [4, 8]) layer("b", gradient, [10]) ...
        : tensor<4x8xf32>, tensor<10xf32>
    ```
    Output:
    ```mlir
    %0 = stablehlo.reshape %a : (tensor<4x8xf32>) -> tensor<32xf32>
    %1 = stablehlo.concatenate %0, %b, dim = 0 : (tensor<32xf32>, tensor<10xf32>) -> tensor<42xf32>
    %2 = cgx.all_reduce mean(%1) codec(#t) layer("a + b", gradient, [42]) ... : tensor<42xf32>
    %3 = stablehlo.slice %2 [0:32] : (tensor<42xf32>) -> tensor<32xf32>
    %r0 = stablehlo.reshape %3 : (tensor<32xf32>) -> tensor<4x8xf32>
    %r1 = stablehlo.slice %2 [32:42] : (tensor<42xf32>) -> tensor<10xf32>
    ```
  }];
  let dependentDialects = ["::cgx::stablehlo::StablehloDialect"];
}

def ChooseOverlapPass : Pass<"cgx-choose-overlap", "::mlir::ModuleOp"> {
  let summary = "overlaps collectives with computing, where that is faster on the measured machine";
  let description = [{
    Makes two variants of the program: one whose collectives are merged by `cgx-group-collectives` and follow one
    another, and one by `cgx-overlap-collectives`. The variant with less time by the cost model is taken. Overlap must
    gain 5 %: less is within the error of the model, and pending collectives need memory of their own.

    The model (`cgx/cost.h`) takes the link, the codecs and the cores from `machine`, a file that `cgx-bench calibrate`
    wrote. A matrix product or a convolution takes its floating-point operations at the rate of the file, another op its
    bytes at the rate of adding up. If ranks have a core to spare, a started collective takes no time from the step's
    computing. Otherwise encoding, adding up and decoding do, and only the waiting for the link is gained. The gain is
    multiplied by the `overlapped_share` of the file, since sending takes some time from computing, too.

    Precondition: codecs are assigned, no explicit form.
    Postcondition: that of `cgx-group-collectives`, or that of `cgx-overlap-collectives`. A remark says which,
    if it is the second.

    Input:
    ```mlir
    %g2 = stablehlo.dot_general ...
    %g1 = stablehlo.dot_general ...
    %r1 = cgx.all_reduce mean(%g1) id(0) ... : tensor<64x128xf32>
    %r2 = cgx.all_reduce mean(%g2) id(1) ... : tensor<128x10xf32>
    ```
    Output: over a slow link
    ```mlir
    %g2 = stablehlo.dot_general ...
    %h2 = cgx.start all_reduce mean(%g2) id(1) ... : tensor<128x10xf32>
    %g1 = stablehlo.dot_general ...
    %r1 = cgx.all_reduce mean(%g1) id(0) ... : tensor<64x128xf32>
    %r2 = cgx.wait %h2 : !cgx.handle<tensor<128x10xf32>>
    ```
  }];
  let dependentDialects = ["::cgx::stablehlo::StablehloDialect"];
  let options = [
    Option<"machineFile", "machine", "std::string", "\"\"", "Machine file of cgx-bench calibrate">,
    Option<"groupBytes", "group-bytes", "uint64_t", "4194304",
           "Uncompressed bytes that a fusion group may hold where collectives follow one another">,
    Option<"overlappedGroupBytes", "overlapped-group-bytes", "uint64_t", "524288",
           "Uncompressed bytes that a fusion group may hold where they overlap">
  ];
}

def ChooseAlgorithmsPass : Pass<"cgx-choose-algorithms", "::mlir::ModuleOp"> {
  let summary = "chooses the algorithm of all-reduces: one for all, or the fastest on the measured machine";
  let description = [{
    Replaces the algorithm `auto` of all-reduces by `algorithm`, with the hosts that `local`, `inside` and `leaders`
    describe if that is `hierarchical`. Without `algorithm`, all-reduces whose operands are uncompressed, and stay so,
    become `one_shot` if they are so short that the latency of a second message exceeds the time of the bytes it would
    save (`cgx_is_for_one_shot` of `cgx/schedule.h`): the bits are the same.

    With `machine`, a file that `cgx-bench calibrate` wrote, `auto` becomes the fastest algorithm by the cost model
    (`cgx/cost.h`); hosts are those of the file unless `local` says otherwise. If an all-reduce would be faster, or as
    fast, with all its operands uncompressed, they become so, and `exact_reasons` has both times: compression that the
    model knows to be slower is not used.

    Precondition: codecs are assigned; usually collectives are grouped, so that the model sees which operands travel
    together.
    Postcondition: with another `algorithm` than auto, or a `machine`, no all-reduce between ranks is `auto`.

    Input: over a link of 100 Gbit/s
    ```mlir
    %r = cgx.all_reduce mean(%g) algorithm(auto) codec(quantize<...>) ...
        : tensor<64x128xf32>
    ```
    Output:
    ```mlir
    %r = cgx.all_reduce mean(%g) algorithm(tree) exact_reasons("0.021 ms exact, 0.054 ms compressed, by the cost model")
        codec(identity) ... : tensor<64x128xf32>
    ```
  }];
  let options = [
    Option<"algorithm", "algorithm", "std::string", "::cgx::layers::AlgorithmOptions().algorithm",
           "auto, or the name of an algorithm (`cgx/algorithm_table.h`, docs/concepts.md)">,
    Option<"machineFile", "machine", "std::string", "\"\"",
           "Machine file of cgx-bench calibrate, by which auto is chosen">,
    Option<"local", "local", "int64_t", "0", "hierarchical: consecutive ranks of a group that are one host">,
    Option<"inside", "inside", "std::string", "::cgx::layers::AlgorithmOptions().inside", "hierarchical: codec between ranks of a host">,
    Option<"leaders", "leaders", "std::string", "::cgx::layers::AlgorithmOptions().leaders",
           "hierarchical: ranks of a host that send to other hosts, all or one">
  ];
}

def DecomposeCollectivesPass : Pass<"cgx-decompose-collectives", "::mlir::ModuleOp"> {
  let summary = "writes compressed all-reduces as encoding, exchange and decoding";
  let description = [{
    Rewrites `cgx.all_reduce` by the algorithm scatter-reduce-allgather into its explicit form: each step becomes
    visible, can be tested, and can be fused with the ops that make the operand. Bytes and results stay the same.

        rank 0  [a0 a1]  compress   |A0|A1|  all_to_all  |A0|B0|  accumulate  s0  compress  |S0|
        rank 1  [b0 b1]     ->      |B0|B1|      ->      |A1|B1|      ->      s1     ->     |S1|

                         all_gather  |S0|S1|  decompress  [s0 s1]
                             ->      |S0|S1|      ->      [s0 s1]

    All-reduces with the algorithm `auto` or `scatter_reduce_allgather` are rewritten, except those with lossless codecs
    only, those with a codec that needs an all-reduce as one op (lowrank, two_way), and those over groups of different
    sizes (chunks must have one static type on all ranks).

    Precondition: codecs are assigned.
    Postcondition: no all-reduce over groups of one size has a lossy codec, unless one of its codecs needs it.

    Input: (4 ranks)
    ```mlir
    %r = cgx.all_reduce mean(%g) codec(#q) groups([[0, 1, 2, 3]]) id(0) layer(#layer)
        : tensor<64x128xf32>
    ```
    Output:
    ```mlir
    %0 = cgx.compress %g phase(contribution) id(0) layer(#layer) operand_number(0)
        : tensor<64x128xf32> -> !cgx.payload<64x128xf32, #q, chunks = 4>
    %1 = cgx.payload_all_to_all %0 groups([[0, 1, 2, 3]]) id(0) operand_number(0)
        : !cgx.payload<64x128xf32, #q, chunks = 4> -> !cgx.payload<64x128xf32, #q, chunks = 4, slots = 4>
    %2 = cgx.decompress_accumulate mean %1 id(0) operand_number(0)
        : !cgx.payload<64x128xf32, #q, chunks = 4, slots = 4> -> tensor<2048xf32>
    %3 = cgx.compress %2 phase(result) id(0) layer(#layer) operand_number(0)
        : tensor<2048xf32> -> !cgx.payload<64x128xf32, #q, chunks = 4, slots = 1>
    %4 = cgx.payload_all_gather %3 groups([[0, 1, 2, 3]]) id(0) operand_number(0)
        : !cgx.payload<64x128xf32, #q, chunks = 4, slots = 1> -> !cgx.payload<64x128xf32, #q, chunks = 4>
    %r = cgx.decompress %4 id(0) operand_number(0)
        : !cgx.payload<64x128xf32, #q, chunks = 4> -> tensor<64x128xf32>
    ```
  }];
}

def ReportPass : Pass<"cgx-report", "::mlir::ModuleOp"> {
  let summary = "prints a row for each operand of each collective, and totals";
  let description = [{
    Lists, for any module with cgx collectives, composite or in explicit form: layer, kind, tensor, raw bytes (of the
    same algorithm without compression), wire bytes, their ratio, and the codec, or why an operand stays uncompressed.
    Bytes are those that leave a rank in one step; the text shows the mean over the ranks, the JSON every rank. The text
    leaves out parameters of a codec that have their defaults, keeps to 100 columns, and puts longer entries into notes
    below the table. Wire bytes are exact for codecs of fixed size. A collective inside of a loop counts once.

    Collectives of stablehlo are not counted; a warning says so if there are no others, since --cgx-import or
    --cgx-compress then comes after this pass.

    The module is not changed.

    Input: any module. Output: on standard error, or in the file `output`,
    ```
    cgx report: 4 ranks, 1 collective, 2 operands; bytes per rank and step (mean over ranks)
    layer        kind      tensor      raw bytes  wire bytes  ratio  codec, why exact
    params/l1/w  gradient  64x128xf32      49152        6576  7.47x  quantize bits=4
    params/l1/b  gradient  128xf32           768         768  1.00x  1-D parameter
    total                                  49920        7344  6.80x
    ```
  }];
  let options = [
    Option<"format", "format", "std::string", "\"text\"", "text, or json for programs">,
    Option<"output", "output", "std::string", "\"\"", "File to write; standard error without">
  ];
}

def VerifyProgramPass : Pass<"cgx-verify-program", "::mlir::ModuleOp"> {
  let summary = "checks what no single op can check";
  let description = [{
    Guards the borders between import, rewriting and lowering. Fails, naming the
    op or value and what would be right, unless

    - (P1) a module with collectives has `cgx.num_ranks`
    - (P2) ids are unique; the ops of an explicit form share theirs, once each per operand
    - (P3) the groups of each collective contain every rank once
    - (P4) an operand with an `exact_reasons` has a lossless codec
    - (P5) where `@main` has `cgx.sharding` and `cgx.global_type`, the axes are those of
      `cgx.mesh` and the local type follows from them
    - (P6) a result that `cgx.feeds` an argument has its type, and no argument is fed twice
    - (P7) the optimizer state that the codecs of a collective's operands read is bound to them by a
      `cgx.bind_optimizer_state`, in tensors of as many elements, and nothing else is
    - (P8) a codec of changes (`#cgx.delta`) belongs to an all-gather with as many `samples` as that has runs in a step,
      or to a permute whose last operand has the ids of the rows: uncompressed, of one dimension, in i32
    - (P9) an all-gather that `decodes_again` comes after the one of that id in its block, which `keeps_payloads` and
      has the same groups, dimension and types of operands, and no codec of changes

    Precondition: a per-rank program, in any stage after import.
    Postcondition: the same module, with (P1) to (P9).

    Input: two collectives with one id.
    ```mlir
    %0 = cgx.all_reduce sum(%a) id(0) ... : tensor<4xf32>
    %1 = cgx.all_reduce sum(%b) id(0) ... : tensor<4xf32>
    ```
    Output: the error "expected ids to be unique, got 0 again", with a note on the first.
  }];
}

#endif // CGX_PASSES_REWRITE_TD
