// RUN: cgx-opt %s --split-input-file --cgx-import-manual-computation | FileCheck %s

// One data axis: the batch is split, the state is not. The names come from the
// locations of the arguments and from jax.result_info; what is below their roots
// says which result feeds which argument.

// CHECK: module @step attributes {cgx.mesh = #cgx.mesh<["data" = 4]>, cgx.num_ranks = 4 : i64, mhlo.num_partitions = 4 : i32}
module @step attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["data"=4]>
  // CHECK-LABEL: func.func public @main(
  // CHECK-SAME: %[[W:.*]]: tensor<8x2xf32> {cgx.global_type = tensor<8x2xf32>, cgx.name = "state['w']", cgx.sharding = #cgx.sharding<{{\[\[\], \[\]\]}}>, jax.buffer_donor = true}
  // CHECK-SAME: %[[X:.*]]: tensor<16x8xf32> {cgx.global_type = tensor<64x8xf32>, cgx.name = "batch", cgx.sharding = #cgx.sharding<{{\[\["data"\], \[\]\]}}>}
  // CHECK-SAME: -> (tensor<f32> {cgx.global_type = tensor<f32>, cgx.name = "result[0]", cgx.sharding = #cgx.sharding<[]>, jax.result_info = "result[0]"}
  // CHECK-SAME: tensor<8x2xf32> {cgx.feeds = 0 : i64, cgx.global_type = tensor<8x2xf32>, cgx.name = "result[1]['w']", cgx.sharding = #cgx.sharding<{{\[\[\], \[\]\]}}>, jax.result_info = "result[1]['w']"}
  // CHECK-SAME: tensor<16x2xf32> {cgx.global_type = tensor<64x2xf32>, cgx.name = "result[2]", cgx.sharding = #cgx.sharding<{{\[\["data"\], \[\]\]}}>
  func.func public @main(
      %arg0: tensor<8x2xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("state['w']"),
      %arg1: tensor<64x8xf32> loc("batch"))
      -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<8x2xf32> {jax.result_info = "result[1]['w']"},
          tensor<64x2xf32> {jax.result_info = "result[2]"}) {
    // CHECK-NOT: sdy.manual_computation
    // CHECK: %[[Y:.*]] = stablehlo.dot_general %[[X]], %[[W]]
    // CHECK: %[[L:.*]] = stablehlo.constant
    // CHECK: return %[[L]], %[[W]], %[[Y]] : tensor<f32>, tensor<8x2xf32>, tensor<16x2xf32>
    %0:3 = sdy.manual_computation(%arg0, %arg1)
        in_shardings=[<@mesh, [{}, {}]>, <@mesh, [{"data", ?}, {?}]>]
        out_shardings=[<@mesh, []>, <@mesh, [{}, {}], replicated={"data"}>, <@mesh, [{"data"}, {}]>]
        manual_axes={"data"} (%w: tensor<8x2xf32>, %x: tensor<16x8xf32>) {
      %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x2xf32>) -> tensor<16x2xf32>
      %l = stablehlo.constant dense<0.0> : tensor<f32>
      sdy.return %l, %w, %y : tensor<f32>, tensor<8x2xf32>, tensor<16x2xf32>
    } : (tensor<8x2xf32>, tensor<64x8xf32>) -> (tensor<f32>, tensor<8x2xf32>, tensor<64x2xf32>)
    return %0#0, %0#1, %0#2 : tensor<f32>, tensor<8x2xf32>, tensor<64x2xf32>
  }
}

// -----

// Two axes; a dimension split over both of them; an axis of one device, which
// need not be manual and splits nothing.

