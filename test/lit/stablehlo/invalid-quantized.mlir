// Checks what ops reject of quantized and bounded tensors, by the label of the constraint in the specification.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @add_c1(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f32', 'f16'}}
  %r = "stablehlo.add"(%arg0, %arg1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @add_c2(%arg0: tensor<2x2x!quant.uniform<i8:f32, 1.0:17>>, %arg1: tensor<2x2x!quant.uniform<i8:f32, 1.0:17>>) {
  // expected-error@+1 {{expected operands and result of one element type, got '!quant.uniform<i8:f32, 1.000000e+00:17>', '!quant.uniform<i8:f32, 1.000000e+00:17>', 'f32'}}
  %r = "stablehlo.add"(%arg0, %arg1) : (tensor<2x2x!quant.uniform<i8:f32, 1.0:17>>, tensor<2x2x!quant.uniform<i8:f32, 1.0:17>>) -> tensor<2x2xf32>
  return
}

// -----

func.func @add_c3(%arg0: tensor<2x2x!quant.uniform<i8:f32, 1.0:17>>, %arg1: tensor<2x2x!quant.uniform<i8:f32, 1.0:17>>) {
  // expected-error@+1 {{expected operands and result of one element type, got '!quant.uniform<i8:f32, 1.000000e+00:17>', '!quant.uniform<i8:f32, 1.000000e+00:17>', '!quant.uniform<i4:f32, 1.000000e+00:1>'}}
  %r = "stablehlo.add"(%arg0, %arg1) : (tensor<2x2x!quant.uniform<i8:f32, 1.0:17>>, tensor<2x2x!quant.uniform<i8:f32, 1.0:17>>) -> tensor<2x2x!quant.uniform<i4:f32, 1.0:1>>
  return
}

// -----

func.func @add_c4(%arg0: tensor<2x2x!quant.uniform<i8:f32, 1.0:17>>, %arg1: tensor<2x2x!quant.uniform<i8:f32, 1.0:17>>) {
  // expected-error@+1 {{expected operands and result of one element type, got '!quant.uniform<i8:f32, 1.000000e+00:17>', '!quant.uniform<i8:f32, 1.000000e+00:17>', '!quant.uniform<i8:f16, 1.000000e+00:1>'}}
  %r = "stablehlo.add"(%arg0, %arg1) : (tensor<2x2x!quant.uniform<i8:f32, 1.0:17>>, tensor<2x2x!quant.uniform<i8:f32, 1.0:17>>) -> tensor<2x2x!quant.uniform<i8:f16, 1.0:1>>
  return
}

// -----

func.func @add_c5(%arg0: tensor<2x2x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>, %arg1: tensor<2x2x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>) {
  // expected-error@+1 {{expected a result with scales along dimension 0, as an operand has, got 'tensor<2x2x!quant.uniform<i8:f32, 1.000000e+00:17>>'}}
  %r = "stablehlo.add"(%arg0, %arg1) : (tensor<2x2x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>, tensor<2x2x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>) -> tensor<2x2x!quant.uniform<i8:f32, 1.0:17>>
  return
}

// -----

func.func @add_c6(%arg0: tensor<2x2x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>, %arg1: tensor<2x2x!quant.uniform<i8:f32, 1.0:17>>) {
  // expected-error@+1 {{expected a result with scales along dimension 0, as an operand has, got 'tensor<2x2x!quant.uniform<i8:f32:1, {1.000000e+00:17,5.000000e-01:3}>>'}}
  %r = "stablehlo.add"(%arg0, %arg1) : (tensor<2x2x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>, tensor<2x2x!quant.uniform<i8:f32, 1.0:17>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {1.0:17, 0.5:3}>>
  return
}

// -----

func.func @add_c7(%arg0: tensor<2x2x!quant.uniform<i8:f32, 1.0:17>>, %arg1: tensor<2x2x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>) {
  // expected-error@+1 {{expected a result with scales along dimension 0, as an operand has, got 'tensor<2x2x!quant.uniform<i8:f32:1, {1.000000e+00:17,5.000000e-01:3}>>'}}
  %r = "stablehlo.add"(%arg0, %arg1) : (tensor<2x2x!quant.uniform<i8:f32, 1.0:17>>, tensor<2x2x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {1.0:17, 0.5:3}>>
  return
}

// -----

func.func @uniform_quantize_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{all non-scalar operands/results must have the same shape and base type}}
  %r = "stablehlo.uniform_quantize"(%arg0) : (tensor<2xf32>) -> tensor<3x!quant.uniform<i8:f32, 1.0:17>>
  return
}

// -----

func.func @uniform_quantize_c2(%arg0: tensor<2xf16>) {
  // expected-error@+1 {{expected a result that expresses 'f16', got '!quant.uniform<i8:f32, 1.000000e+00:17>'}}
  %r = "stablehlo.uniform_quantize"(%arg0) : (tensor<2xf16>) -> tensor<2x!quant.uniform<i8:f32, 1.0:17>>
  return
}

// -----

func.func @uniform_dequantize_c1(%arg0: tensor<2x!quant.uniform<i8:f32, 1.0:17>>) {
  // expected-error@+1 {{all non-scalar operands/results must have the same shape and base type}}
  %r = "stablehlo.uniform_dequantize"(%arg0) : (tensor<2x!quant.uniform<i8:f32, 1.0:17>>) -> tensor<3xf32>
  return
}

// -----

func.func @uniform_dequantize_c2(%arg0: tensor<2x!quant.uniform<i8:f32, 1.0:17>>) {
  // expected-error@+1 {{expected a result that expresses 'f32', got 'f16'}}
  %r = "stablehlo.uniform_dequantize"(%arg0) : (tensor<2x!quant.uniform<i8:f32, 1.0:17>>) -> tensor<2xf16>
  return
}

// -----

func.func @broadcast_in_dim_c6(%arg0: tensor<1x!quant.uniform<i8:f32:0, {0.1:-30}>>) {
  // expected-error@+1 {{expected a result with scales along dimension 0, got 'tensor<2x3x!quant.uniform<i8:f32:1, {1.000000e-01:-30,1.000000e-01:-30,1.000000e-01:-30}>>'}}
  %r = "stablehlo.broadcast_in_dim"(%arg0) {broadcast_dimensions = array<i64: 0>} : (tensor<1x!quant.uniform<i8:f32:0, {0.1:-30}>>) -> tensor<2x3x!quant.uniform<i8:f32:1, {0.1:-30, 0.1:-30, 0.1:-30}>>
  return
}

// -----

func.func @broadcast_in_dim_c6_scales(%arg0: tensor<1x!quant.uniform<i8:f32:0, {0.1:-30}>>) {
  // expected-error@+1 {{expected a result with the scales and zero points of the operand, 'tensor<1x!quant.uniform<i8:f32:0, {1.000000e-01:-30}>>', got 'tensor<2x3x!quant.uniform<i8:f32:0, {1.000000e-01:-30,2.000000e-01:-30}>>'}}
  %r = "stablehlo.broadcast_in_dim"(%arg0) {broadcast_dimensions = array<i64: 0>} : (tensor<1x!quant.uniform<i8:f32:0, {0.1:-30}>>) -> tensor<2x3x!quant.uniform<i8:f32:0, {0.1:-30, 0.2:-30}>>
  return
}

// -----

func.func @broadcast_in_dim_of_two_bounds(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected a result of static shape, or with one bounded dimension, got 'tensor<2x?x?xf32, #stablehlo.bounds<?, 5, 5>>'}}
  %r = "stablehlo.broadcast_in_dim"(%arg0) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x?x?xf32, #stablehlo.bounds<?, 5, 5>>
  return
}

