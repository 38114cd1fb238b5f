// Each constraint of the specification on convolutions, by its label.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @convolution_c1(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x2x6xf32>) {
  // expected-error@+1 {{expected operands of one rank of at least 2, got 'tensor<2x4x4x2xf32>' and 'tensor<3x2x6xf32>'}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x2x6xf32>
  return
}

// -----

func.func @convolution_c2(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x3x2x6xf32>) {
  // expected-error@+1 {{expected 2 strides, one per dimension, got 1}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_strides = array<i64: 1>} : (tensor<2x4x4x2xf32>, tensor<3x3x2x6xf32>) -> tensor<2x2x2x6xf32>
  return
}

// -----

func.func @convolution_c3(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x3x2x6xf32>) {
  // expected-error@+1 {{expected strides of at least 1, got [1, 0]}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_strides = array<i64: 1, 0>} : (tensor<2x4x4x2xf32>, tensor<3x3x2x6xf32>) -> tensor<2x2x2x6xf32>
  return
}

// -----

func.func @convolution_c4(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x3x2x6xf32>) {
  // expected-error@+1 {{expected padding of type tensor<2x2xi64>, got 'tensor<1x2xi64>'}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, padding = dense<0> : tensor<1x2xi64>} : (tensor<2x4x4x2xf32>, tensor<3x3x2x6xf32>) -> tensor<2x2x2x6xf32>
  return
}

// -----

func.func @convolution_c5(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x3x2x6xf32>) {
  // expected-error@+1 {{expected 2 base dilations, one per dimension, got 1}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, lhs_dilation = array<i64: 1>} : (tensor<2x4x4x2xf32>, tensor<3x3x2x6xf32>) -> tensor<2x2x2x6xf32>
  return
}

// -----

func.func @convolution_c6(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x3x2x6xf32>) {
  // expected-error@+1 {{expected base dilations of at least 1, got [1, 0]}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, lhs_dilation = array<i64: 1, 0>} : (tensor<2x4x4x2xf32>, tensor<3x3x2x6xf32>) -> tensor<2x2x2x6xf32>
  return
}

// -----

func.func @convolution_c7(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x3x2x6xf32>) {
  // expected-error@+1 {{expected 2 window dilations, one per dimension, got 1}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, rhs_dilation = array<i64: 1>} : (tensor<2x4x4x2xf32>, tensor<3x3x2x6xf32>) -> tensor<2x2x2x6xf32>
  return
}

// -----

func.func @convolution_c8(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x3x2x6xf32>) {
  // expected-error@+1 {{expected window dilations of at least 1, got [1, 0]}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, rhs_dilation = array<i64: 1, 0>} : (tensor<2x4x4x2xf32>, tensor<3x3x2x6xf32>) -> tensor<2x2x2x6xf32>
  return
}

// -----

func.func @convolution_c9(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x3x2x6xf32>) {
  // expected-error@+1 {{expected 2 window_reversal, one per dimension, got 1}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_reversal = array<i1: true>} : (tensor<2x4x4x2xf32>, tensor<3x3x2x6xf32>) -> tensor<2x2x2x6xf32>
  return
}

// -----

func.func @convolution_c10(%arg0: tensor<3x4x4x2xf32>, %arg1: tensor<3x3x2x6xf32>) {
  // expected-error@+1 {{expected batch_group_count to divide the input batch, 3, got 2}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 2 : i64} : (tensor<3x4x4x2xf32>, tensor<3x3x2x6xf32>) -> tensor<2x2x2x6xf32>
  return
}

// -----

func.func @convolution_c11(%arg0: tensor<2x4x4x3xf32>, %arg1: tensor<3x3x2x6xf32>) {
  // expected-error@+1 {{expected feature_group_count to divide the input features, 3, got 2}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64} : (tensor<2x4x4x3xf32>, tensor<3x3x2x6xf32>) -> tensor<2x2x2x6xf32>
  return
}

// -----

func.func @convolution_c14(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x3x3x6xf32>) {
  // expected-error@+1 {{expected 2 input features of the kernel, 2 in 1 groups, got 3}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<3x3x3x6xf32>) -> tensor<2x2x2x6xf32>
  return
}

// -----

