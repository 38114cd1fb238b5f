// Checks what gather and scatter reject.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @gather_index_vector(%a: tensor<8x8xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{expected index_vector_dim in range [0, 2], got 3}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 3>, slice_sizes = array<i64: 1, 8>}> : (tensor<8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_index_map(%a: tensor<8x8xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{expected start_index_map in range [0, 2), got 2}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [2], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_index_map_size(%a: tensor<8x8xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{expected 1 entries of start_index_map, as in an index vector, got 2}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_collapsed(%a: tensor<8x8xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{expected collapsed_slice_dims in range [0, 2), got 5}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [5], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_batching(%a: tensor<8x8xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{expected as many operand_batching_dims as start_indices_batching_dims, got 1 and 0}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_slice_count(%a: tensor<8x8xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{expected 2 slice_sizes, one per dimension, got 1}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_slice_size(%a: tensor<8x8xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{expected slice size in range [0, 8] in dimension 1, got 9}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 9>}> : (tensor<8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_offset(%a: tensor<8x8xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{expected 1 offset_dims, got 0}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_element(%a: tensor<8x8xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{expected a result of element type 'f32', got 'f64'}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf64>
  return
}

// -----

func.func @scatter_nothing(%i: tensor<3x1xi32>) {
  // expected-error@+1 {{expected at least one operand}}
  "stablehlo.scatter"(%i) <{scatter_dimension_numbers = #stablehlo.scatter<index_vector_dim = 1>}> ({
    stablehlo.return
  }) : (tensor<3x1xi32>) -> ()
  return
}

// -----

func.func @scatter_map(%a: tensor<8x8xf32>, %i: tensor<3x1xi32>, %u: tensor<3x8xf32>) {
  // expected-error@+1 {{expected scatter_dims_to_operand_dims in range [0, 2), got 4}}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [4], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<8x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @scatter_results(%a: tensor<8x8xf32>, %i: tensor<3x1xi32>, %u: tensor<3x8xf32>) {
  // expected-error@+1 {{expected results of the types of the operands, 'tensor<8x8xf32>', got 'tensor<8x9xf32>'}}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<8x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<8x9xf32>
  return
}

// -----

func.func @scatter_window(%a: tensor<8x8xf32>, %i: tensor<3x1xi32>, %u: tensor<3x8xf32>) {
  // expected-error@+1 {{expected 1 update_window_dims, got 0}}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<8x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @scatter_computation(%a: tensor<8x8xf32>, %i: tensor<3x1xi32>, %u: tensor<3x8xf32>) {
  // expected-error@+1 {{expected 2 arguments of the update computation, got 1}}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<8x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @field_twice(%a: tensor<8x8xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{field 'offset_dims' occurs twice}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], offset_dims = [1]>, slice_sizes = array<i64: 1, 8>}> : (tensor<8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @field_unknown(%a: tensor<8x8xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{expected one of 'offset_dims', 'collapsed_slice_dims', 'operand_batching_dims', 'start_indices_batching_dims', 'start_index_map', 'index_vector_dim', got 'offsets'}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offsets = [1]>, slice_sizes = array<i64: 1, 8>}> : (tensor<8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}