// -----

func.func @broadcast_in_dim_c1_zero_point(%arg0: tensor<2x!quant.uniform<i8:f32, 1.0:17>>) {
  // expected-error@+1 {{expected a result of element type '!quant.uniform<i8:f32, 1.000000e+00:17>', got '!quant.uniform<i8:f32, 1.000000e+00:18>'}}
  %r = "stablehlo.broadcast_in_dim"(%arg0) {broadcast_dimensions = array<i64: 0>} : (tensor<2x!quant.uniform<i8:f32, 1.0:17>>) -> tensor<2x3x!quant.uniform<i8:f32, 1.0:18>>
  return
}

// -----

func.func @pad_c4_of_a_bound(%arg0: tensor<?xf32, #stablehlo.bounds<3>>, %arg1: tensor<f32>) {
  // expected-error@+1 {{expected padding that leaves dimension 0 at least 0, got -7}}
  %r = "stablehlo.pad"(%arg0, %arg1) {edge_padding_low = array<i64: -10>, edge_padding_high = array<i64: 0>, interior_padding = array<i64: 0>} : (tensor<?xf32, #stablehlo.bounds<3>>, tensor<f32>) -> tensor<?xf32>
  return
}

// -----

func.func @reshape_c1(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected a result of element type 'f32', got 'f16'}}
  %r = "stablehlo.reshape"(%arg0) : (tensor<4xf32>) -> tensor<2x2xf16>
  return
}

