// Layouts of a convolution name each dimension once.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @batch_twice(%x: tensor<1x4x1xf32>, %w: tensor<3x1x1xf32>) -> tensor<1x2x1xf32> {
  // expected-error@+1 {{expected the dimension 'b' once}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, b, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xf32>, tensor<3x1x1xf32>) -> tensor<1x2x1xf32>
  return %0 : tensor<1x2x1xf32>
}
