// Checks what Shardy's collectives reject.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @all_gather_c1(%a: tensor<16x8xf32>) {
  // expected-error@+1 {{expected an operand with a sharding}}
  %0 = sdy.all_gather [{}, {"x"}] %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<16x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @all_gather_c2(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) {
  // expected-error@+1 {{expected axes for each of the 2 dimensions, got 1}}
  %0 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<16x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @all_gather_c2_twice(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) {
  // expected-error@+1 {{axis "x" is named twice}}
  %0 = sdy.all_gather [{"x"}, {"x"}] %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<16x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @all_gather_c3(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) {
  // expected-error@+1 {{expected axes that end the operand's sharding ["x"] of dimension 1, got ["x", "y"]}}
  %0 = sdy.all_gather [{}, {"x", "y"}] %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<16x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @all_gather_c3_result(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) {
  // expected-error@+1 {{expected out_sharding ["x":(1)2] of dimension 1, got ["x"]}}
  %0 = sdy.all_gather [{}, {"x":(2)2}] %a out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<16x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @all_slice_c3(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // expected-error@+1 {{expected out_sharding ["x"] of dimension 1, got ["x":(1)2]}}
  %0 = sdy.all_slice [{}, {"x"}] %a out_sharding=<@mesh, [{"y"}, {"x":(1)2}]> : tensor<16x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @all_to_all_c2(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) {
  // expected-error@+1 {{expected axes to move, got none}}
  %0 = sdy.all_to_all [] %a out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<16x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @all_to_all_c3(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // expected-error@+1 {{expected dimensions in range [0, 2), got 2}}
  %0 = sdy.all_to_all [{"y"}: 0->2] %a out_sharding=<@mesh, [{}, {"y"}]> : tensor<16x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @all_to_all_c3_twice(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // expected-error@+1 {{expected each dimension once, got 0 twice}}
  %0 = sdy.all_to_all [{"y"}: 0->0] %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<16x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @all_to_all_c4(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // expected-error@+1 {{expected axes that end the operand's sharding ["y"] of dimension 0, got ["x"]}}
  %0 = sdy.all_to_all [{"x"}: 0->1] %a out_sharding=<@mesh, [{}, {"x"}]> : tensor<16x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @collective_permute_c2(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // expected-error@+1 {{expected dimension 0 in as many parts as before, 2, got 4}}
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @all_reduce_c2(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  // expected-error@+1 {{expected axes in the order of the mesh, ["x", "y"], got ["y", "x"]}}
  %0 = sdy.all_reduce {"y", "x"} %a out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @all_reduce_c3(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // expected-error@+1 {{expected out_sharding ["y"] of dimension 0, got []}}
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @all_reduce_c4(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // expected-error@+1 {{expected axes that split no dimension of the operand, got ["y"], which splits dimension 0}}
  %0 = sdy.all_reduce {"y"} %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<16x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @all_reduce_c6(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}], unreduced=max{"x"}>}) {
  // expected-error@+1 {{expected max, as the operand is unreduced, got sum}}
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<16x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @reduce_scatter_c3(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // expected-error@+1 {{expected out_sharding ["x"] of dimension 1, got []}}
  %0 = sdy.reduce_scatter [{}, {"x"}] %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<16x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @sharded_to_unreduced_c4(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) {
  // expected-error@+1 {{expected a result unreduced along ["x"], got []}}
  %0 = sdy.sharded_to_unreduced [{}, {"x"}] %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<16x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @replicated_to_unreduced_c2(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // expected-error@+1 {{expected axes, got none}}
  %0 = sdy.replicated_to_unreduced {} %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<16x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @replicated_to_unreduced_c4(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}], unreduced={"x"}>}) {
  // expected-error@+1 {{expected axes other than the unreduced axes of the operand ["x"], got ["x"]}}
  %0 = sdy.replicated_to_unreduced {"x"} %a out_sharding=<@mesh, [{"y"}, {}], unreduced={"x"}> : tensor<16x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @propagation_barrier_c1(%a: tensor<16x8xf32>) {
  // expected-error@+1 {{expected NONE, FORWARD or BACKWARD, got BOTH, which is no barrier}}
  %0 = sdy.propagation_barrier %a allowed_direction=BOTH : tensor<16x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @manual_computation_c5(%a: tensor<16x8xf32>) {
  // expected-error@+1 {{expected manual axes before others in each dimension, got "x" after "y"}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"y", "x"}, {}]>] out_shardings=[<@mesh, [{"y", "x"}, {}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
    sdy.return %b : tensor<4x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return
}
