// Each constraint of the specification on data movement, by its label.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @constant_c1() {
  // expected-error@+1 {{expected a result of the type of the value, 'tensor<2xi32>', got 'tensor<3xi32>'}}
  %r = "stablehlo.constant"() {value = dense<1> : tensor<2xi32>} : () -> tensor<3xi32>
  return
}

// -----

func.func @iota_c1() {
  // expected-error@+1 {{expected iota_dimension in range [0, 1), got 1}}
  %r = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<3xi32>
  return
}

// -----

func.func @bitcast_convert_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected elements of 8 bits in shape [2, 4], got 'tensor<2x3xi8>'}}
  %r = "stablehlo.bitcast_convert"(%arg0) : (tensor<2xf32>) -> tensor<2x3xi8>
  return
}

// -----

func.func @bitcast_convert_c2(%arg0: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{expected no conversion between real and complex numbers, got 'tensor<2xcomplex<f32>>' and 'tensor<2xi64>'}}
  %r = "stablehlo.bitcast_convert"(%arg0) : (tensor<2xcomplex<f32>>) -> tensor<2xi64>
  return
}

// -----

func.func @broadcast_in_dim_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected a result of element type 'f32', got 'f16'}}
  %r = "stablehlo.broadcast_in_dim"(%arg0) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x3xf16>
  return
}

// -----

