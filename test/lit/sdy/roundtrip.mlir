// RUN: cgx-opt %s --verify-roundtrip | FileCheck %s
// RUN: cgx-opt %s --mlir-print-op-generic | cgx-opt | FileCheck %s
// RUN: cgx-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// cgx prints the text that Shardy prints, since it goes back into JAX.

// CHECK: sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = []}}
// GENERIC: "sdy.mesh"() <{mesh = #sdy.mesh<["data"=4, "model"=2]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = []}} : () -> ()
sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = []}}
// CHECK: sdy.mesh @reversed = <["x"=4], device_ids=[3, 2, 1, 0]>
sdy.mesh @reversed = <["x"=4], device_ids=[3, 2, 1, 0]>
// CHECK: sdy.mesh @empty = <[]>
sdy.mesh @empty = <[]>
// CHECK: sdy.mesh @single_device = <[], device_ids=[3]>
sdy.mesh @single_device = <[], device_ids=[3]>
// CHECK: sdy.mesh @wide = <["x"=8, "y"=8]>
sdy.mesh @wide = <["x"=8, "y"=8]>

// CHECK-LABEL: func.func @shardings_of_arguments(
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@wide, [{"x", ?}, {"y":(1)2, "y":(4)2}p1], replicated={"y":(2)2}>}
// CHECK-SAME: %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{?}p0]>}
// CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@wide, [{}, {}], replicated={"x"}, unreduced={"y"}>})
func.func @shardings_of_arguments(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@wide, [{"x", ?}, {"y":(1)2, "y":(4)2}p1], replicated={"y":(2)2}>},
    %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{?}p0]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@wide, [{}, {}], replicated={"x"}, unreduced={"y"}>}) {
  return %arg0 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @manual_computation(
func.func @manual_computation(%arg0: tensor<64x8xf32>, %arg1: tensor<8xf32>) -> (tensor<64x8xf32>, tensor<8xf32>) {
  // CHECK: %0:2 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"data"}, {}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{"data"}, {}]>, <@mesh, [{}]>] manual_axes={"data", "model"} (%arg2: tensor<16x8xf32>, %arg3: tensor<8xf32>) {
  // CHECK-NEXT: sdy.return %arg2, %arg3 : tensor<16x8xf32>, tensor<8xf32>
  // CHECK-NEXT: } : (tensor<64x8xf32>, tensor<8xf32>) -> (tensor<64x8xf32>, tensor<8xf32>)
  // GENERIC: "sdy.manual_computation"(%{{.*}}, %{{.*}}) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"data"}, {}]>, <@mesh, [{}]>]>, manual_axes = #sdy<manual_axes{"data", "model"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"data"}, {}]>, <@mesh, [{}]>]>}> ({
  %0:2 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"data"}, {}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{"data"}, {}]>, <@mesh, [{}]>] manual_axes={"data", "model"} (%arg2: tensor<16x8xf32>, %arg3: tensor<8xf32>) {
    sdy.return %arg2, %arg3 : tensor<16x8xf32>, tensor<8xf32>
  } : (tensor<64x8xf32>, tensor<8xf32>) -> (tensor<64x8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<64x8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @manual_computation_of_nothing(
func.func @manual_computation_of_nothing() {
  // CHECK: sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
  // CHECK-NEXT: sdy.return
  // CHECK-NEXT: } : () -> ()
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
    sdy.return
  } : () -> ()
  return
}

// CHECK-LABEL: func.func @constraints(
func.func @constraints(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: %0 = sdy.sharding_constraint %arg0 <@mesh, [{"data"}p0, {?}p3]> : tensor<8x8xf32>
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"data"}p0, {?}p3]> : tensor<8x8xf32>
  // CHECK: %1 = sdy.reshard %0 <@mesh, [{"data", "model"}, {}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{"data", "model"}, {}]> : tensor<8x8xf32>
  // CHECK: sdy.sharding_group %1 group_id=12 : tensor<8x8xf32>
  sdy.sharding_group %1 group_id=12 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @shardings_of_results(
func.func @shardings_of_results(%arg0: f32) -> tensor<8xf32> {
  // CHECK: tensor.splat %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}]>]>} : tensor<8xf32>
  %0 = tensor.splat %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @texts_of_a_partitioner(
func.func @texts_of_a_partitioner(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // A single device splits no dimension.
  // CHECK: sdy.sharding = #sdy.sharding_per_value<[<@single_device, []>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>
  %0 = stablehlo.custom_call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@single_device, []>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
