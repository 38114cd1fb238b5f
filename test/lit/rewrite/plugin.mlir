// Debian's own mlir-opt, with cgx as a plugin, does what cgx-opt does, which keeps locations where there are some.
// RUN: mlir-opt-22 --load-dialect-plugin=%cgx_lib/cgx-plugin.so --load-pass-plugin=%cgx_lib/cgx-plugin.so \
// RUN:   --pass-pipeline='builtin.module(cgx-compress{bits=4 bucket=64 min-elements=1})' --mlir-print-debuginfo %s -o %t.plugin
// RUN: cgx-opt --cgx-compress="bits=4 bucket=64 min-elements=1" %s -o %t.opt
// RUN: cmp %t.plugin %t.opt
// RUN: FileCheck %s < %t.plugin

// CHECK: cgx.all_reduce sum{{.*}}codec(quantize<bits = 4, bucket = 64
module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2]>
  func.func public @main(%w: tensor<8x16xf32> {jax.buffer_donor = true} loc("params['w']"), %x: tensor<16x16xf32> loc("batch")) -> (tensor<8x16xf32> {jax.result_info = "result['w']"}) {
    %0 = sdy.manual_computation(%w, %x) in_shardings=[<@mesh, [{}, {}]>, <@mesh, [{"data"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"data"} (%p: tensor<8x16xf32>, %b: tensor<8x16xf32>) {
      %g = stablehlo.multiply %p, %b : tensor<8x16xf32>
      %sum = "stablehlo.all_reduce"(%g) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
      ^bb0(%l: tensor<f32>, %r: tensor<f32>):
        %s = stablehlo.add %l, %r : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<8x16xf32>) -> tensor<8x16xf32>
      %next = stablehlo.subtract %p, %sum : tensor<8x16xf32>
      sdy.return %next : tensor<8x16xf32>
    } : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
}
