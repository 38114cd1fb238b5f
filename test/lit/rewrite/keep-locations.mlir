// cgx-opt keeps the locations of its input, so that later errors name lines of Python.
// RUN: cgx-opt %s --cgx-compress="min-elements=1" -o %t && FileCheck %s --input-file=%t
// RUN: cgx-opt %s --cgx-compress="min-elements=1" -o %t && cgx-opt %t -o %t.again && FileCheck %s --input-file=%t.again

// The argument, the matrix product and the gradient's reduction.
// CHECK-DAG: #[[PRODUCT_LINE:loc[0-9]*]] = loc("model.py":12:8 to :20)
// CHECK-DAG: #[[SUM_LINE:loc[0-9]*]] = loc("train.py":30:11 to :29)
// CHECK-DAG: #[[PRODUCT:loc[0-9]*]] = loc("dot_general"(#[[PRODUCT_LINE]]))
// CHECK-DAG: #[[SUM:loc[0-9]*]] = loc("psum"(#[[SUM_LINE]]))
// CHECK-DAG: loc("params['w']")
// CHECK-DAG: stablehlo.dot_general {{.*}} loc(#[[PRODUCT]])
// CHECK-DAG: cgx.all_reduce {{.*}} loc(#[[SUM]])
#loc1 = loc("model.py":12:8 to :20)
#loc2 = loc("train.py":30:11 to :29)
#product = loc("dot_general"(#loc1))
#sum = loc("psum"(#loc2))
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["data"=2]>
  func.func public @main(%w: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("params['w']"),
                         %x: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("batch"))
      -> (tensor<64x32xf32> {jax.result_info = "result['w']"}) {
    %0 = sdy.manual_computation(%w, %x) in_shardings=[<@mesh, [{}, {}]>, <@mesh, [{"data"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"data"} (%p: tensor<64x32xf32>, %b: tensor<4x64xf32>) {
      %h = stablehlo.dot_general %b, %p, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32> loc(#product)
      %t = stablehlo.tanh %h : tensor<4x32xf32>
      %g = stablehlo.dot_general %b, %t, contracting_dims = [0] x [0] : (tensor<4x64xf32>, tensor<4x32xf32>) -> tensor<64x32xf32>
      %s = "stablehlo.all_reduce"(%g) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %c: tensor<f32>):
        %sum = stablehlo.add %a, %c : tensor<f32>
        stablehlo.return %sum : tensor<f32>
      }) : (tensor<64x32xf32>) -> tensor<64x32xf32> loc(#sum)
      %next = stablehlo.subtract %p, %s : tensor<64x32xf32>
      sdy.return %next : tensor<64x32xf32>
    } : (tensor<64x32xf32>, tensor<8x64xf32>) -> tensor<64x32xf32>
    return %0 : tensor<64x32xf32>
  }
}