func.func @broadcast_in_dim_c2(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected 1 broadcast_dimensions, one per dimension, got 2}}
  %r = "stablehlo.broadcast_in_dim"(%arg0) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_in_dim_c3(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected broadcast_dimensions in range [0, 2), got 2}}
  %r = "stablehlo.broadcast_in_dim"(%arg0) {broadcast_dimensions = array<i64: 2>} : (tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_in_dim_c4(%arg0: tensor<2x2xf32>) {
  // expected-error@+1 {{expected broadcast_dimensions to be unique, got [0, 0]}}
  %r = "stablehlo.broadcast_in_dim"(%arg0) {broadcast_dimensions = array<i64: 0, 0>} : (tensor<2x2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_in_dim_c5(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected dimension 0 of the operand to be 1 or 3, got 2}}
  %r = "stablehlo.broadcast_in_dim"(%arg0) {broadcast_dimensions = array<i64: 1>} : (tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @concatenate_c1(%arg0: tensor<2xf32>, %arg1: tensor<2xf16>) {
  // expected-error@+1 {{expected operands that differ along dimension 0 only, got 'tensor<2xf32>' and 'tensor<2xf16>'}}
  %r = "stablehlo.concatenate"(%arg0, %arg1) {dimension = 0 : i64} : (tensor<2xf32>, tensor<2xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @concatenate_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<2x4xf32>) {
  // expected-error@+1 {{expected operands that differ along dimension 0 only, got 'tensor<2x3xf32>' and 'tensor<2x4xf32>'}}
  %r = "stablehlo.concatenate"(%arg0, %arg1) {dimension = 0 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @concatenate_c3() {
  // expected-error@+1 {{expected at least one operand}}
  %r = "stablehlo.concatenate"() {dimension = 0 : i64} : () -> tensor<4xf32>
  return
}

// -----

func.func @concatenate_c4(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected dimension in range [0, 1), got 1}}
  %r = "stablehlo.concatenate"(%arg0) {dimension = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @concatenate_c5(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected a result of element type 'f32', got 'f16'}}
  %r = "stablehlo.concatenate"(%arg0) {dimension = 0 : i64} : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @concatenate_c6(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected a result of shape [4], got [5]}}
  %r = "stablehlo.concatenate"(%arg0, %arg0) {dimension = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @dynamic_slice_c1(%arg0: tensor<2x3xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>) {
  // expected-error@+1 {{expected a result of element type 'f32', got 'f16'}}
  %r = "stablehlo.dynamic_slice"(%arg0, %arg1, %arg2) {slice_sizes = array<i64: 1, 2>} : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf16>
  return
}

// -----

func.func @dynamic_slice_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<i32>) {
  // expected-error@+1 {{expected 2 start_indices, one per dimension, got 1}}
  %r = "stablehlo.dynamic_slice"(%arg0, %arg1) {slice_sizes = array<i64: 1, 2>} : (tensor<2x3xf32>, tensor<i32>) -> tensor<1x2xf32>
  return
}

// -----

func.func @dynamic_slice_c3(%arg0: tensor<2x3xf32>, %arg1: tensor<i32>, %arg2: tensor<i64>) {
  // expected-error@+1 {{expected start_indices of one type, got 'tensor<i32>' and 'tensor<i64>'}}
  %r = "stablehlo.dynamic_slice"(%arg0, %arg1, %arg2) {slice_sizes = array<i64: 1, 2>} : (tensor<2x3xf32>, tensor<i32>, tensor<i64>) -> tensor<1x2xf32>
  return
}

// -----

func.func @dynamic_slice_c4(%arg0: tensor<2x3xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>) {
  // expected-error@+1 {{expected slice size in range [0, 3] in dimension 1, got 4}}
  %r = "stablehlo.dynamic_slice"(%arg0, %arg1, %arg2) {slice_sizes = array<i64: 1, 4>} : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @dynamic_slice_c5(%arg0: tensor<2x3xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>) {
  // expected-error@+1 {{expected a result of shape [1, 2], got [1, 3]}}
  %r = "stablehlo.dynamic_slice"(%arg0, %arg1, %arg2) {slice_sizes = array<i64: 1, 2>} : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
  return
}

// -----

func.func @dynamic_update_slice_c1(%arg0: tensor<2x3xf32>, %arg1: tensor<1x2xf32>, %arg2: tensor<i32>, %arg3: tensor<i32>) {
  // expected-error@+1 {{expected a result of shape [2, 3], got [2, 4]}}
  %r = "stablehlo.dynamic_update_slice"(%arg0, %arg1, %arg2, %arg3) : (tensor<2x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @dynamic_update_slice_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<1x2xf16>, %arg2: tensor<i32>, %arg3: tensor<i32>) {
  // expected-error@+1 {{expected a result of element type 'f32', got 'f16'}}
  %r = "stablehlo.dynamic_update_slice"(%arg0, %arg1, %arg2, %arg3) : (tensor<2x3xf32>, tensor<1x2xf16>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @dynamic_update_slice_c3(%arg0: tensor<2x3xf32>, %arg1: tensor<2xf32>, %arg2: tensor<i32>, %arg3: tensor<i32>) {
  // expected-error@+1 {{expected an update of rank 2, got 'tensor<2xf32>'}}
  %r = "stablehlo.dynamic_update_slice"(%arg0, %arg1, %arg2, %arg3) : (tensor<2x3xf32>, tensor<2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @dynamic_update_slice_c4(%arg0: tensor<2x3xf32>, %arg1: tensor<1x2xf32>, %arg2: tensor<i32>) {
  // expected-error@+1 {{expected 2 start_indices, one per dimension, got 1}}
  %r = "stablehlo.dynamic_update_slice"(%arg0, %arg1, %arg2) : (tensor<2x3xf32>, tensor<1x2xf32>, tensor<i32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @dynamic_update_slice_c5(%arg0: tensor<2x3xf32>, %arg1: tensor<1x2xf32>, %arg2: tensor<i32>, %arg3: tensor<i64>) {
  // expected-error@+1 {{expected start_indices of one type, got 'tensor<i32>' and 'tensor<i64>'}}
  %r = "stablehlo.dynamic_update_slice"(%arg0, %arg1, %arg2, %arg3) : (tensor<2x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @dynamic_update_slice_c6(%arg0: tensor<2x3xf32>, %arg1: tensor<3x2xf32>, %arg2: tensor<i32>, %arg3: tensor<i32>) {
  // expected-error@+1 {{expected an update that fits the operand 'tensor<2x3xf32>', got 'tensor<3x2xf32>'}}
  %r = "stablehlo.dynamic_update_slice"(%arg0, %arg1, %arg2, %arg3) : (tensor<2x3xf32>, tensor<3x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_c1(%arg0: tensor<2x3xf32>, %arg1: tensor<f16>) {
  // expected-error@+1 {{expected a padding value of element type 'f32', got 'tensor<f16>'}}
  %r = "stablehlo.pad"(%arg0, %arg1) {edge_padding_low = array<i64: 0, 0>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 0, 0>} : (tensor<2x3xf32>, tensor<f16>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{expected 2 edge_padding_low, one per dimension, got 1}}
  %r = "stablehlo.pad"(%arg0, %arg1) {edge_padding_low = array<i64: 0>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 0, 0>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_c3(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{expected interior padding of at least 0, got -1}}
  %r = "stablehlo.pad"(%arg0, %arg1) {edge_padding_low = array<i64: 0, 0>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 0, -1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_c4(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{expected a result of shape [3, 3], got [2, 3]}}
  %r = "stablehlo.pad"(%arg0, %arg1) {edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 0, 0>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @dynamic_pad_c1(%arg0: tensor<2x3xf32>, %arg1: tensor<f16>, %arg2: tensor<2xi32>, %arg3: tensor<2xi32>, %arg4: tensor<2xi32>) {
  // expected-error@+1 {{expected a result of element type 'f32', got 'f16'}}
  %r = "stablehlo.dynamic_pad"(%arg0, %arg1, %arg2, %arg3, %arg4) : (tensor<2x3xf32>, tensor<f16>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @dynamic_pad_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>, %arg2: tensor<2xi32>, %arg3: tensor<2xi32>, %arg4: tensor<3xi32>) {
  // expected-error@+1 {{expected padding of 2 entries, one per dimension, got 'tensor<3xi32>'}}
  %r = "stablehlo.dynamic_pad"(%arg0, %arg1, %arg2, %arg3, %arg4) : (tensor<2x3xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<3xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @dynamic_pad_c3(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  %k = stablehlo.constant dense<-1> : tensor<2xi32>
  // expected-error@+1 {{expected interior padding of at least 0, got [-1, -1]}}
  %r = "stablehlo.dynamic_pad"(%arg0, %arg1, %k, %k, %k) : (tensor<2x3xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @dynamic_pad_c4(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  %k = stablehlo.constant dense<1> : tensor<2xi32>
  // expected-error@+1 {{expected a result of shape [5, 7], got [2, 3]}}
  %r = "stablehlo.dynamic_pad"(%arg0, %arg1, %k, %k, %k) : (tensor<2x3xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @reshape_c2(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{expected a result of 4 elements, got 'tensor<2x3xf32>'}}
  %r = "stablehlo.reshape"(%arg0) : (tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @dynamic_reshape_c1(%arg0: tensor<4xf32>, %arg1: tensor<2xi32>) {
  // expected-error@+1 {{expected a result of element type 'f32', got 'f16'}}
  %r = "stablehlo.dynamic_reshape"(%arg0, %arg1) : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x?xf16>
  return
}

// -----

func.func @dynamic_reshape_c2(%arg0: tensor<4xf32>, %arg1: tensor<2xi32>) {
  // expected-error@+1 {{expected a result of 4 elements, got 6 of shape [2, 3]}}
  %r = "stablehlo.dynamic_reshape"(%arg0, %arg1) : (tensor<4xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @dynamic_reshape_c4(%arg0: tensor<4xf32>, %arg1: tensor<2xi32>) {
  // expected-error@+1 {{expected output_shape of 3 entries, one per dimension, got 'tensor<2xi32>'}}
  %r = "stablehlo.dynamic_reshape"(%arg0, %arg1) : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x?x?xf32>
  return
}

// -----

func.func @dynamic_broadcast_in_dim_c1(%arg0: tensor<2xf32>, %arg1: tensor<2xi32>) {
  // expected-error@+1 {{expected a result of element type 'f32', got 'f16'}}
  %r = "stablehlo.dynamic_broadcast_in_dim"(%arg0, %arg1) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<2xi32>) -> tensor<?x?xf16>
  return
}

// -----

func.func @dynamic_broadcast_in_dim_c2(%arg0: tensor<2xf32>, %arg1: tensor<2xi32>) {
  // expected-error@+1 {{expected 1 broadcast_dimensions, one per dimension, got 2}}
  %r = "stablehlo.dynamic_broadcast_in_dim"(%arg0, %arg1) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @dynamic_broadcast_in_dim_c3(%arg0: tensor<2xf32>, %arg1: tensor<2xi32>) {
  // expected-error@+1 {{expected broadcast_dimensions in range [0, 2), got 2}}
  %r = "stablehlo.dynamic_broadcast_in_dim"(%arg0, %arg1) {broadcast_dimensions = array<i64: 2>} : (tensor<2xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @dynamic_broadcast_in_dim_c4(%arg0: tensor<2x2xf32>, %arg1: tensor<2xi32>) {
  // expected-error@+1 {{expected broadcast_dimensions to be unique, got [0, 0]}}
  %r = "stablehlo.dynamic_broadcast_in_dim"(%arg0, %arg1) {broadcast_dimensions = array<i64: 0, 0>} : (tensor<2x2xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @dynamic_broadcast_in_dim_c5(%arg0: tensor<2xf32>, %arg1: tensor<2xi32>) {
  // expected-error@+1 {{expected dimension 0 of the operand to be 1 or 3, got 2}}
  %r = "stablehlo.dynamic_broadcast_in_dim"(%arg0, %arg1) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<2xi32>) -> tensor<3x?xf32>
  return
}

// -----

func.func @dynamic_broadcast_in_dim_c7(%arg0: tensor<2xf32>, %arg1: tensor<3xi32>) {
  // expected-error@+1 {{expected output_dimensions of 2 entries, one per dimension, got 'tensor<3xi32>'}}
  %r = "stablehlo.dynamic_broadcast_in_dim"(%arg0, %arg1) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<3xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @dynamic_broadcast_in_dim_c8(%arg0: tensor<2xf32>, %arg1: tensor<2xi32>) {
  // expected-error@+1 {{expected known dimensions to be unique, got [0, 0]}}
  %r = "stablehlo.dynamic_broadcast_in_dim"(%arg0, %arg1) {broadcast_dimensions = array<i64: 0>, known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @dynamic_broadcast_in_dim_c9(%arg0: tensor<2xf32>, %arg1: tensor<2xi32>) {
  // expected-error@+1 {{expected known dimensions in range [0, 1), got 1}}
  %r = "stablehlo.dynamic_broadcast_in_dim"(%arg0, %arg1) {broadcast_dimensions = array<i64: 0>, known_expanding_dimensions = array<i64: 1>} : (tensor<2xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @dynamic_broadcast_in_dim_c10(%arg0: tensor<2xf32>, %arg1: tensor<2xi32>) {
  // expected-error@+1 {{expected known dimensions in range [0, 1), got -1}}
  %r = "stablehlo.dynamic_broadcast_in_dim"(%arg0, %arg1) {broadcast_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: -1>} : (tensor<2xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @reverse_c1(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{requires the same type for all operands and results}}
  %r = "stablehlo.reverse"(%arg0) {dimensions = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<2x3xf16>
  return
}

// -----

func.func @reverse_c2(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{expected dimensions to be unique, got [0, 0]}}
  %r = "stablehlo.reverse"(%arg0) {dimensions = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @reverse_c3(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{expected dimensions in range [0, 2), got 2}}
  %r = "stablehlo.reverse"(%arg0) {dimensions = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_c1(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{expected a result of element type 'f32', got 'f16'}}
  %r = "stablehlo.slice"(%arg0) {start_indices = array<i64: 0, 0>, limit_indices = array<i64: 2, 3>, strides = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf16>
  return
}

// -----

func.func @slice_c2(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{expected 2 start_indices, one per dimension, got 1}}
  %r = "stablehlo.slice"(%arg0) {start_indices = array<i64: 0>, limit_indices = array<i64: 2, 3>, strides = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_c3(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{expected 0 <= start <= limit <= 3 and stride >= 1 in dimension 1, got 2:1:1}}
  %r = "stablehlo.slice"(%arg0) {start_indices = array<i64: 0, 2>, limit_indices = array<i64: 2, 1>, strides = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_c4(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{expected 0 <= start <= limit <= 3 and stride >= 1 in dimension 1, got 0:3:0}}
  %r = "stablehlo.slice"(%arg0) {start_indices = array<i64: 0, 0>, limit_indices = array<i64: 2, 3>, strides = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_c5(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{expected a result of shape [2, 2], got [2, 3]}}
  %r = "stablehlo.slice"(%arg0) {start_indices = array<i64: 0, 0>, limit_indices = array<i64: 2, 3>, strides = array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @transpose_c1(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{expected a result of element type 'f32', got 'f16'}}
  %r = "stablehlo.transpose"(%arg0) {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf16>
  return
}

// -----

func.func @transpose_c2(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{expected permutation to be unique, got [0, 0]}}
  %r = "stablehlo.transpose"(%arg0) {permutation = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @transpose_c3(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{expected a result of shape [3, 2], got [2, 3]}}
  %r = "stablehlo.transpose"(%arg0) {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
