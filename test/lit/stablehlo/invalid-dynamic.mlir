// Checks what ops reject whose shapes are computed.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @get_dimension_size_c1(%a: tensor<2x?xf32>) {
  // expected-error@+1 {{expected dimension in range [0, 2), got 2}}
  %0 = stablehlo.get_dimension_size %a, dim = 2 : (tensor<2x?xf32>) -> tensor<i32>
  return
}

// -----

func.func @set_dimension_size_c2(%a: tensor<2x4xf32>, %s: tensor<1xi32>) {
  // expected-error@+1 {{expected size of rank 0, got 'tensor<1xi32>'}}
  %0 = stablehlo.set_dimension_size %a, %s, dim = 1 : (tensor<2x4xf32>, tensor<1xi32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @set_dimension_size_c3(%a: tensor<2x4xf32>, %s: tensor<i32>) {
  // expected-error@+1 {{expected a result of type 'tensor<2x?xf32>', got 'tensor<3x?xf32>'}}
  %0 = stablehlo.set_dimension_size %a, %s, dim = 1 : (tensor<2x4xf32>, tensor<i32>) -> tensor<3x?xf32>
  return
}

// -----

func.func @dynamic_iota_c1(%s: tensor<2xi32>) {
  // expected-error@+1 {{expected iota_dimension in range [0, 2), got 2}}
  %0 = stablehlo.dynamic_iota %s, dim = 2 : (tensor<2xi32>) -> tensor<?x4xi32>
  return
}

// -----

func.func @dynamic_iota_c2(%s: tensor<3xi32>) {
  // expected-error@+1 {{expected output_shape of 2 entries, one per dimension, got 'tensor<3xi32>'}}
  %0 = stablehlo.dynamic_iota %s, dim = 1 : (tensor<3xi32>) -> tensor<?x4xi32>
  return
}

// -----

func.func @dynamic_reshape_c2(%a: tensor<11xf32>) {
  %s = stablehlo.constant dense<[2, 5]> : tensor<2xi32>
  // expected-error@+1 {{expected a result of 11 elements, got 10 of shape [2, 5]}}
  %0 = stablehlo.dynamic_reshape %a, %s : (tensor<11xf32>, tensor<2xi32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @dynamic_broadcast_in_dim_c2(%a: tensor<4x1xf32>, %s: tensor<3xi32>) {
  // expected-error@+1 {{expected 2 broadcast_dimensions, one per dimension, got 1}}
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1] : (tensor<4x1xf32>, tensor<3xi32>) -> tensor<7x8x9xf32>
  return
}

// -----

func.func @dynamic_broadcast_in_dim_c3(%a: tensor<4xf32>, %s: tensor<2xi32>) {
  // expected-error@+1 {{expected dimension 0 of the operand to be 1 or 8, got 4}}
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1] : (tensor<4xf32>, tensor<2xi32>) -> tensor<7x8xf32>
  return
}

// -----

func.func @dynamic_broadcast_in_dim_c5(%a: tensor<4xf32>, %s: tensor<2xi32>) {
  // expected-error@+1 {{expected known dimensions to be unique, got [0, 0]}}
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1] {known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<2xi32>) -> tensor<7x4xf32>
  return
}

// -----

func.func @dynamic_pad_c1(%a: tensor<?xf32>, %v: tensor<i32>, %s: tensor<1xi32>) {
  // expected-error@+1 {{expected a result of element type 'f32', got 'i32'}}
  %0 = stablehlo.dynamic_pad %a, %v, %s, %s, %s : (tensor<?xf32>, tensor<i32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return
}

// -----

func.func @dynamic_pad_c2(%a: tensor<?xf32>, %v: tensor<f32>, %s: tensor<1xi32>, %t: tensor<2xi32>) {
  // expected-error@+1 {{expected padding of 1 entries, one per dimension, got 'tensor<2xi32>'}}
  %0 = stablehlo.dynamic_pad %a, %v, %s, %t, %s : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<2xi32>, tensor<1xi32>) -> tensor<?xf32>
  return
}

// -----

func.func @real_dynamic_slice_c2(%a: tensor<?xf32>, %s: tensor<1xi32>, %t: tensor<1xi64>) {
  // expected-error@+1 {{expected starts, limits and strides of one type, got 'tensor<1xi32>', 'tensor<1xi64>' and 'tensor<1xi32>'}}
  %0 = stablehlo.real_dynamic_slice %a, %s, %t, %s : (tensor<?xf32>, tensor<1xi32>, tensor<1xi64>, tensor<1xi32>) -> tensor<?xf32>
  return
}

// -----

// bounds_c1
// expected-error@+1 {{expected 2 bounds, one per dimension, got 1}}
func.func private @bounds(tensor<?x2xf32, #stablehlo.bounds<4>>)

// -----

// bounds_c2
// expected-error@+1 {{expected no bound of dimension 1, which has size 2, got 4}}
func.func private @bounds(tensor<?x2xf32, #stablehlo.bounds<?, 4>>)

// -----

// bounds_c3
// expected-error@+1 {{expected bounds of at least 0, got -1}}
func.func private @bounds(tensor<?x2xf32, #stablehlo.bounds<-1, ?>>)
