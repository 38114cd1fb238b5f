// mhlo.sharding, which arguments of modules that were HLO have, and what results have by mhlo.spmd_output_sharding.
// RUN: cgx-opt %s --cgx-import-manual-computation --split-input-file 2>/dev/null | FileCheck %s

// Replicated, split over rows, over columns, over rows by a list of devices as older texts write it, and by
// devices in no order, of which nothing is said.
// CHECK: cgx.mesh = #cgx.mesh<["partition" = 4]>
// CHECK: func.func public @main(
// CHECK-SAME: %arg0: tensor<4x8xf32> {cgx.global_type = tensor<4x8xf32>, cgx.name = "arg0", cgx.sharding = #cgx.sharding<{{\[}}[], []]>}
// CHECK-SAME: %arg1: tensor<4x8xf32> {cgx.global_type = tensor<16x8xf32>, cgx.name = "arg1", cgx.sharding = #cgx.sharding<{{\[}}["partition"], []]>}
// CHECK-SAME: %arg2: tensor<4x8xf32> {cgx.global_type = tensor<4x32xf32>, cgx.name = "arg2", cgx.sharding = #cgx.sharding<{{\[}}[], ["partition"]]>}
// CHECK-SAME: %arg3: tensor<4x8xf32> {cgx.global_type = tensor<16x8xf32>, cgx.name = "arg3", cgx.sharding = #cgx.sharding<{{\[}}["partition"], []]>}
// CHECK-SAME: ->
// CHECK-SAME: cgx.global_type = tensor<4x8xf32>, cgx.name = "result0", cgx.sharding = #cgx.sharding<{{\[}}[], []]>}
// CHECK-SAME: cgx.global_type = tensor<16x8xf32>, cgx.name = "result1", cgx.sharding = #cgx.sharding<{{\[}}["partition"], []]>
module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32, mhlo.spmd_output_sharding = "{{replicated}, {devices=[4,1]<=[4]}}"} {
  func.func public @main(%a: tensor<4x8xf32> {mhlo.sharding = "{replicated}"},
                         %b: tensor<4x8xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"},
                         %c: tensor<4x8xf32> {mhlo.sharding = "{devices=[1,4]<=[4]}"},
                         %d: tensor<4x8xf32> {mhlo.sharding = "{devices=[4,1]0,1,2,3}"})
      -> (tensor<4x8xf32> {mhlo.sharding = "{replicated}"}, tensor<4x8xf32>) {
    %0 = "stablehlo.all_reduce"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %sum = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %sum : tensor<f32>
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = stablehlo.add %0, %a : tensor<4x8xf32>
    %2 = stablehlo.add %c, %d : tensor<4x8xf32>
    return %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>
  }
}

// -----

// Over a mesh that the module declares: columns over its minor axis, rows over its major one, over both, and over both
// the other way round.
// CHECK: cgx.mesh = #cgx.mesh<["x" = 2, "y" = 2]>
// CHECK: func.func public @main(
// CHECK-SAME: %arg0: tensor<4x8xf32> {cgx.global_type = tensor<4x16xf32>, cgx.name = "arg0", cgx.sharding = #cgx.sharding<{{\[}}[], ["y"]]>}
// CHECK-SAME: %arg1: tensor<4x8xf32> {cgx.global_type = tensor<8x8xf32>, cgx.name = "arg1", cgx.sharding = #cgx.sharding<{{\[}}["x"], []]>}
// CHECK-SAME: %arg2: tensor<4x8xf32> {cgx.global_type = tensor<16x8xf32>, cgx.name = "arg2", cgx.sharding = #cgx.sharding<{{\[}}["x", "y"], []]>}
// CHECK-SAME: %arg3: tensor<4x8xf32> {cgx.global_type = tensor<16x8xf32>, cgx.name = "arg3", cgx.sharding = #cgx.sharding<{{\[}}["y", "x"], []]>}
module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<4x8xf32> {mhlo.sharding = "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}"},
                         %b: tensor<4x8xf32> {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"},
                         %c: tensor<4x8xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"},
                         %d: tensor<4x8xf32> {mhlo.sharding = "{devices=[4,1]<=[2,2]T(1,0)}"}) -> tensor<4x8xf32> {
    %0 = "stablehlo.all_reduce"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %sum = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %sum : tensor<f32>
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = stablehlo.add %0, %a : tensor<4x8xf32>
    %2 = stablehlo.add %c, %d : tensor<4x8xf32>
    %3 = stablehlo.add %1, %2 : tensor<4x8xf32>
    return %3 : tensor<4x8xf32>
  }
}

// -----

// Two-dimensional splits of a module that says nothing of a mesh, or declares several, as XLA's partitioner leaves
// them: its axes are those along which something is split.
// CHECK: cgx.mesh = #cgx.mesh<["axis0" = 2, "axis1" = 2]>
// CHECK: func.func public @main(
// CHECK-SAME: %arg0: tensor<4x8xf32> {cgx.global_type = tensor<8x16xf32>, cgx.name = "arg0", cgx.sharding = #cgx.sharding<{{\[}}["axis0"], ["axis1"]]>}
// CHECK-SAME: %arg1: tensor<4x8xf32> {cgx.global_type = tensor<8x16xf32>, cgx.name = "arg1", cgx.sharding = #cgx.sharding<{{\[}}["axis1"], ["axis0"]]>}
// CHECK-SAME: %arg2: tensor<4x8xf32> {cgx.global_type = tensor<16x8xf32>, cgx.name = "arg2", cgx.sharding = #cgx.sharding<{{\[}}["axis0", "axis1"], []]>}
// CHECK-SAME: %arg3: tensor<4x8xf32> {cgx.global_type = tensor<8x8xf32>, cgx.name = "arg3", cgx.sharding = #cgx.sharding<{{\[}}["axis0"], []]>}
// CHECK-SAME: ->
// CHECK-SAME: cgx.global_type = tensor<8x8xf32>, cgx.name = "result0", cgx.sharding = #cgx.sharding<{{\[}}["axis0"], []]>
module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32, mhlo.spmd_output_sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"} {
  sdy.mesh @mesh_1 = <["axis_0"=2, "axis_1"=2]>
  sdy.mesh @mesh = <["axis_0"=2, "axis_1"=1, "axis_2"=2]>
  func.func public @main(%a: tensor<4x8xf32> {mhlo.sharding = "{devices=[2,2]<=[4]}"},
                         %b: tensor<4x8xf32> {mhlo.sharding = "{devices=[2,2]<=[2,2]T(1,0)}"},
                         %c: tensor<4x8xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"},
                         %d: tensor<4x8xf32> {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"}) -> tensor<4x8xf32> {
    %0 = "stablehlo.all_reduce"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %sum = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %sum : tensor<f32>
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = stablehlo.add %0, %a : tensor<4x8xf32>
    %2 = stablehlo.add %c, %d : tensor<4x8xf32>
    %3 = stablehlo.add %1, %2 : tensor<4x8xf32>
    return %3 : tensor<4x8xf32>
  }
}
