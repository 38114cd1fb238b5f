// RUN: cgx-opt %s --split-input-file --verify-diagnostics

// mesh_c1
// expected-error@+1 {{expected unique axis names, got "x" twice}}
sdy.mesh @mesh = <["x"=4, "x"=2]>

// -----

// mesh_c2
// expected-error@+1 {{expected a positive size of axis "x", got 0}}
sdy.mesh @mesh = <["x"=0]>

// -----

// mesh_c3
// expected-error@+1 {{expected device_ids to be a permutation of the numbers below 4, got [0, 1, 1, 3]}}
sdy.mesh @mesh = <["x"=4], device_ids=[0, 1, 1, 3]>

// -----

// mesh_c4
// expected-error@+1 {{expected at most one device id of a mesh without axes, and none negative, got [0, 1]}}
sdy.mesh @mesh = <[], device_ids=[0, 1]>

// -----

sdy.mesh @mesh = <["x"=4]>
// expected-error@+1 {{expected a sub-axis of "x" of size 2 or more under 1 or more, got (1)1}}
func.func @axis_ref(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)1}]>}) { return }

// -----

sdy.mesh @mesh = <["x"=4]>
// expected-error@+1 {{expected a priority such as 'p1'}}
func.func @priority(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}q1]>}) { return }

// -----

sdy.mesh @mesh = <["x"=4]>
// expected-error@+1 {{expected '?' to be the last entry}}
func.func @open_dimension(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?, "x"}]>}) { return }

// -----

// expected-error@+1 {{argument 0: unknown mesh @nowhere}}
func.func @sharding_c1(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@nowhere, [{"x"}]>}) { return }

// -----

sdy.mesh @mesh = <["x"=4]>
// expected-error@+1 {{argument 1: expected one dimension sharding for each of the 1 dimensions of 'tensor<8xf32>', got 2}}
func.func @sharding_c2(%arg0: f32, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) { return }

// -----

sdy.mesh @mesh = <["x"=4]>
// expected-error@+1 {{result 0: axis "y" is not in the mesh #sdy.mesh<["x"=4]>}}
func.func @sharding_c3(%arg0: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  return %arg0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>
// expected-error@+1 {{sub-axis (1)3 of "x" does not divide its size 4}}
func.func @sharding_c4(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)3}]>}) { return }

// -----

sdy.mesh @mesh = <["x"=8]>
// expected-error@+1 {{axis "x" is named twice}}
func.func @sharding_c5(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)4}], replicated={"x":(2)2}>}) { return }

// -----

// expected-error@+1 {{argument 0: expected #sdy.sharding<...>, got "x"}}
func.func @not_a_sharding(%arg0: tensor<8xf32> {sdy.sharding = "x"}) { return }

// -----

sdy.mesh @mesh = <["x"=8]>
func.func @not_per_value(%arg0: f32) -> tensor<8xf32> {
  // expected-error@+1 {{expected #sdy.sharding_per_value<...>, got #sdy.sharding<@mesh, [{"x"}]>}}
  %0 = tensor.splat %arg0 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=8]>
func.func @per_value_count(%arg0: f32) -> tensor<8xf32> {
  // expected-error@+1 {{expected one sharding per result, 1, got 0}}
  %0 = tensor.splat %arg0 {sdy.sharding = #sdy.sharding_per_value<[]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=8]>
func.func @constraint_c1(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected one dimension sharding for each of the 1 dimensions of 'tensor<8xf32>', got 0}}
  %0 = sdy.sharding_constraint %arg0 <@mesh, []> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=8]>
