// A step goes back in the signature in which it came: shapes, shardings, donation and names.
// RUN: cgx-opt %s --cgx-keep-shardings --cgx-import --cgx-lower-to-xla --mlir-print-debuginfo | FileCheck %s
// RUN: cgx-opt %s --cgx-keep-shardings --cgx-import --cgx-lower-to-xla=per-rank | FileCheck %s --check-prefix=RANK
// RUN: cgx-opt %s --cgx-keep-shardings --cgx-import --cgx-wrap-per-rank | cgx-opt --cgx-import | FileCheck %s --check-prefix=AGAIN

// CHECK: module @step attributes {
// CHECK-NOT: cgx.
// CHECK-SAME: mhlo.num_partitions = 4 : i32
// CHECK: sdy.mesh @mesh = <["data"=4]>
// CHECK: @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, tf.aliasing_output = 0 : i32} loc("w"), %arg1: tensor<16x8xf32> loc("x"))
// CHECK-SAME: -> (tensor<8x4xf32> {jax.result_info = "result[0]"})
// CHECK: sdy.manual_computation(%arg0, %arg1)
// CHECK-SAME: in_shardings=[<@mesh, [{}, {}]>, <@mesh, [{"data"}, {}]>]
// CHECK-SAME: out_shardings=[<@mesh, [{}, {}]>]
// CHECK-SAME: manual_axes={"data"} (%[[W:.*]]: tensor<8x4xf32> loc("w"), %[[X:.*]]: tensor<4x8xf32> loc("x"))
// CHECK: stablehlo.partition_id
// CHECK: @cgx_begin_step
// CHECK: sdy.return

// RANK: @main(%arg0: tensor<8x4xf32> {sdy.sharding = {{.*}}, tf.aliasing_output = 0 : i32} loc("w"), %arg1: tensor<4x8xf32> loc("x"))
// RANK-NOT: sdy.manual_computation

// A wrapped program can be imported again.
// AGAIN: cgx.mesh = #cgx.mesh<["data" = 4]>
// AGAIN: %arg1: tensor<4x8xf32> {cgx.global_type = tensor<16x8xf32>, {{.*}}cgx.sharding = #cgx.sharding<{{\[\[}}"data"], []]>
// AGAIN: cgx.all_reduce
module @step attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4]>
  func.func public @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, tf.aliasing_output = 0 : i32} loc("w"), %arg1: tensor<16x8xf32> loc("x"))
      -> (tensor<8x4xf32> {jax.result_info = "result[0]"}) {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{}, {}]>, <@mesh, [{"data"}, {}]>]
        out_shardings=[<@mesh, [{}, {}]>] manual_axes={"data"} (%w: tensor<8x4xf32>, %x: tensor<4x8xf32>) {
      %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
      %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<4x8xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
      %s = "stablehlo.all_reduce"(%g) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
          replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %t = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %t : tensor<f32>
      }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      %n = stablehlo.subtract %w, %s : tensor<8x4xf32>
      sdy.return %n : tensor<8x4xf32>
    } : (tensor<8x4xf32>, tensor<16x8xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}