// CHECK: cgx.mesh = #cgx.mesh<["data" = 2, "model" = 3, "one" = 1]>, cgx.num_ranks = 6 : i64
sdy.mesh @mesh = <["data"=2, "model"=3, "one"=1]>
// CHECK-LABEL: func.func public @main(
// CHECK-SAME: tensor<4x12xf32> {cgx.global_type = tensor<24x12xf32>, cgx.name = "arg0", cgx.sharding = #cgx.sharding<{{\[\["model", "data"\], \[\]\]}}>}
func.func public @main(%arg0: tensor<24x12xf32>) -> tensor<24x12xf32> {
  // CHECK-NEXT: return %arg0
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"model", "data"}, {"one"}]>]
      out_shardings=[<@mesh, [{"model", "data"}, {}]>] manual_axes={"data", "model"} (%arg1: tensor<4x12xf32>) {
    // A hint to the partitioner says nothing here.
    %1 = sdy.sharding_constraint %arg1 <@mesh, [{}, {"one"}]> : tensor<4x12xf32>
    sdy.return %1 : tensor<4x12xf32>
  } : (tensor<24x12xf32>) -> tensor<24x12xf32>
  return %0 : tensor<24x12xf32>
}

// -----

// Two computations and ops around them, which every rank does alike. The value
// that every rank has whole is cut where a computation takes pieces of it.

sdy.mesh @mesh = <["data"=2, "model"=2]>
// CHECK-LABEL: func.func public @main(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32> {cgx.global_type = tensor<8xf32>, cgx.name = "arg0", cgx.sharding = #cgx.sharding<{{\[\[\]\]}}>}
func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: %[[ABS:.*]] = stablehlo.abs %[[X]] : tensor<8xf32>
  %0 = stablehlo.abs %arg0 : tensor<8xf32>
  // CHECK: %[[RANK:.*]] = stablehlo.partition_id : tensor<ui32>
  // CHECK: %[[TWO:.*]] = stablehlo.constant dense<2> : tensor<ui32>
  // CHECK: %[[ROW:.*]] = stablehlo.divide %[[RANK]], %[[TWO]] : tensor<ui32>
  // CHECK: %[[DATA:.*]] = stablehlo.remainder %[[ROW]], %{{.*}} : tensor<ui32>
  // CHECK: %[[OFFSET:.*]] = stablehlo.multiply %[[DATA]], %{{.*}} : tensor<ui32>
  // CHECK: %[[PIECE:.*]] = stablehlo.dynamic_slice %[[ABS]], %[[OFFSET]], sizes = [4] : (tensor<8xf32>, tensor<ui32>) -> tensor<4xf32>
  // CHECK: %[[NEG:.*]] = stablehlo.negate %[[PIECE]] : tensor<4xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{"data"}]>]
      manual_axes={"data", "model"} (%arg1: tensor<4xf32>) {
    %3 = stablehlo.negate %arg1 : tensor<4xf32>
    sdy.return %3 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: stablehlo.sine %[[NEG]] : tensor<4xf32>
  %2 = sdy.manual_computation(%1) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{"data"}]>]
      manual_axes={"data", "model"} (%arg1: tensor<4xf32>) {
    %3 = stablehlo.sine %arg1 : tensor<4xf32>
    sdy.return %3 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// The form of pmap before JAX 0.8: one replica's program. State and batch are
// slices of stacks; scalars, what is marked as the same, and state that is no
// slice are whole.

// CHECK: cgx.mesh = #cgx.mesh<["replica" = 4]>, cgx.num_ranks = 4 : i64
module @pmap_step attributes {mhlo.num_replicas = 4 : i32, mhlo.num_partitions = 1 : i32} {
  // CHECK-LABEL: func.func public @main(
  // CHECK-SAME: tensor<1x8x2xf32> {cgx.global_type = tensor<4x8x2xf32>, cgx.name = "state['w']", cgx.sharding = #cgx.sharding<{{\[\["replica"\], \[\], \[\]\]}}>
  // CHECK-SAME: tensor<8x2xf32> {cgx.global_type = tensor<8x2xf32>, cgx.name = "state['v']", cgx.sharding = #cgx.sharding<{{\[\[\], \[\]\]}}>
  // CHECK-SAME: tensor<1x16x8xf32> {cgx.global_type = tensor<4x16x8xf32>, cgx.name = "x", cgx.sharding = #cgx.sharding<{{\[\["replica"\], \[\], \[\]\]}}>
  // CHECK-SAME: tensor<3xf32> {cgx.global_type = tensor<3xf32>, cgx.name = "same", cgx.sharding = #cgx.sharding<{{\[\[\]\]}}>
  // CHECK-SAME: tensor<f32> {cgx.global_type = tensor<f32>, cgx.name = "lr"
  // CHECK-SAME: -> (tensor<1x8x2xf32> {cgx.feeds = 0 : i64, cgx.global_type = tensor<4x8x2xf32>
  // CHECK-SAME: tensor<8x2xf32> {cgx.feeds = 1 : i64, cgx.global_type = tensor<8x2xf32>
  // CHECK-SAME: tensor<16x2xf32> {cgx.global_type = tensor<64x2xf32>
  func.func public @main(
      %w: tensor<1x8x2xf32> {tf.aliasing_output = 0 : i32} loc("state['w']"), %v: tensor<8x2xf32> {tf.aliasing_output = 1 : i32} loc("state['v']"),
      %x: tensor<1x16x8xf32> loc("x"), %s: tensor<3xf32> {mhlo.is_same_data_across_replicas = true} loc("same"), %lr: tensor<f32> loc("lr"))
      -> (tensor<1x8x2xf32> {jax.result_info = "result[0]['w']"}, tensor<8x2xf32> {jax.result_info = "result[0]['v']"}, tensor<16x2xf32> {jax.result_info = "result[1]"}) {
    %x0 = stablehlo.reshape %x : (tensor<1x16x8xf32>) -> tensor<16x8xf32>
    %y = stablehlo.dot_general %x0, %v, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x2xf32>) -> tensor<16x2xf32>
    %g = stablehlo.dot_general %x0, %y, contracting_dims = [0] x [0] : (tensor<16x8xf32>, tensor<16x2xf32>) -> tensor<8x2xf32>
    %r = "stablehlo.all_reduce"(%g) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %sum = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %sum : tensor<f32>
    }) : (tensor<8x2xf32>) -> tensor<8x2xf32>
    %n = stablehlo.subtract %v, %r : tensor<8x2xf32>
    %w1 = stablehlo.negate %w : tensor<1x8x2xf32>
    return %w1, %n, %y : tensor<1x8x2xf32>, tensor<8x2xf32>, tensor<16x2xf32>
  }
}

