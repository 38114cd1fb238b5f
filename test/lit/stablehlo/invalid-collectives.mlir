// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @all_reduce_of_nothing() {
  // expected-error@+1 {{expected at least one operand}}
  "stablehlo.all_reduce"() <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : () -> ()
  return
}

// -----

func.func @all_reduce_types(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected results of the types of the operands, 'tensor<4xf32>', got 'tensor<8xf32>'}}
  %0 = "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @all_reduce_computation(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected 2 arguments of the computation, got 1}}
  %0 = "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @groups_rank(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected replica_groups of rank 2, got 'tensor<2xi64>'}}
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = dense<[0, 1]> : tensor<2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @groups_negative(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected replica_groups of numbers from 0, got -2}}
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, -2]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @groups_twice(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected each process in one group, got 1 twice}}
  %0 = "stablehlo.collective_broadcast"(%arg0) <{replica_groups = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @groups_twice_rank_0(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected each process in one group, got 0 twice}}
  %0 = "stablehlo.collective_broadcast"(%arg0) <{replica_groups = dense<[[0, 1], [2, 0]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @all_gather_of_nothing() {
  // expected-error@+1 {{expected at least one operand}}
  "stablehlo.all_gather"() <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : () -> ()
  return
}

// -----

func.func @all_gather_results(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected 1 results, one per operand, got 0}}
  "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @all_gather_dim(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected all_gather_dim in range [0, 1), got 1}}
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @all_gather_result(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected a result of type 'tensor<8xf32>', got 'tensor<9xf32>'}}
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<9xf32>
  return
}

// -----

func.func @reduce_scatter_dim(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected scatter_dimension in range [0, 1), got -1}}
  %0 = "stablehlo.reduce_scatter"(%arg0) <{scatter_dimension = -1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_scatter_division(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected dimension 0 of the operand to be a multiple of 3, the processes of a group, got 'tensor<4xf32>'}}
  %0 = "stablehlo.reduce_scatter"(%arg0) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_scatter_result(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected a result of type 'tensor<2xf32>', got 'tensor<2xbf16>'}}
  %0 = "stablehlo.reduce_scatter"(%arg0) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<2xbf16>
  return
}

// -----

func.func @all_to_all_of_nothing() {
  // expected-error@+1 {{expected at least one operand}}
  "stablehlo.all_to_all"() <{concat_dimension = 0 : i64, split_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : () -> ()
  return
}

// -----

func.func @all_to_all_results(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected 1 results, one per operand, got 0}}
  "stablehlo.all_to_all"(%arg0) <{concat_dimension = 0 : i64, split_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @all_to_all_count(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected a positive split_count, got 0}}
  %0 = "stablehlo.all_to_all"(%arg0) <{concat_dimension = 0 : i64, split_dimension = 0 : i64, split_count = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @all_to_all_count_of_group(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected split_count to be 2, the processes of a group, got 4}}
  %0 = "stablehlo.all_to_all"(%arg0) <{concat_dimension = 0 : i64, split_dimension = 0 : i64, split_count = 4 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @all_to_all_split_dimension(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected split_dimension in range [0, 1), got 1}}
  %0 = "stablehlo.all_to_all"(%arg0) <{concat_dimension = 0 : i64, split_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @all_to_all_concat_dimension(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected concat_dimension in range [0, 1), got 2}}
  %0 = "stablehlo.all_to_all"(%arg0) <{concat_dimension = 2 : i64, split_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @all_to_all_division(%arg0: tensor<5xf32>) {
  // expected-error@+1 {{expected dimension 0 of the operand to be a multiple of 2, the split_count, got 'tensor<5xf32>'}}
  %0 = "stablehlo.all_to_all"(%arg0) <{concat_dimension = 0 : i64, split_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<5xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @all_to_all_result(%arg0: tensor<4x4xf32>) {
  // expected-error@+1 {{expected a result of type 'tensor<8x2xf32>', got 'tensor<4x4xf32>'}}
  %0 = "stablehlo.all_to_all"(%arg0) <{concat_dimension = 0 : i64, split_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @collective_permute_shape(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected source_target_pairs of type tensor<Nx2xi64>, got 'tensor<1x3xi64>'}}
  %0 = "stablehlo.collective_permute"(%arg0) <{source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @collective_permute_range(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected processes from 0 in source_target_pairs, got -1}}
  %0 = "stablehlo.collective_permute"(%arg0) <{source_target_pairs = dense<[[0, -1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @collective_permute_targets(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected unique targets in source_target_pairs, got 1 twice}}
  %0 = "stablehlo.collective_permute"(%arg0) <{source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @collective_permute_sources(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected unique sources in source_target_pairs, got 0 twice}}
  %0 = "stablehlo.collective_permute"(%arg0) <{source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @collective_permute_result(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected a result of type 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0 = "stablehlo.collective_permute"(%arg0) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

// mesh_axis_c1
// expected-error@+1 {{expected a positive size of axis "x", got 0}}
func.func private @f() attributes {a = #stablehlo.mesh_axis<name = "x", size = 0>}

// -----

// mesh_c1
// expected-error@+1 {{expected unique axis names, got "x" twice}}
func.func private @f() attributes {a = #stablehlo.mesh<axes=[<name = "x", size = 2>, <name = "x", size = 2>]>}

// -----

// mesh_c2
// expected-error@+1 {{expected device_ids to be a permutation of the numbers below 2, got dense<[1, 2]> : tensor<2xi64>}}
func.func private @f() attributes {a = #stablehlo.mesh<axes=[<name = "x", size = 2>], device_ids=dense<[1, 2]> : tensor<2xi64>>}

// -----

// replica_group_mesh_axes_c1
// expected-error@+1 {{expected the symbol of a mesh or #stablehlo.mesh<...>, got 3 : i64}}
func.func private @f() attributes {a = #stablehlo.replica_group_mesh_axes<mesh = 3, axes = []>}

// -----

// replica_group_mesh_axes_c2
// expected-error@+1 {{axis "y" is not in the mesh #stablehlo.mesh<axes=[<name = "x", size = 2>]>}}
func.func private @f() attributes {a = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>]>, axes = [#stablehlo.axis_ref<name = "y">]>}

// -----

// replica_group_mesh_axes_c3
// expected-error@+1 {{expected a sub-axis that divides "x" of size 4, got (1)3}}
func.func private @f() attributes {a = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 4>]>, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (1)3>]>}

// -----

// replica_group_mesh_axes_c4
// expected-error@+1 {{axis "x" is named twice}}
func.func private @f() attributes {a = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 4>]>, axes = [#stablehlo.axis_ref<name = "x">, #stablehlo.axis_ref<name = "x", sub_axis_info = (2)2>]>}