// -----

func.func @reshape_c3(%arg0: tensor<2x3x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>) {
  // expected-error@+1 {{expected a result whose elements keep their scales, along dimension 0 of 'tensor<2x3x!quant.uniform<i8:f32:0, {1.000000e+00:17,5.000000e-01:3}>>', got 'tensor<3x2x!quant.uniform<i8:f32:1, {1.000000e+00:17,5.000000e-01:3}>>'}}
  %r = "stablehlo.reshape"(%arg0) : (tensor<2x3x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>) -> tensor<3x2x!quant.uniform<i8:f32:1, {1.0:17, 0.5:3}>>
  return
}

// -----

func.func @reshape_c1_scales(%arg0: tensor<2x3x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>) {
  // expected-error@+1 {{expected a result with the scales and zero points of the operand, 'tensor<2x3x!quant.uniform<i8:f32:0, {1.000000e+00:17,5.000000e-01:3}>>', got 'tensor<2x3x!quant.uniform<i8:f32:0, {1.000000e+00:17,2.500000e-01:3}>>'}}
  %r = "stablehlo.reshape"(%arg0) : (tensor<2x3x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>) -> tensor<2x3x!quant.uniform<i8:f32:0, {1.0:17, 0.25:3}>>
  return
}

// -----

func.func @reshape_to_unknown(%arg0: tensor<?xf32>) {
  // expected-error@+1 {{expected a result of static shape, or with one bounded dimension, got 'tensor<?x2xf32>'}}
  %r = "stablehlo.reshape"(%arg0) : (tensor<?xf32>) -> tensor<?x2xf32>
  return
}

// -----

