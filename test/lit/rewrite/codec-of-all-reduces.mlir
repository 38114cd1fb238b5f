// A codec that encodes nothing but all-reduces is given them: a rank that keeps a slice of a sum gets all of it.
// RUN: cgx-opt %s --cgx-compress="codec=lowrank rank=2 min-elements=1" | FileCheck %s --check-prefix=LOWRANK
// RUN: cgx-opt %s --cgx-compress="min-elements=1" | FileCheck %s --check-prefix=QUANTIZE
// RUN: cgx-opt %s --cgx-import | cgx-opt --cgx-compress="codec=lowrank rank=2 min-elements=1" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SCATTERED

// LOWRANK: cgx.all_reduce sum({{.*}}codec(lowrank<rank = 2>
// LOWRANK-NOT: reduce_scatter
// QUANTIZE: cgx.reduce_scatter sum({{.*}}codec(quantize
// SCATTERED: warning: nothing is compressed, though 1 gradient travels: reduce_scatter with lowrank (1)
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["data"=2]>
  func.func public @main(%w: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("params['w']"),
                         %x: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("batch"))
      -> (tensor<64x32xf32> {jax.result_info = "result['w']"}) {
    %0 = sdy.manual_computation(%w, %x) in_shardings=[<@mesh, [{"data"}, {}]>, <@mesh, [{"data"}, {}]>] out_shardings=[<@mesh, [{"data"}, {}]>] manual_axes={"data"} (%p: tensor<32x32xf32>, %b: tensor<4x64xf32>) {
      %whole = "stablehlo.all_gather"(%p) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<32x32xf32>) -> tensor<64x32xf32>
      %h = stablehlo.dot_general %b, %whole, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
      %t = stablehlo.tanh %h : tensor<4x32xf32>
      %g = stablehlo.dot_general %b, %t, contracting_dims = [0] x [0] : (tensor<4x64xf32>, tensor<4x32xf32>) -> tensor<64x32xf32>
      %s = "stablehlo.all_reduce"(%g) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %c: tensor<f32>):
        %sum = stablehlo.add %a, %c : tensor<f32>
        stablehlo.return %sum : tensor<f32>
      }) : (tensor<64x32xf32>) -> tensor<64x32xf32>
      %rank = stablehlo.partition_id : tensor<ui32>
      %c32 = stablehlo.constant dense<32> : tensor<ui32>
      %zero = stablehlo.constant dense<0> : tensor<ui32>
      %begin = stablehlo.multiply %rank, %c32 : tensor<ui32>
      %own = stablehlo.dynamic_slice %s, %begin, %zero, sizes = [32, 32] : (tensor<64x32xf32>, tensor<ui32>, tensor<ui32>) -> tensor<32x32xf32>
      %next = stablehlo.subtract %p, %own : tensor<32x32xf32>
      sdy.return %next : tensor<32x32xf32>
    } : (tensor<64x32xf32>, tensor<8x64xf32>) -> tensor<64x32xf32>
    return %0 : tensor<64x32xf32>
  }
}
