// Each constraint of the specification on collectives, by its label.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @all_gather_c1(%arg0: tensor<2x2xf32>) {
  // expected-error@+1 {{expected all_gather_dim in range [0, 2), got 2}}
  %r = "stablehlo.all_gather"(%arg0)  {all_gather_dim = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x2xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @all_gather_c2(%arg0: tensor<2x2xf32>) {
  // expected-error@+1 {{expected each process in one group, got 0 twice}}
  %r = "stablehlo.all_gather"(%arg0)  {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>} : (tensor<2x2xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @all_gather_c3(%arg0: tensor<2x2xf32>) {
  // expected-error@+1 {{expected each process in one group, got 2 numbers without 1}}
  %r = "stablehlo.all_gather"(%arg0)  {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>} : (tensor<2x2xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @all_gather_c4(%arg0: tensor<2x2xf32>) {
  // expected-error@+1 {{expected replica_groups of numbers from 0, got -5}}
  %r = "stablehlo.all_gather"(%arg0)  {all_gather_dim = 1 : i64, replica_groups = dense<[[0, -5]]> : tensor<1x2xi64>} : (tensor<2x2xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @all_gather_c5(%arg0: tensor<2x2xf32>) {
  // expected-error@+1 {{expected a positive channel with use_global_device_ids, got 0}}
  %r = "stablehlo.all_gather"(%arg0)  {all_gather_dim = 1 : i64, use_global_device_ids, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x2xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @all_gather_c6(%arg0: tensor<2x2xf32>) {
  // expected-error@+1 {{expected a result of type 'tensor<2x4xf32>', got 'tensor<2x3xf32>'}}
  %r = "stablehlo.all_gather"(%arg0)  {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @all_gather_c6_of_replicas_and_partitions(%arg0: tensor<2x2xf32>) {
  // expected-error@+1 {{expected operand and result to differ along dimension 1 only, by the processes of a group, got 'tensor<2x2xf32>' and 'tensor<3x4xf32>'}}
  %r = "stablehlo.all_gather"(%arg0)  {all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x2xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @all_gather_c6_no_multiple(%arg0: tensor<2x2xf32>) {
  // expected-error@+1 {{expected operand and result to differ along dimension 1 only, by the processes of a group, got 'tensor<2x2xf32>' and 'tensor<2x5xf32>'}}
  %r = "stablehlo.all_gather"(%arg0)  {all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x2xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @all_gather_of_nothing(%arg0: tensor<2x0xf32>) {
  // expected-error@+1 {{expected operands with elements along all_gather_dim 1, got 'tensor<2x0xf32>'}}
  %r = "stablehlo.all_gather"(%arg0)  {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x0xf32>) -> tensor<2x0xf32>
  return
}

// -----

func.func @all_reduce_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected each process in one group, got 0 twice}}
  %r = "stablehlo.all_reduce"(%arg0) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @all_reduce_c2(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected each process in one group, got 2 numbers without 1}}
  %r = "stablehlo.all_reduce"(%arg0) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @all_reduce_c3(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected replica_groups of numbers from 0, or -1 as filling, got -5}}
  %r = "stablehlo.all_reduce"(%arg0) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, -5]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @all_reduce_c4(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected a positive channel with use_global_device_ids, got 0}}
  %r = "stablehlo.all_reduce"(%arg0) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {use_global_device_ids, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @all_reduce_c5(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected the computation to compute in a type to which 'f32' can be promoted, got 'f16'}}
  %r = "stablehlo.all_reduce"(%arg0) ({ ^bb0(%x: tensor<f16>, %y: tensor<f16>): %s = "stablehlo.add"(%x, %y) : (tensor<f16>, tensor<f16>) -> tensor<f16> "stablehlo.return"(%s) : (tensor<f16>) -> () }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @all_reduce_c6(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected results of the types of the operands, 'tensor<2xf32>', got 'tensor<3xf32>'}}
  %r = "stablehlo.all_reduce"(%arg0) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @all_reduce_c7(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected results of the types of the operands, 'tensor<2xf32>', got 'tensor<2xf64>'}}
  %r = "stablehlo.all_reduce"(%arg0) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @all_to_all_c1(%arg0: tensor<4x2xf32>) {
  // expected-error@+1 {{expected split_dimension in range [0, 2), got 2}}
  %r = "stablehlo.all_to_all"(%arg0)  {split_dimension = 2 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @all_to_all_c2(%arg0: tensor<3x2xf32>) {
  // expected-error@+1 {{expected dimension 0 of the operand to be a multiple of 2, the split_count, got 'tensor<3x2xf32>'}}
  %r = "stablehlo.all_to_all"(%arg0)  {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<3x2xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @all_to_all_c3(%arg0: tensor<4x2xf32>) {
  // expected-error@+1 {{expected concat_dimension in range [0, 2), got 2}}
  %r = "stablehlo.all_to_all"(%arg0)  {split_dimension = 0 : i64, concat_dimension = 2 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @all_to_all_c4(%arg0: tensor<4x2xf32>) {
  // expected-error@+1 {{expected a positive split_count, got 0}}
  %r = "stablehlo.all_to_all"(%arg0)  {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @all_to_all_c5(%arg0: tensor<4x2xf32>) {
  // expected-error@+1 {{expected each process in one group, got 0 twice}}
  %r = "stablehlo.all_to_all"(%arg0)  {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @all_to_all_c6(%arg0: tensor<4x2xf32>) {
  // expected-error@+1 {{expected each process in one group, got 2 numbers without 1}}
  %r = "stablehlo.all_to_all"(%arg0)  {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @all_to_all_c7(%arg0: tensor<4x2xf32>) {
  // expected-error@+1 {{expected replica_groups of numbers from 0, got -5}}
  %r = "stablehlo.all_to_all"(%arg0)  {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, -5]]> : tensor<1x2xi64>} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @all_to_all_c8(%arg0: tensor<4x2xf32>) {
  // expected-error@+1 {{expected split_count to be 2, the processes of a group, got 4}}
  %r = "stablehlo.all_to_all"(%arg0)  {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 4 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @all_to_all_c9(%arg0: tensor<4x2xf32>) {
  // expected-error@+1 {{expected a result of type 'tensor<2x4xf32>', got 'tensor<4x2xf32>'}}
  %r = "stablehlo.all_to_all"(%arg0)  {split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @collective_broadcast_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected each process in one group, got 0 twice}}
  %r = "stablehlo.collective_broadcast"(%arg0)  {replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @collective_broadcast_c2(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected replica_groups of numbers from 0, or -1 as filling, got -5}}
  %r = "stablehlo.collective_broadcast"(%arg0)  {replica_groups = dense<[[0, -5]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @collective_broadcast_c3(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected a result of type 'tensor<2xf32>', got 'tensor<3xf32>'}}
  %r = "stablehlo.collective_broadcast"(%arg0)  {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @collective_permute_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected source_target_pairs of type tensor<Nx2xi64>, got 'tensor<1x3xi64>'}}
  %r = "stablehlo.collective_permute"(%arg0) {source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @collective_permute_c2(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected unique sources in source_target_pairs, got 0 twice}}
  %r = "stablehlo.collective_permute"(%arg0) {source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @collective_permute_c3(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected unique targets in source_target_pairs, got 1 twice}}
  %r = "stablehlo.collective_permute"(%arg0) {source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @collective_permute_c4(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected processes from 0 in source_target_pairs, got -1}}
  %r = "stablehlo.collective_permute"(%arg0) {source_target_pairs = dense<[[0, -1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @collective_permute_c5(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected a result of type 'tensor<2xf32>', got 'tensor<3xf32>'}}
  %r = "stablehlo.collective_permute"(%arg0) {source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @collective_reduce_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected each process in one group, got 0 twice}}
  %r = "stablehlo.collective_reduce"(%arg0) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @collective_reduce_c2(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected replica_groups of numbers from 0, or -1 as filling, got -5}}
  %r = "stablehlo.collective_reduce"(%arg0) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, -5]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @collective_reduce_c3(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected results of the types of the operands, 'tensor<2xf32>', got 'tensor<3xf32>'}}
  %r = "stablehlo.collective_reduce"(%arg0) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @collective_reduce_c4(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected the computation to compute in a type to which 'f32' can be promoted, got 'f16'}}
  %r = "stablehlo.collective_reduce"(%arg0) ({ ^bb0(%x: tensor<f16>, %y: tensor<f16>): %s = "stablehlo.add"(%x, %y) : (tensor<f16>, tensor<f16>) -> tensor<f16> "stablehlo.return"(%s) : (tensor<f16>) -> () }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_scatter_c1(%arg0: tensor<3xf32>) {
  // expected-error@+1 {{expected dimension 0 of the operand to be a multiple of 2, the processes of a group, got 'tensor<3xf32>'}}
  %r = "stablehlo.reduce_scatter"(%arg0) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_scatter_c2(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected scatter_dimension in range [0, 1), got 1}}
  %r = "stablehlo.reduce_scatter"(%arg0) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_scatter_c3(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected each process in one group, got 0 twice}}
  %r = "stablehlo.reduce_scatter"(%arg0) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_scatter_c4(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected each process in one group, got 2 numbers without 1}}
  %r = "stablehlo.reduce_scatter"(%arg0) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_scatter_c5(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected replica_groups of numbers from 0, got -5}}
  %r = "stablehlo.reduce_scatter"(%arg0) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, -5]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_scatter_c6(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected a positive channel with use_global_device_ids, got 0}}
  %r = "stablehlo.reduce_scatter"(%arg0) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 0 : i64, use_global_device_ids, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_scatter_c7(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected the computation to compute in a type to which 'f32' can be promoted, got 'f16'}}
  %r = "stablehlo.reduce_scatter"(%arg0) ({ ^bb0(%x: tensor<f16>, %y: tensor<f16>): %s = "stablehlo.add"(%x, %y) : (tensor<f16>, tensor<f16>) -> tensor<f16> "stablehlo.return"(%s) : (tensor<f16>) -> () }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_scatter_c8(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected a result of type 'tensor<2xf32>', got 'tensor<3xf32>'}}
  %r = "stablehlo.reduce_scatter"(%arg0) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @reduce_scatter_c8_of_replicas_and_partitions(%arg0: tensor<4x2xf32>) {
  // expected-error@+1 {{expected operand and result to differ along dimension 0 only, by the processes of a group, got 'tensor<2x3xf32>' and 'tensor<4x2xf32>'}}
  %r = "stablehlo.reduce_scatter"(%arg0) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @reduce_scatter_c9(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected a result of type 'tensor<2xf32>', got 'tensor<2xf64>'}}
  %r = "stablehlo.reduce_scatter"(%arg0) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @collective_broadcast_c4(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and their dynamic roots, got 1 operands}}
  "stablehlo.collective_broadcast"(%arg0) {has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> ()
  return
}