func.func @reshape_to_two_bounds(%arg0: tensor<?x?xf32, #stablehlo.bounds<5, 5>>) {
  // expected-error@+1 {{expected a result of static shape, or with one bounded dimension, got 'tensor<?x?xf32, #stablehlo.bounds<5, 5>>'}}
  %r = "stablehlo.reshape"(%arg0) : (tensor<?x?xf32, #stablehlo.bounds<5, 5>>) -> tensor<?x?xf32, #stablehlo.bounds<5, 5>>
  return
}

// -----

func.func @dynamic_reshape_c3(%arg0: tensor<2x3x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>, %arg1: tensor<2xi32>) {
  // expected-error@+1 {{expected a result whose elements keep their scales, along dimension 0 of 'tensor<2x3x!quant.uniform<i8:f32:0, {1.000000e+00:17,5.000000e-01:3}>>', got 'tensor<3x2x!quant.uniform<i8:f32:1, {1.000000e+00:17,5.000000e-01:3}>>'}}
  %r = "stablehlo.dynamic_reshape"(%arg0, %arg1) : (tensor<2x3x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>, tensor<2xi32>) -> tensor<3x2x!quant.uniform<i8:f32:1, {1.0:17, 0.5:3}>>
  return
}

// -----

func.func @dynamic_broadcast_in_dim_c6(%arg0: tensor<1x!quant.uniform<i8:f32:0, {0.1:-30}>>, %arg1: tensor<2xi32>) {
  // expected-error@+1 {{expected a result with scales along dimension 0, got 'tensor<2x3x!quant.uniform<i8:f32:1, {1.000000e-01:-30,1.000000e-01:-30,1.000000e-01:-30}>>'}}
  %r = "stablehlo.dynamic_broadcast_in_dim"(%arg0, %arg1) {broadcast_dimensions = array<i64: 0>} : (tensor<1x!quant.uniform<i8:f32:0, {0.1:-30}>>, tensor<2xi32>) -> tensor<2x3x!quant.uniform<i8:f32:1, {0.1:-30, 0.1:-30, 0.1:-30}>>
  return
}

// -----

func.func @slice_c3_of_a_bound(%arg0: tensor<?xf32, #stablehlo.bounds<4>>) {
  // expected-error@+1 {{expected 0 <= start <= limit <= 4 and stride >= 1 in dimension 0, got 0:5:1}}
  %r = "stablehlo.slice"(%arg0) {start_indices = array<i64: 0>, limit_indices = array<i64: 5>, strides = array<i64: 1>} : (tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<?xf32>
  return
}

// -----

func.func @transpose_c4(%arg0: tensor<2x3x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>) {
  // expected-error@+1 {{expected a result with scales along dimension 1, got 'tensor<3x2x!quant.uniform<i8:f32:0, {1.000000e+00:17,5.000000e-01:3,5.000000e-01:3}>>'}}
  %r = "stablehlo.transpose"(%arg0) {permutation = array<i64: 1, 0>} : (tensor<2x3x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>) -> tensor<3x2x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3, 0.5:3}>>
  return
}

// -----

func.func @transpose_c1_zero_points(%arg0: tensor<2x3x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>) {
  // expected-error@+1 {{expected a result with the scales and zero points of the operand, 'tensor<2x3x!quant.uniform<i8:f32:0, {1.000000e+00:17,5.000000e-01:3}>>', got 'tensor<3x2x!quant.uniform<i8:f32:1, {1.000000e+00:17,5.000000e-01:4}>>'}}
  %r = "stablehlo.transpose"(%arg0) {permutation = array<i64: 1, 0>} : (tensor<2x3x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>) -> tensor<3x2x!quant.uniform<i8:f32:1, {1.0:17, 0.5:4}>>
  return
}

// -----

func.func @dot_general_c14(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x5x!quant.uniform<i8:f32, 1.0:0>>) {
  // expected-error@+1 {{operands 'tensor<2x3x4xf32>' and 'tensor<2x3x5x!quant.uniform<i8:f32, 1.000000e+00>>', result 'tensor<2x4x5x!quant.uniform<i8:f32, 1.000000e+00:17>>': expected a quantized rhs, and lhs and result both quantized or neither}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>} : (tensor<2x3x4xf32>, tensor<2x3x5x!quant.uniform<i8:f32, 1.0:0>>) -> tensor<2x4x5x!quant.uniform<i8:f32, 1.0:17>>
  return
}

// -----

func.func @dot_general_c15(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x5x!quant.uniform<i8:f32, 1.0:17>>) {
  // expected-error@+1 {{operands 'tensor<2x3x4xf32>' and 'tensor<2x3x5x!quant.uniform<i8:f32, 1.000000e+00:17>>', result 'tensor<2x4x5xf32>': expected zero points of rhs to be 0}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>} : (tensor<2x3x4xf32>, tensor<2x3x5x!quant.uniform<i8:f32, 1.0:17>>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @dot_general_c16(%arg0: tensor<2x3x4x!quant.uniform<i8:f32, 1.0:17>>, %arg1: tensor<2x3x5x!quant.uniform<i8:f32:1, {0.1:0, 0.1:0, 0.1:0}>>) {
  // expected-error@+1 {{operands 'tensor<2x3x4x!quant.uniform<i8:f32, 1.000000e+00:17>>' and 'tensor<2x3x5x!quant.uniform<i8:f32:1, {1.000000e-01,1.000000e-01,1.000000e-01}>>', result 'tensor<2x4x5x!quant.uniform<i8:f32, 1.000000e+00:17>>': expected no scales along dimension 1 of rhs}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>} : (tensor<2x3x4x!quant.uniform<i8:f32, 1.0:17>>, tensor<2x3x5x!quant.uniform<i8:f32:1, {0.1:0, 0.1:0, 0.1:0}>>) -> tensor<2x4x5x!quant.uniform<i8:f32, 1.0:17>>
  return
}

// -----

func.func @dot_general_c17(%arg0: tensor<2x3x4x!quant.uniform<i16:f32, 1.0:0>>, %arg1: tensor<2x3x5x!quant.uniform<i8:f32, 1.0:0>>) {
  // expected-error@+1 {{operands 'tensor<2x3x4x!quant.uniform<i16:f32, 1.000000e+00>>' and 'tensor<2x3x5x!quant.uniform<i8:f32, 1.000000e+00>>', result 'tensor<2x4x5x!quant.uniform<i8:f32, 1.000000e+00:17>>': expected operands of one storage type}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>} : (tensor<2x3x4x!quant.uniform<i16:f32, 1.0:0>>, tensor<2x3x5x!quant.uniform<i8:f32, 1.0:0>>) -> tensor<2x4x5x!quant.uniform<i8:f32, 1.0:17>>
  return
}

// -----

func.func @dot_general_c18(%arg0: tensor<2x3x4x!quant.uniform<i8:f32, 1.0:17>>, %arg1: tensor<2x3x5x!quant.uniform<i8:f16, 1.0:0>>) {
  // expected-error@+1 {{operands 'tensor<2x3x4x!quant.uniform<i8:f32, 1.000000e+00:17>>' and 'tensor<2x3x5x!quant.uniform<i8:f16, 1.000000e+00>>', result 'tensor<2x4x5x!quant.uniform<i8:f32, 1.000000e+00:17>>': expected operands and result that express one type}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>} : (tensor<2x3x4x!quant.uniform<i8:f32, 1.0:17>>, tensor<2x3x5x!quant.uniform<i8:f16, 1.0:0>>) -> tensor<2x4x5x!quant.uniform<i8:f32, 1.0:17>>
  return
}

// -----

func.func @dot_general_c19(%arg0: tensor<2x3x4x!quant.uniform<i8:f32, 1.0:17>>, %arg1: tensor<2x3x5x!quant.uniform<i8:f32, 1.0:0>>) {
  // expected-error@+1 {{operands 'tensor<2x3x4x!quant.uniform<i8:f32, 1.000000e+00:17>>' and 'tensor<2x3x5x!quant.uniform<i8:f32, 1.000000e+00>>', result 'tensor<2x4x5x!quant.uniform<i8:f32:0, {1.000000e-01:-30,1.000000e-01:-30}>>': expected one scale for the whole result, as rhs has}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>} : (tensor<2x3x4x!quant.uniform<i8:f32, 1.0:17>>, tensor<2x3x5x!quant.uniform<i8:f32, 1.0:0>>) -> tensor<2x4x5x!quant.uniform<i8:f32:0, {0.1:-30, 0.1:-30}>>
  return
}

// -----

func.func @dot_general_c20(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x5x!quant.uniform<i8:f16, 1.0:0>>) {
  // expected-error@+1 {{operands 'tensor<2x3x4xf32>' and 'tensor<2x3x5x!quant.uniform<i8:f16, 1.000000e+00>>', result 'tensor<2x4x5xf32>': expected operands and result that express one type}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>} : (tensor<2x3x4xf32>, tensor<2x3x5x!quant.uniform<i8:f16, 1.0:0>>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @dot_general_scales_of_lhs(%arg0: tensor<2x3x4x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>, %arg1: tensor<2x3x5x!quant.uniform<i8:f32, 1.0:0>>) {
  // expected-error@+1 {{operands 'tensor<2x3x4x!quant.uniform<i8:f32:0, {1.000000e+00:17,5.000000e-01:3}>>' and 'tensor<2x3x5x!quant.uniform<i8:f32, 1.000000e+00>>', result 'tensor<2x4x5x!quant.uniform<i8:f32, 1.000000e+00:17>>': expected one scale for all of lhs}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>} : (tensor<2x3x4x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>, tensor<2x3x5x!quant.uniform<i8:f32, 1.0:0>>) -> tensor<2x4x5x!quant.uniform<i8:f32, 1.0:17>>
  return
}

// -----

func.func @quantized_type_c8(%arg0: tensor<2x!quant.uniform<i8:f32, 1.0:300>>) {
  // expected-error@+1 {{expected a zero point from -128 to 127, got 'tensor<2x!quant.uniform<i8:f32, 1.000000e+00:300>>'}}
  %r = "stablehlo.negate"(%arg0) : (tensor<2x!quant.uniform<i8:f32, 1.0:300>>) -> tensor<2x!quant.uniform<i8:f32, 1.0:300>>
  return
}

// -----

func.func @quantized_type_c8_least(%arg0: tensor<2x!quant.uniform<i8:f32, 1.0:-129>>) {
  // expected-error@+1 {{expected a zero point from -128 to 127, got 'tensor<2x!quant.uniform<i8:f32, 1.000000e+00:-129>>'}}
  %r = "stablehlo.negate"(%arg0) : (tensor<2x!quant.uniform<i8:f32, 1.0:-129>>) -> tensor<2x!quant.uniform<i8:f32, 1.0:-129>>
  return
}

// -----

func.func @quantized_type_c8_most(%arg0: tensor<2x!quant.uniform<i8:f32, 1.0:128>>) {
  // expected-error@+1 {{expected a zero point from -128 to 127, got 'tensor<2x!quant.uniform<i8:f32, 1.000000e+00:128>>'}}
  %r = "stablehlo.negate"(%arg0) : (tensor<2x!quant.uniform<i8:f32, 1.0:128>>) -> tensor<2x!quant.uniform<i8:f32, 1.0:128>>
  return
}

// -----

func.func @quantized_type_c12(%arg0: tensor<2x2x!quant.uniform<i8:f32:2, {1.0:17, 0.5:3}>>) {
  // expected-error@+1 {{expected a quantization dimension in range [0, 2), got 'tensor<2x2x!quant.uniform<i8:f32:2, {1.000000e+00:17,5.000000e-01:3}>>'}}
  %r = "stablehlo.uniform_dequantize"(%arg0) : (tensor<2x2x!quant.uniform<i8:f32:2, {1.0:17, 0.5:3}>>) -> tensor<2x2xf32>
  return
}

// -----

func.func @quantized_type_c13(%arg0: tensor<3x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>) {
  // expected-error@+1 {{expected 3 scales, one for each slice of dimension 0, got 2 in 'tensor<3x!quant.uniform<i8:f32:0, {1.000000e+00:17,5.000000e-01:3}>>'}}
  %r = "stablehlo.uniform_dequantize"(%arg0) : (tensor<3x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>) -> tensor<3xf32>
  return
}

// -----

func.func @quantized_type_signed_storage(%arg0: tensor<2x!quant.uniform<si8:f32, 1.0>>) {
  // expected-error@+1 {{expected a signless or unsigned storage type, got 'tensor<2x!quant.uniform<i8:f32, 1.000000e+00>>'}}
  %r = "stablehlo.uniform_dequantize"(%arg0) : (tensor<2x!quant.uniform<si8:f32, 1.0>>) -> tensor<2xf32>
  return
}

// -----

func.func @abs_of_scales_per_axis(%arg0: tensor<2x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>) {
  // expected-error@+1 {{expected one scale for the whole tensor, got 'tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00:17,5.000000e-01:3}>>'}}
  %r = "stablehlo.abs"(%arg0) : (tensor<2x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>) -> tensor<2x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>
  return
}

// -----

func.func @cosine_of_scales_per_axis(%arg0: tensor<2x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>) {
  // expected-error@+1 {{expected one scale for the whole tensor, got 'tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00:17,5.000000e-01:3}>>'}}
  %r = "stablehlo.cosine"(%arg0) : (tensor<2x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>) -> tensor<2x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>
  return
}

// -----

func.func @sign_of_scales_per_axis(%arg0: tensor<2x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>) {
  // expected-error@+1 {{expected one scale for the whole tensor, got 'tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00:17,5.000000e-01:3}>>'}}
  %r = "stablehlo.sign"(%arg0) : (tensor<2x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>) -> tensor<2x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>
  return
}

// -----

func.func @optimization_barrier_of_scales_per_axis(%arg0: tensor<2x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>) {
  // expected-error@+1 {{expected one scale for the whole tensor, got 'tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00:17,5.000000e-01:3}>>'}}
  %r = "stablehlo.optimization_barrier"(%arg0) : (tensor<2x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>) -> tensor<2x!quant.uniform<i8:f32:0, {1.0:17, 0.5:3}>>
  return
}

// -----

func.func @constant_of_unsigned_numbers() {
  // expected-error@+1 {{expected a result of the type of the value, 'tensor<2xui8>', got 'tensor<2x!quant.uniform<i8:f32, 1.000000e+00:17>>'}}
  %r = "stablehlo.constant"() {value = dense<1> : tensor<2xui8>} : () -> tensor<2x!quant.uniform<i8:f32, 1.0:17>>
  return
}

// -----

func.func @add_beyond_a_bound(%arg0: tensor<?xf32, #stablehlo.bounds<4>>, %arg1: tensor<?xf32, #stablehlo.bounds<4>>) {
  // expected-error@+1 {{expected dimension 0 of at most 4 elements, as 'tensor<?xf32, #stablehlo.bounds<4>>' has, got 'tensor<5xf32>'}}
  %r = "stablehlo.add"(%arg0, %arg1) : (tensor<?xf32, #stablehlo.bounds<4>>, tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<5xf32>
  return
}

// -----

func.func @chlo_broadcast_add_quantized(%arg0: tensor<2x!quant.uniform<i8:f32, 1.0:17>>, %arg1: tensor<2x!quant.uniform<i8:f32, 1.0:17>>) {
  // expected-error@+1 {{expected a result of element type '!quant.uniform<i8:f32, 1.000000e+00:17>', got '!quant.uniform<i16:f32, 1.000000e+00:17>'}}
  %r = "chlo.broadcast_add"(%arg0, %arg1) : (tensor<2x!quant.uniform<i8:f32, 1.0:17>>, tensor<2x!quant.uniform<i8:f32, 1.0:17>>) -> tensor<2x!quant.uniform<i16:f32, 1.0:17>>
  return
}

// -----

func.func @chlo_mulhi_of_booleans(%arg0: tensor<2xi1>, %arg1: tensor<2xi1>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 2-bit integer or 4-bit integer or 8-bit integer or 16-bit integer or 32-bit integer or 64-bit integer values, but got 'tensor<2xi1>'}}
  %r = "chlo.mulhi"(%arg0, %arg1) : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}