func.func @convolution_c15(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x3x2x5xf32>) {
  // expected-error@+1 {{expected batch_group_count to divide the output features of the kernel, 5, got 2}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 2 : i64} : (tensor<2x4x4x2xf32>, tensor<3x3x2x5xf32>) -> tensor<1x2x2x5xf32>
  return
}

// -----

func.func @convolution_c16(%arg0: tensor<2x4x4x4xf32>, %arg1: tensor<3x3x2x5xf32>) {
  // expected-error@+1 {{expected feature_group_count to divide the output features of the kernel, 5, got 2}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64} : (tensor<2x4x4x4xf32>, tensor<3x3x2x5xf32>) -> tensor<2x2x2x5xf32>
  return
}

// -----

func.func @convolution_c21(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x3x2x6xf32>) {
  // expected-error@+1 {{expected positive feature_group_count and batch_group_count, got 0 and 1}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 0 : i64, batch_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<3x3x2x6xf32>) -> tensor<2x2x2x6xf32>
  return
}

// -----

func.func @convolution_c22(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x3x2x6xf32>) {
  // expected-error@+1 {{expected positive feature_group_count and batch_group_count, got 1 and 0}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 0 : i64} : (tensor<2x4x4x2xf32>, tensor<3x3x2x6xf32>) -> tensor<2x2x2x6xf32>
  return
}

// -----

func.func @convolution_c23(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x3x2x6xf32>) {
  // expected-error@+1 {{expected groups of features or of batches, got 2 and 2}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 2 : i64} : (tensor<2x4x4x2xf32>, tensor<3x3x2x6xf32>) -> tensor<2x2x2x6xf32>
  return
}

// -----

func.func @convolution_c24(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x3x2x6xf32>) {
  // expected-error@+1 {{expected at most 2 precisions, one per operand, got 3}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x4x4x2xf32>, tensor<3x3x2x6xf32>) -> tensor<2x2x2x6xf32>
  return
}

// -----

func.func @convolution_c25(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x3x2x6xf32>) {
  // expected-error@+1 {{expected a result of shape [2, 2, 2, 6], got [2, 2, 3, 6]}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<3x3x2x6xf32>) -> tensor<2x2x3x6xf32>
  return
}

// -----

func.func @convolution_c26(%arg0: tensor<2x4xf32>, %arg1: tensor<4x6xf32>) {
  // expected-error@+1 {{expected a result of shape [2, 6], got [6]}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, f]x[i, o]->[b, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x4xf32>, tensor<4x6xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @convolution_c27(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x3x2x6xf16>) {
  // expected-error@+1 {{expected operands of one element type, got 'tensor<2x4x4x2xf32>' and 'tensor<3x3x2x6xf16>'}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<3x3x2x6xf16>) -> tensor<2x2x2x6xf32>
  return
}

// -----

func.func @convolution_c12(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x3x2x6xf32>) {
  // expected-error@+1 {{expected 2 spatial dimensions of the input, got 1}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<3x3x2x6xf32>) -> tensor<2x2x2x6xf32>
  return
}

// -----

func.func @convolution_c13(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x3x2x6xf32>) {
  // expected-error@+1 {{expected spatial dimension 1, got 0}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 0, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<3x3x2x6xf32>) -> tensor<2x2x2x6xf32>
  return
}

// -----

func.func @convolution_c17(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x3x2x6xf32>) {
  // expected-error@+1 {{expected 2 spatial dimensions of the kernel, got 1}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<3x3x2x6xf32>) -> tensor<2x2x2x6xf32>
  return
}

// -----

func.func @convolution_c18(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x3x2x6xf32>) {
  // expected-error@+1 {{expected spatial dimension 1, got 0}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 0, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<3x3x2x6xf32>) -> tensor<2x2x2x6xf32>
  return
}

// -----

func.func @convolution_c19(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x3x2x6xf32>) {
  // expected-error@+1 {{expected 2 spatial dimensions of the output, got 1}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<3x3x2x6xf32>) -> tensor<2x2x2x6xf32>
  return
}

// -----

func.func @convolution_c20(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<3x3x2x6xf32>) {
  // expected-error@+1 {{expected spatial dimension 1, got 0}}
  %r = "stablehlo.convolution"(%arg0, %arg1) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<3x3x2x6xf32>) -> tensor<2x2x2x6xf32>
  return
}
