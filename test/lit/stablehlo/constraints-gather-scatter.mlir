// Each constraint of the specification on gather and scatter, by its label.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @gather_c1(%arg0: tensor<8x8xf32>, %arg1: tensor<3x1xi32>) {
  // expected-error@+1 {{expected 2 offset_dims, got 1}}
  %r = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>} : (tensor<8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c2(%arg0: tensor<8x8xf32>, %arg1: tensor<3x1xi32>) {
  // expected-error@+1 {{expected index_vector_dim in range [0, 2], got 3}}
  %r = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 3>, slice_sizes = array<i64: 1, 8>} : (tensor<8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c3(%arg0: tensor<8x8xf32>, %arg1: tensor<3x1xi32>) {
  // expected-error@+1 {{expected 1 entries of start_index_map, as in an index vector, got 2}}
  %r = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>} : (tensor<8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c4(%arg0: tensor<8x8x8xf32>, %arg1: tensor<3x1xi32>) {
  // expected-error@+1 {{expected offset_dims to be sorted, got [2, 1]}}
  %r = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [2, 1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8, 8>} : (tensor<8x8x8xf32>, tensor<3x1xi32>) -> tensor<3x8x8xf32>
  return
}

// -----

func.func @gather_c5(%arg0: tensor<8x8xf32>, %arg1: tensor<3x1xi32>) {
  // expected-error@+1 {{expected offset_dims in range [0, 2), got 2}}
  %r = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>} : (tensor<8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c6(%arg0: tensor<8x8x8xf32>, %arg1: tensor<3x1xi32>) {
  // expected-error@+1 {{expected collapsed_slice_dims to be unique, got [0, 0]}}
  %r = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 8>} : (tensor<8x8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c7(%arg0: tensor<8x8x8xf32>, %arg1: tensor<3x1xi32>) {
  // expected-error@+1 {{expected collapsed_slice_dims to be sorted, got [1, 0]}}
  %r = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1, 0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 8>} : (tensor<8x8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c8(%arg0: tensor<8x8xf32>, %arg1: tensor<3x1xi32>) {
  // expected-error@+1 {{expected collapsed_slice_dims in range [0, 2), got 2}}
  %r = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [2], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>} : (tensor<8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c9(%arg0: tensor<8x8xf32>, %arg1: tensor<3x1xi32>) {
  // expected-error@+1 {{expected a slice size of at most 1 in dimension 0, which the result does not have, got 2}}
  %r = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 8>} : (tensor<8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c10(%arg0: tensor<3x3x8xf32>, %arg1: tensor<3x3x1xi32>) {
  // expected-error@+1 {{expected operand_batching_dims to be sorted, got [1, 0]}}
  %r = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [], operand_batching_dims = [1, 0], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>} : (tensor<3x3x8xf32>, tensor<3x3x1xi32>) -> tensor<3x3x8xf32>
  return
}

// -----

func.func @gather_c11(%arg0: tensor<3x8x8xf32>, %arg1: tensor<3x1xi32>) {
  // expected-error@+1 {{expected operand_batching_dims in range [0, 3), got 3}}
  %r = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], operand_batching_dims = [3], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 8>} : (tensor<3x8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c12(%arg0: tensor<3x8x8xf32>, %arg1: tensor<3x1xi32>) {
  // expected-error@+1 {{expected a slice size of at most 1 in dimension 0, which the result does not have, got 2}}
  %r = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 1, 8>} : (tensor<3x8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c13(%arg0: tensor<3x3x8xf32>, %arg1: tensor<3x3x1xi32>) {
  // expected-error@+1 {{expected start_indices_batching_dims to be unique, got [0, 0]}}
  %r = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 0], start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>} : (tensor<3x3x8xf32>, tensor<3x3x1xi32>) -> tensor<3x3x8xf32>
  return
}

// -----

func.func @gather_c14(%arg0: tensor<3x8x8xf32>, %arg1: tensor<3x1xi32>) {
  // expected-error@+1 {{expected start_indices_batching_dims in range [0, 2), got 2}}
  %r = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [2], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 8>} : (tensor<3x8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c15(%arg0: tensor<3x8x8xf32>, %arg1: tensor<3x1xi32>) {
  // expected-error@+1 {{expected start_indices_batching_dims without index_vector_dim 1}}
  %r = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 8>} : (tensor<3x8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c16(%arg0: tensor<3x8x8xf32>, %arg1: tensor<3x1xi32>) {
  // expected-error@+1 {{expected as many operand_batching_dims as start_indices_batching_dims, got 1 and 0}}
  %r = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 8>} : (tensor<3x8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c17(%arg0: tensor<4x8x8xf32>, %arg1: tensor<3x1xi32>) {
  // expected-error@+1 {{expected batching dimensions of one size, got 4 of the operand and 3 of the indices}}
  %r = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 8>} : (tensor<4x8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c18(%arg0: tensor<3x8x8xf32>, %arg1: tensor<3x1xi32>) {
  // expected-error@+1 {{expected no dimension in both start_index_map and operand_batching_dims, got 0}}
  %r = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 8>} : (tensor<3x8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c19(%arg0: tensor<8x8xf32>, %arg1: tensor<3x1xi32>) {
  // expected-error@+1 {{expected start_index_map in range [0, 2), got 2}}
  %r = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [2], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>} : (tensor<8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c20(%arg0: tensor<8x8xf32>, %arg1: tensor<3x1xi32>) {
  // expected-error@+1 {{expected 2 slice_sizes, one per dimension, got 3}}
  %r = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8, 1>} : (tensor<8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c21(%arg0: tensor<8x8xf32>, %arg1: tensor<3x1xi32>) {
  // expected-error@+1 {{expected slice size in range [0, 8] in dimension 1, got 9}}
  %r = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 9>} : (tensor<8x8xf32>, tensor<3x1xi32>) -> tensor<3x9xf32>
  return
}

// -----

func.func @gather_c22(%arg0: tensor<8x8xf32>, %arg1: tensor<3x1xi32>) {
  // expected-error@+1 {{expected a result of shape [3, 8], got [3, 7]}}
  %r = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>} : (tensor<8x8xf32>, tensor<3x1xi32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @gather_c23(%arg0: tensor<8x8xf32>, %arg1: tensor<3x1xi32>) {
  // expected-error@+1 {{expected a result of element type 'f32', got 'f16'}}
  %r = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>} : (tensor<8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf16>
  return
}

// -----

func.func @scatter_c1(%arg0: tensor<8x8xf32>, %arg1: tensor<8x7xf32>, %arg2: tensor<3x1xi32>, %arg3: tensor<3x8xf32>, %arg4: tensor<3x8xf32>) {
  // expected-error@+1 {{expected operands of one shape, got 'tensor<8x8xf32>' and 'tensor<8x7xf32>'}}
  %r:2 = "stablehlo.scatter"(%arg0, %arg1, %arg2, %arg3, %arg4) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %w: tensor<f32>): "stablehlo.return"(%x, %y) : (tensor<f32>, tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<8x8xf32>, tensor<8x7xf32>, tensor<3x1xi32>, tensor<3x8xf32>, tensor<3x8xf32>) -> (tensor<8x8xf32>, tensor<8x7xf32>)
  return
}

// -----

func.func @scatter_c2(%arg0: tensor<8x8xf32>, %arg1: tensor<3x1xi32>, %arg2: tensor<3x8xf32>) {
  // expected-error@+1 {{expected 2 update_window_dims, got 1}}
  %r = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<8x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @scatter_c3(%arg0: tensor<8x8xf32>, %arg1: tensor<8x8xf32>, %arg2: tensor<3x1xi32>, %arg3: tensor<3x8xf32>, %arg4: tensor<3x7xf32>) {
  // expected-error@+1 {{expected updates of one shape, got 'tensor<3x8xf32>' and 'tensor<3x7xf32>'}}
  %r:2 = "stablehlo.scatter"(%arg0, %arg1, %arg2, %arg3, %arg4) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %w: tensor<f32>): "stablehlo.return"(%x, %y) : (tensor<f32>, tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>, tensor<3x7xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
  return
}

// -----

func.func @scatter_c4(%arg0: tensor<8x8xf32>, %arg1: tensor<3x1xi32>, %arg2: tensor<4x8xf32>) {
  // expected-error@+1 {{expected updates of size 3 in dimension 0, as the indices, got 4}}
  %r = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<8x8xf32>, tensor<3x1xi32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @scatter_c5(%arg0: tensor<8x8xf32>, %arg1: tensor<3x1xi32>, %arg2: tensor<3x8xf32>) {
  // expected-error@+1 {{expected results of the types of the operands, 'tensor<8x8xf32>', got }}
  "stablehlo.scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<8x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> ()
  return
}

// -----

func.func @scatter_c6(%arg0: tensor<8x8xf32>, %arg1: tensor<3x1xi32>, %arg2: tensor<3x8xf64>) {
  // expected-error@+1 {{expected the update computation to compute in a type to which 'f64' can be promoted, got 'f32'}}
  %r = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<8x8xf32>, tensor<3x1xi32>, tensor<3x8xf64>) -> tensor<8x8xf32>
  return
}

// -----

func.func @scatter_c7(%arg0: tensor<8x8x8xf32>, %arg1: tensor<3x1xi32>, %arg2: tensor<3x8x8xf32>) {
  // expected-error@+1 {{expected update_window_dims to be sorted, got [2, 1]}}
  %r = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<8x8x8xf32>, tensor<3x1xi32>, tensor<3x8x8xf32>) -> tensor<8x8x8xf32>
  return
}

// -----

func.func @scatter_c8(%arg0: tensor<8x8xf32>, %arg1: tensor<3x1xi32>, %arg2: tensor<3x8xf32>) {
  // expected-error@+1 {{expected update_window_dims in range [0, 2), got 2}}
  %r = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<8x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @scatter_c9(%arg0: tensor<8x8x8xf32>, %arg1: tensor<3x1xi32>, %arg2: tensor<3x8xf32>) {
  // expected-error@+1 {{expected inserted_window_dims to be unique, got [0, 0]}}
  %r = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<8x8x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<8x8x8xf32>
  return
}

// -----

func.func @scatter_c10(%arg0: tensor<8x8x8xf32>, %arg1: tensor<3x1xi32>, %arg2: tensor<3x8xf32>) {
  // expected-error@+1 {{expected inserted_window_dims to be sorted, got [1, 0]}}
  %r = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [1, 0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<8x8x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<8x8x8xf32>
  return
}

// -----

func.func @scatter_c11(%arg0: tensor<8x8xf32>, %arg1: tensor<3x1xi32>, %arg2: tensor<3x8xf32>) {
  // expected-error@+1 {{expected inserted_window_dims in range [0, 2), got 2}}
  %r = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [2], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<8x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @scatter_c12(%arg0: tensor<3x3x8xf32>, %arg1: tensor<3x3x1xi32>, %arg2: tensor<3x3x8xf32>) {
  // expected-error@+1 {{expected input_batching_dims to be sorted, got [1, 0]}}
  %r = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [], input_batching_dims = [1, 0], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 2>} : (tensor<3x3x8xf32>, tensor<3x3x1xi32>, tensor<3x3x8xf32>) -> tensor<3x3x8xf32>
  return
}

// -----

func.func @scatter_c13(%arg0: tensor<3x8x8xf32>, %arg1: tensor<3x1xi32>, %arg2: tensor<3x8xf32>) {
  // expected-error@+1 {{expected input_batching_dims in range [0, 3), got 3}}
  %r = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [1], input_batching_dims = [3], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>} : (tensor<3x8x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<3x8x8xf32>
  return
}

// -----

func.func @scatter_c14(%arg0: tensor<3x3x8xf32>, %arg1: tensor<3x3x1xi32>, %arg2: tensor<3x3x8xf32>) {
  // expected-error@+1 {{expected scatter_indices_batching_dims to be unique, got [0, 0]}}
  %r = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 0], scatter_dims_to_operand_dims = [2], index_vector_dim = 2>} : (tensor<3x3x8xf32>, tensor<3x3x1xi32>, tensor<3x3x8xf32>) -> tensor<3x3x8xf32>
  return
}

// -----

func.func @scatter_c15(%arg0: tensor<3x8x8xf32>, %arg1: tensor<3x1xi32>, %arg2: tensor<3x8xf32>) {
  // expected-error@+1 {{expected scatter_indices_batching_dims in range [0, 2), got 2}}
  %r = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [2], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>} : (tensor<3x8x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<3x8x8xf32>
  return
}

// -----

func.func @scatter_c16(%arg0: tensor<3x8x8xf32>, %arg1: tensor<3x1xi32>, %arg2: tensor<3x8xf32>) {
  // expected-error@+1 {{expected scatter_indices_batching_dims without index_vector_dim 1}}
  %r = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>} : (tensor<3x8x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<3x8x8xf32>
  return
}

// -----

func.func @scatter_c17(%arg0: tensor<3x8x8xf32>, %arg1: tensor<3x1xi32>, %arg2: tensor<3x8xf32>) {
  // expected-error@+1 {{expected as many input_batching_dims as scatter_indices_batching_dims, got 1 and 0}}
  %r = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>} : (tensor<3x8x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<3x8x8xf32>
  return
}

// -----

func.func @scatter_c18(%arg0: tensor<4x8x8xf32>, %arg1: tensor<3x1xi32>, %arg2: tensor<3x8xf32>) {
  // expected-error@+1 {{expected batching dimensions of one size, got 4 of the operand and 3 of the indices}}
  %r = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>} : (tensor<4x8x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<4x8x8xf32>
  return
}

// -----

func.func @scatter_c19(%arg0: tensor<8x8xf32>, %arg1: tensor<3x1xi32>, %arg2: tensor<3x8xf32>) {
  // expected-error@+1 {{expected 1 entries of scatter_dims_to_operand_dims, as in an index vector, got 2}}
  %r = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>} : (tensor<8x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @scatter_c20(%arg0: tensor<3x8x8xf32>, %arg1: tensor<3x1xi32>, %arg2: tensor<3x8xf32>) {
  // expected-error@+1 {{expected no dimension in both scatter_dims_to_operand_dims and input_batching_dims, got 0}}
  %r = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<3x8x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<3x8x8xf32>
  return
}

// -----

func.func @scatter_c21(%arg0: tensor<8x8xf32>, %arg1: tensor<3x1xi32>, %arg2: tensor<3x8xf32>) {
  // expected-error@+1 {{expected scatter_dims_to_operand_dims in range [0, 2), got 2}}
  %r = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [2], index_vector_dim = 1>} : (tensor<8x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @scatter_c22(%arg0: tensor<8x8xf32>, %arg1: tensor<3x1xi32>, %arg2: tensor<3x8xf32>) {
  // expected-error@+1 {{expected index_vector_dim in range [0, 2], got 3}}
  %r = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 3>} : (tensor<8x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @scatter_c23(%arg0: tensor<8x8xf32>, %arg1: tensor<3x1xi32>, %arg2: tensor<3x8xf32>) {
  // expected-error@+1 {{expected the update computation to take 'tensor<i1>', 'tensor<i1>', got 'tensor<f32>', 'tensor<f32>'}}
  %r = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.compare"(%x, %y) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<8x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @scatter_c24(%arg0: tensor<8x8xf32>, %arg1: tensor<3x1xi32>, %arg2: tensor<3x8xf32>) {
  // expected-error@+1 {{expected results of the types of the operands, 'tensor<8x8xf32>', got 'tensor<8x7xf32>'}}
  %r = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<8x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<8x7xf32>
  return
}

// -----

func.func @scatter_c25(%arg0: tensor<8x8xf32>, %arg1: tensor<3x1xi32>, %arg2: tensor<3x8xf32>) {
  // expected-error@+1 {{expected results of the types of the operands, 'tensor<8x8xf32>', got 'tensor<8x8xf64>'}}
  %r = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<8x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<8x8xf64>
  return
}

// -----

func.func @torch_index_select_c1(%arg0: tensor<5x1x5xi32>, %arg1: tensor<2xi32>) {
  // expected-error@+1 {{expected dim in range [0, 3), got 3}}
  %r = "stablehlo.torch_index_select"(%arg0, %arg1) {dim = 3 : i64, batch_dims = 0 : i64} : (tensor<5x1x5xi32>, tensor<2xi32>) -> tensor<2x1x5xi32>
  return
}

// -----

func.func @torch_index_select_c2(%arg0: tensor<5x1x5xi32>, %arg1: tensor<2xi32>) {
  // expected-error@+1 {{expected a result of type 'tensor<2x1x5xi32>', got 'tensor<2x1x5xi64>'}}
  %r = "stablehlo.torch_index_select"(%arg0, %arg1) {dim = 0 : i64, batch_dims = 0 : i64} : (tensor<5x1x5xi32>, tensor<2xi32>) -> tensor<2x1x5xi64>
  return
}

// -----

func.func @torch_index_select_c3(%arg0: tensor<5x1x5xi32>, %arg1: tensor<2xi32>) {
  // expected-error@+1 {{expected a result of type 'tensor<2x1x5xi32>', got 'tensor<3x1x5xi32>'}}
  %r = "stablehlo.torch_index_select"(%arg0, %arg1) {dim = 0 : i64, batch_dims = 0 : i64} : (tensor<5x1x5xi32>, tensor<2xi32>) -> tensor<3x1x5xi32>
  return
}