// -----

func.func @convolution_c28(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x3x2x6x!quant.uniform<i8:f32, 5.0:20>>) {
  // expected-error@+1 {{operands 'tensor<2x4x4x2xf32>' and 'tensor<3x3x2x6x!quant.uniform<i8:f32, 5.000000e+00:20>>', result 'tensor<2x2x2x6x!quant.uniform<i8:f32, 5.000000e+00:20>>': expected a quantized rhs, and lhs and result both quantized or neither}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<3x3x2x6x!quant.uniform<i8:f32, 5.0:20>>) -> tensor<2x2x2x6x!quant.uniform<i8:f32, 5.0:20>>
  return
}

// -----

func.func @convolution_c29(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x3x2x6x!quant.uniform<i8:f32:2, {5.0:20, 5.0:20}>>) {
  // expected-error@+1 {{operands 'tensor<2x4x4x2xf32>' and 'tensor<3x3x2x6x!quant.uniform<i8:f32:2, {5.000000e+00:20,5.000000e+00:20}>>', result 'tensor<2x2x2x6xf32>': expected no scales along dimension 2 of rhs}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<3x3x2x6x!quant.uniform<i8:f32:2, {5.0:20, 5.0:20}>>) -> tensor<2x2x2x6xf32>
  return
}

// -----

