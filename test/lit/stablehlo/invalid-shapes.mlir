// Checks what ops reject that move elements.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @iota() {
  // expected-error@+1 {{expected iota_dimension in range [0, 1), got 1}}
  %0 = stablehlo.iota dim = 1 : tensor<4xf32>
  return
}

// -----

func.func @broadcast_in_dim_count(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected 2 broadcast_dimensions, one per dimension, got 1}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @broadcast_in_dim_range(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected broadcast_dimensions in range [0, 2), got 2}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @broadcast_in_dim_unique(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected broadcast_dimensions to be unique, got [0, 0]}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 0] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @broadcast_in_dim_element(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected a result of element type 'f32', got 'f64'}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<4x8xf32>) -> tensor<4x8xf64>
  return
}

// -----

func.func @broadcast_in_dim_size(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected dimension 1 of the operand to be 1 or 9, got 8}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<4x8xf32>) -> tensor<4x9xf32>
  return
}

// -----

func.func @transpose_count(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected 2 permutation entries, one per dimension, got 1}}
  %0 = stablehlo.transpose %a, dims = [0] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @transpose_result(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected a result of shape [8, 4], got [4, 8]}}
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @reverse(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected dimensions in range [0, 2), got -1}}
  %0 = stablehlo.reverse %a, dims = [-1] : tensor<4x8xf32>
  return
}

// -----

func.func @reshape(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected a result of 32 elements, got 'tensor<31xf32>'}}
  %0 = stablehlo.reshape %a : (tensor<4x8xf32>) -> tensor<31xf32>
  return
}

// -----

func.func @slice_count(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected 2 start_indices, one per dimension, got 1}}
  %0 = stablehlo.slice %a [0:4] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @slice_range(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected 0 <= start <= limit <= 8 and stride >= 1 in dimension 1, got 2:9:1}}
  %0 = stablehlo.slice %a [0:4, 2:9] : (tensor<4x8xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @slice_result(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected a result of shape [4, 3], got [4, 4]}}
  %0 = stablehlo.slice %a [0:4, 2:8:2] : (tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @dynamic_slice_count(%a: tensor<4x8xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{expected 2 start_indices, one per dimension, got 1}}
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [1, 1] : (tensor<4x8xf32>, tensor<i32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @dynamic_slice_sizes(%a: tensor<4x8xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{expected slice size in range [0, 8] in dimension 1, got 9}}
  %0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [1, 9] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x9xf32>
  return
}

// -----

func.func @dynamic_update_slice_rank(%a: tensor<4x8xf32>, %i: tensor<i32>, %u: tensor<4xf32>) {
  // expected-error@+1 {{expected an update of rank 2, got 'tensor<4xf32>'}}
  %0 = stablehlo.dynamic_update_slice %a, %u, %i, %i : (tensor<4x8xf32>, tensor<4xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @dynamic_update_slice_size(%a: tensor<4x8xf32>, %i: tensor<i32>, %u: tensor<4x9xf32>) {
  // expected-error@+1 {{expected an update that fits the operand 'tensor<4x8xf32>', got 'tensor<4x9xf32>'}}
  %0 = stablehlo.dynamic_update_slice %a, %u, %i, %i : (tensor<4x8xf32>, tensor<4x9xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @concatenate_nothing() {
  // expected-error@+1 {{expected at least one operand}}
  %0 = "stablehlo.concatenate"() <{dimension = 0 : i64}> : () -> tensor<4xf32>
  return
}

// -----

func.func @concatenate_types(%a: tensor<4x8xf32>, %b: tensor<4x9xi32>) {
  // expected-error@+1 {{expected operands that differ along dimension 1 only, got 'tensor<4x8xf32>' and 'tensor<4x9xi32>'}}
  %0 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<4x8xf32>, tensor<4x9xi32>) -> tensor<4x17xf32>
  return
}

// -----

func.func @concatenate_result(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected a result of shape [4, 16], got [4, 17]}}
  %0 = stablehlo.concatenate %a, %a, dim = 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x17xf32>
  return
}

// -----

func.func @pad_count(%a: tensor<4x8xf32>, %v: tensor<f32>) {
  // expected-error@+1 {{expected 2 edge_padding_low, one per dimension, got 1}}
  %0 = stablehlo.pad %a, %v, low = [0], high = [0, 0], interior = [0, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @pad_value(%a: tensor<4x8xf32>, %v: tensor<1xf32>) {
  // expected-error@+1 {{expected a padding value of rank 0, got 'tensor<1xf32>'}}
  %0 = stablehlo.pad %a, %v, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @pad_interior(%a: tensor<4x8xf32>, %v: tensor<f32>) {
  // expected-error@+1 {{expected interior padding of at least 0, got -1}}
  %0 = stablehlo.pad %a, %v, low = [0, 0], high = [0, 0], interior = [0, -1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @pad_too_much(%a: tensor<4x8xf32>, %v: tensor<f32>) {
  // expected-error@+1 {{expected padding that leaves dimension 0 at least 0, got -1}}
  %0 = stablehlo.pad %a, %v, low = [-5, 0], high = [0, 0], interior = [0, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @pad_result(%a: tensor<4x8xf32>, %v: tensor<f32>) {
  // expected-error@+1 {{expected a result of shape [7, 8], got [4, 8]}}
  %0 = stablehlo.pad %a, %v, low = [0, 0], high = [0, 0], interior = [1, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}