func.func @reshard_c1(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{axis "y" is not in the mesh}}
  %0 = sdy.reshard %arg0 <@mesh, [{"y"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>
func.func @manual_computation_c1(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected one sharding per operand, 1, got 0}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<2xf32>) {
    sdy.return %arg1 : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>
sdy.mesh @other = <["x"=2]>
func.func @manual_computation_c2_meshes(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{result 0: expected all shardings to name one mesh, got #sdy.mesh<["x"=2]> and #sdy.mesh<["x"=4]>}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@other, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<2xf32>) {
    sdy.return %arg1 : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>
func.func @manual_computation_c2_axes(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{manual axis "y" is not in the mesh of the shardings}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"y"} (%arg1: tensor<2xf32>) {
    sdy.return %arg1 : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>
func.func @manual_computation_c3(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{operand 0: expected block argument 0 to be 'tensor<2xf32>', got 'tensor<8xf32>'}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"x"} (%arg1: tensor<8xf32>) {
    sdy.return %arg1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=3]>
func.func @manual_computation_c3_division(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{operand 0: 'tensor<8xf32>' is not divisible as #sdy.sharding<@mesh, [{"x"}]> says}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"x"} (%arg1: tensor<8xf32>) {
    sdy.return %arg1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>
func.func @manual_computation_c4(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{result 0: expected returned value 0 to be 'tensor<8xf32>', got 'tensor<2xf32>'}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"x"} (%arg1: tensor<2xf32>) {
    sdy.return %arg1 : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>
func.func @manual_computation_terminator(%arg0: tensor<8xf32>) {
  // expected-error@+1 {{expected the region to end in sdy.return}}
  "sdy.manual_computation"() <{in_shardings = #sdy.sharding_per_value<[]>, manual_axes = #sdy<manual_axes{}>, out_shardings = #sdy.sharding_per_value<[]>}> ({
    "func.return"() : () -> ()
  }) : () -> ()
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
// expected-error@+1 {{expected a sharding with dimensions or axes on a tensor with a rank only, got '!stablehlo.token'}}
func.func @sharding_c7(%arg0: !stablehlo.token {sdy.sharding = #sdy.sharding<@mesh, [], replicated={"a"}>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
// expected-error@+1 {{expected a sharding with dimensions or axes on a tensor with a rank only, got 'tensor<*xf32>'}}
func.func @sharding_c7_unranked(%arg0: tensor<*xf32> {sdy.sharding = #sdy.sharding<@mesh, []>}) {
  return
}

// -----

sdy.mesh @device = <[], device_ids=[0]>
// expected-error@+1 {{expected no dimensions and axes of a sharding on a single device}}
func.func @sharding_c8(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@device, [{}]>}) {
  return
}

// -----

sdy.mesh @device = <[], device_ids=[0]>
func.func @sharding_c8_of_no_result(%arg0: tensor<8xf32>) {
  // expected-error@+1 {{expected no dimensions and axes of a sharding on a single device}}
  stablehlo.custom_call @f(%arg0) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@device, [], replicated={"a"}>]>} : (tensor<8xf32>) -> ()
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
// expected-error@+1 {{expected no priority of dimension 1, which has no axes and is closed, got p3}}
func.func @sharding_c9(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}p1, {}p3]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
// expected-error@+1 {{expected a priority such as 'p1'}}
func.func @priority_with_a_leading_zero(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}p01]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=2]>
// expected-error@+1 {{expected each list of axes once}}
func.func @axes_listed_twice(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], replicated={"a"}, replicated={"b"}>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @manual_computation_c6(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note@+1 {{manual since here}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%arg1: tensor<4xf32>) {
    // expected-error@+1 {{expected axes that are not manual here, got "a"}}
    %1 = sdy.manual_computation(%arg1) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"a"} (%arg2: tensor<4xf32>) {
      sdy.return %arg2 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @sharding_constraint_c2(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note@+1 {{manual since here}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%arg1: tensor<4xf32>) {
    // expected-error@+1 {{expected axes that are not manual here, got "a"}}
    %1 = sdy.sharding_constraint %arg1 <@mesh, [{}], replicated={"a"}> : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @sharding_of_an_op_on_a_manual_axis(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note@+1 {{manual since here}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%arg1: tensor<4xf32>) {
    // expected-error@+1 {{result 0: expected axes that are not manual here, got "a"}}
    %1 = stablehlo.negate %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @reshard_c3(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"a"}>}) -> tensor<8xf32> {
  // expected-error@+1 {{expected max, by which the operand is unreduced, got sum}}
  %0 = sdy.reshard %arg0 <@mesh, [{}], unreduced={"a"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @sharding_constraint_c4(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<8xf32> {
  // expected-error@+1 {{expected new unreduced axes to be sums, got max}}
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{}], unreduced=max{"a"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @some = <["a"=2]>
sdy.mesh @other = <["a"=2]>
func.func @collective_permute_of_two_names_of_a_mesh(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@some, [{"a"}]>}) -> tensor<8xf32> {
  // expected-error@+1 {{expected the mesh of the operand, @some, got @other of the same devices}}
  %0 = sdy.collective_permute %arg0 out_sharding=<@other, [{"a"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