func.func @convolution_c30(%arg0: tensor<2x4x4x2x!quant.uniform<i8:f32, 5.0:20>>, %arg1: tensor<3x3x2x6x!quant.uniform<i8:f32:3, {5.0:20, 5.0:20, 5.0:20, 5.0:20, 5.0:20, 5.0:20}>>) {
  // expected-error@+1 {{operands 'tensor<2x4x4x2x!quant.uniform<i8:f32, 5.000000e+00:20>>' and 'tensor<3x3x2x6x!quant.uniform<i8:f32:3, {5.000000e+00:20,5.000000e+00:20,5.000000e+00:20,5.000000e+00:20,5.000000e+00:20,5.000000e+00:20}>>', result 'tensor<2x2x2x6x!quant.uniform<i8:f32:0, {5.000000e+00:20,5.000000e+00:20}>>': expected scales of the result along dimension 3}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x4x4x2x!quant.uniform<i8:f32, 5.0:20>>, tensor<3x3x2x6x!quant.uniform<i8:f32:3, {5.0:20, 5.0:20, 5.0:20, 5.0:20, 5.0:20, 5.0:20}>>) -> tensor<2x2x2x6x!quant.uniform<i8:f32:0, {5.0:20, 5.0:20}>>
  return
}

// -----

func.func @convolution_c31(%arg0: tensor<2x4x4x2x!quant.uniform<i8:f32, 5.0:20>>, %arg1: tensor<3x3x2x6x!quant.uniform<i16:f32, 5.0:20>>) {
  // expected-error@+1 {{operands 'tensor<2x4x4x2x!quant.uniform<i8:f32, 5.000000e+00:20>>' and 'tensor<3x3x2x6x!quant.uniform<i16:f32, 5.000000e+00:20>>', result 'tensor<2x2x2x6x!quant.uniform<i8:f32, 5.000000e+00:20>>': expected operands of one storage type}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x4x4x2x!quant.uniform<i8:f32, 5.0:20>>, tensor<3x3x2x6x!quant.uniform<i16:f32, 5.0:20>>) -> tensor<2x2x2x6x!quant.uniform<i8:f32, 5.0:20>>
  return
}