// -----

// One device. The only public function is the step, whatever its name.

// CHECK: cgx.mesh = #cgx.mesh<[]>, cgx.num_ranks = 1 : i64
// CHECK-LABEL: func.func public @main(
// CHECK-SAME: tensor<4xf32> {cgx.global_type = tensor<4xf32>, cgx.name = "arg0", cgx.sharding = #cgx.sharding<{{\[\[\]\]}}>}
// CHECK-SAME: -> (tensor<4xf32> {cgx.global_type = tensor<4xf32>, cgx.name = "result0"
func.func public @update(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.abs %arg0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A grid of the shard dialect is the mesh of a program that --shard-partition made.

// CHECK: cgx.mesh = #cgx.mesh<["axis0" = 4, "axis1" = 2]>, cgx.num_ranks = 8 : i64
shard.grid @grid(shape = 4x2)
func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = shard.all_reduce %arg0 on @grid grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A module that is per-rank already keeps what it says and gets names. What ranks hold of an
// argument without a sharding is not known, and not invented.

// CHECK: cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64
module attributes {cgx.mesh = #cgx.mesh<["data" = 2]>} {
  // CHECK: cgx.global_type = tensor<8xf32>, cgx.name = "mine", cgx.sharding = #cgx.sharding<{{\[\["data"\]\]}}>
  // CHECK-SAME: tensor<2xf32> {cgx.name = "arg1"}
  func.func public @main(
      %arg0: tensor<4xf32> {cgx.name = "mine", cgx.sharding = #cgx.sharding<[["data"]]>, cgx.global_type = tensor<8xf32>},
      %arg1: tensor<2xf32>) {
    return
  }
}
