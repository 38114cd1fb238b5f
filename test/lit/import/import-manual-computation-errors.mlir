// RUN: cgx-opt %s --split-input-file --cgx-import-manual-computation --verify-diagnostics

// Checks what the import rejects, and that each message says what to do about it.

sdy.mesh @mesh = <["data"=2, "model"=2]>
func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'sdy.manual_computation' mesh axis "model" of size 2 is not manual, so a partitioner would communicate over it; name it in shard_map's axis_names}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{"data"}]>] manual_axes={"data"} (%arg1: tensor<4xf32>) {
    sdy.return %arg1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["data"=2], device_ids=[1, 0]>
func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected a mesh whose devices are in order, got #sdy.mesh<["data"=2], device_ids=[1, 0]>; ranks are numbered row-major}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{"data"}]>] manual_axes={"data"} (%arg1: tensor<4xf32>) {
    sdy.return %arg1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["data"=4]>
func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{a dimension is split over a part of mesh axis "data"; make that part a mesh axis of its own}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"data":(1)2}]>] out_shardings=[<@mesh, [{"data":(1)2}]>] manual_axes={"data"} (%arg1: tensor<4xf32>) {
    sdy.return %arg1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["data"=2]>
func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{a value is left unreduced by #sdy.sharding<@mesh, [{}], unreduced={"data"}>; reduce it inside shard_map (psum, pmean)}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{}], unreduced={"data"}>] manual_axes={"data"} (%arg1: tensor<4xf32>) {
    %1 = stablehlo.concatenate %arg1, %arg1, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["data"=2]>
func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{"data"}]>] manual_axes={"data"} (%arg1: tensor<4xf32>) {
    sdy.return %arg1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error@+1 {{'stablehlo.abs' is outside of shard_map and reads the result of 'sdy.manual_computation', which is split as #cgx.sharding<[["data"]]>; move the op into shard_map}}
  %1 = stablehlo.abs %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["data"=2]>
func.func public @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"data"}, {}]>] out_shardings=[<@mesh, [{"data"}, {}]>] manual_axes={"data"} (%arg1: tensor<4x8xf32>) {
    sdy.return %arg1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // expected-error@+1 {{takes the result of 'sdy.manual_computation' split as #cgx.sharding<[[], ["data"]]>, but it is split as #cgx.sharding<[["data"], []]>}}
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{}, {"data"}]>] out_shardings=[<@mesh, [{}, {"data"}]>] manual_axes={"data"} (%arg1: tensor<8x4xf32>) {
    sdy.return %arg1 : tensor<8x4xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["data"=2]>
func.func public @main(%arg0: tensor<8xf32> loc("batch")) -> (tensor<8xf32>, tensor<8xf32>) {
  // expected-warning@+1 {{argument 0 (batch) is kept whole on every rank, since 'stablehlo.abs' reads it as a whole}}
  %0 = stablehlo.abs %arg0 : tensor<8xf32>
  // expected-remark@+1 {{argument 0 (batch) is whole on every rank, which takes its piece of it}}
  %1 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{"data"}]>] manual_axes={"data"} (%arg1: tensor<4xf32>) {
    sdy.return %arg1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["data"=2]>
sdy.mesh @other = <["data"=4]>
func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"data"} (%arg1: tensor<8xf32>) {
    sdy.return %arg1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error@+1 {{expected the mesh of the step's other computations, #sdy.mesh<["data"=2]>, got #sdy.mesh<["data"=4]>}}
  %1 = sdy.manual_computation(%0) in_shardings=[<@other, [{}]>] out_shardings=[<@other, [{}]>] manual_axes={"data"} (%arg1: tensor<8xf32>) {
    sdy.return %arg1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["data"=2]>
func.func public @main(%arg0: tensor<8xf32>, %arg1: tensor<i32>) -> tensor<8xf32> {
  %0 = "stablehlo.case"(%arg1) ({
    // expected-error@+1 {{'sdy.manual_computation' is inside 'stablehlo.case', expected it directly in @main}}
    %1 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"data"} (%arg2: tensor<8xf32>) {
      sdy.return %arg2 : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// jit with shardings only
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["data"=4]>
  // expected-error@+1 {{the step has no collective: its communication is left to a partitioner; export it with cgx_jax.export_step, which has it partitioned, or write it with jax.shard_map}}
  func.func public @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) -> tensor<8xf32> {
    return %arg0 : tensor<8xf32>
  }
}

// -----

// shard_map as GSPMD writes it
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error@+1 {{the step is partitioned by GSPMD (custom call @Sharding); export it for Shardy: jax.config.update("jax_use_shardy_partitioner", True)}}
    %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[4]<=[4]}"} : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// expected-error@+1 {{expected a function @main or a single public function, got @a and @b}}
module {
  func.func @a() { return }
  func.func @b() { return }
}

// -----

// expected-error@+1 {{expected a function @main with the training step}}
module {
}

// -----

module attributes {mhlo.num_partitions = 6 : i32, mhlo.num_replicas = 1 : i32} {
  // expected-error@+1 {{expected arguments that are split along the axes of one mesh of 6 devices, got shardings of which some cross: export the step with cgx_jax.export_step}}
  func.func public @main(%a: tensor<4x8xf32> {mhlo.sharding = "{devices=[2,1,3]<=[6] last_tile_dim_replicate}"},
                         %b: tensor<4x8xf32> {mhlo.sharding = "{devices=[3,1,2]<=[6] last_tile_dim_replicate}"}) -> tensor<4x8xf32> {
    %0 = "stablehlo.all_reduce"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5]]> : tensor<1x6xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %sum = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %sum : tensor<f32>
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = stablehlo.add %0, %a : tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  }
}

// -----

// expected-error@+1 {{expected mhlo.num_partitions of at least 1, got 0}}
module attributes {mhlo.num_partitions = 0 : i32} {
  sdy.mesh @mesh = <["data"=4]>
  func.func public @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) -> tensor<8xf32> {
    return %arg0 : tensor<8xf32>
  }
}

// -----

// expected-error@+1 {{expected mhlo.num_replicas of at least 1, got -2}}
module attributes {mhlo.num_replicas = -2 : i32} {
  func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
    return %arg0 : tensor<8xf32>
  }
}

// -----

module attributes {mhlo.num_partitions = 2 : i32} {
  func.func public @main(%x: tensor<4xf32>) {
    // expected-error@below {{expected func.return at the end of the step, got sdy.end}}
    "sdy.end"(%x) : (tensor<4xf32>) -> ()
  }
}

// -----

sdy.mesh @mesh = <["data"=2]>
func.func public @main(%arg0: tensor<?xf32> loc("batch")) -> (tensor<?xf32>, tensor<?xf32>) {
  // expected-warning@+1 {{argument 0 (batch) is kept whole on every rank}}
  %0 = stablehlo.abs %arg0 : tensor<?xf32>
  // expected-error@+1 {{takes a piece of argument 0 (batch), and expects a static shape to cut, got 'tensor<?xf32>'; export with static shapes}}
  %1 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{"data"}]>] manual_axes={"data"} (%arg1: tensor<?xf32>) {
    sdy.return %arg1 : tensor<?xf32>
  } : (tensor<?xf32>) -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}