// -----

func.func @convolution_c32(%arg0: tensor<2x4x4x2x!quant.uniform<i8:f32, 5.0:20>>, %arg1: tensor<3x3x2x6x!quant.uniform<i8:f32, 5.0:20>>) {
  // expected-error@+1 {{operands 'tensor<2x4x4x2x!quant.uniform<i8:f32, 5.000000e+00:20>>' and 'tensor<3x3x2x6x!quant.uniform<i8:f32, 5.000000e+00:20>>', result 'tensor<2x2x2x6x!quant.uniform<i8:f16, 5.000000e+00:20>>': expected operands and result that express one type}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x4x4x2x!quant.uniform<i8:f32, 5.0:20>>, tensor<3x3x2x6x!quant.uniform<i8:f32, 5.0:20>>) -> tensor<2x2x2x6x!quant.uniform<i8:f16, 5.0:20>>
  return
}

// -----

func.func @convolution_c33(%arg0: tensor<2x4x4x2x!quant.uniform<i8:f32, 5.0:20>>, %arg1: tensor<3x3x2x6x!quant.uniform<i8:f32, 5.0:20>>) {
  // expected-error@+1 {{operands 'tensor<2x4x4x2x!quant.uniform<i8:f32, 5.000000e+00:20>>' and 'tensor<3x3x2x6x!quant.uniform<i8:f32, 5.000000e+00:20>>', result 'tensor<2x2x2x6x!quant.uniform<i8:f32:3, {5.000000e+00:20,5.000000e+00:20,5.000000e+00:20,5.000000e+00:20,5.000000e+00:20,5.000000e+00:20}>>': expected one scale for the whole result, as rhs has}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x4x4x2x!quant.uniform<i8:f32, 5.0:20>>, tensor<3x3x2x6x!quant.uniform<i8:f32, 5.0:20>>) -> tensor<2x2x2x6x!quant.uniform<i8:f32:3, {5.0:20, 5.0:20, 5.0:20, 5.0:20, 5.0:20, 5.0:20}>>
  return
}

// -----

func.func @convolution_c34(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x3x2x6x!quant.uniform<i8:f32, 5.0:20>>) {
  // expected-error@+1 {{operands 'tensor<2x4x4x2xf32>' and 'tensor<3x3x2x6x!quant.uniform<i8:f32, 5.000000e+00:20>>', result 'tensor<2x2x2x6xf16>': expected operands and result that express one type}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<3x3x2x6x!quant.uniform<i8:f32, 5.0:20>>) -> tensor<2x2x2x6xf16>
  return
}
