// A module without cgx collectives is imported; one that has some stays as its author wrote it.
// RUN: cgx-opt %s --cgx-ensure-per-rank --split-input-file | FileCheck %s

// CHECK: module attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64
module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
sdy.mesh @mesh = <["data"=2]>
// CHECK-LABEL: func public @main
// CHECK-SAME: cgx.sharding = #cgx.sharding<{{\[\[}}"data"]]>
// CHECK: cgx.all_reduce sum
func.func public @main(%x: tensor<8xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{}]>]
      manual_axes={"data"} (%a: tensor<4xf32>) {
    %1 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %2 = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
}

// -----

module attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
// CHECK-LABEL: func public @main
// CHECK-NOT: cgx.sharding
func.func public @main(%g: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: cgx.all_reduce
  %0 = cgx.all_reduce mean(%g) groups([[0, 1]]) id(0) layer("g", gradient) : tensor<4xf32>
  return %0 : tensor<4xf32>
}
}
