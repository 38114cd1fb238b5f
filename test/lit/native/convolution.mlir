// A convolution of one group is a copy of its windows and a product; of several, a loop nest.
// RUN: cgx-opt %s --cgx-stablehlo-to-linalg --split-input-file | FileCheck %s

// Rows are places of the output, columns those of the kernel: neither the kernel nor the result moves.
// CHECK-DAG: #[[WINDOWS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d3, d2 + d4 * 2, d5)>
// CHECK-LABEL: @features_last
// CHECK: tensor.insert_slice %arg0
// CHECK: linalg.generic {indexing_maps = [#[[WINDOWS]]
// CHECK-SAME: outs(%{{.*}} : tensor<2x4x6x3x3x3xf32>)
// CHECK-NOT: linalg.generic
// CHECK: linalg.contract {{.*}} : tensor<48x27xf32>, tensor<27x5xf32>
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @features_last(%x: tensor<2x8x8x3xf32>, %w: tensor<3x3x3x5xf32>) -> tensor<2x4x6x5xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {stride = [2, 1], pad = [[0, 1], [1, 1]], rhs_dilate = [1, 2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<2x8x8x3xf32>, tensor<3x3x3x5xf32>) -> tensor<2x4x6x5xf32>
  return %0 : tensor<2x4x6x5xf32>
}

// -----

// The gradient of that kernel: columns first, because the input's features are this convolution's batch.
// CHECK-LABEL: @gradient_of_kernel
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x4x4x3x3x3xf32>)
// CHECK-NOT: linalg.generic
// CHECK: linalg.contract {{.*}} : tensor<32x27xf32>, tensor<32x5xf32>
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @gradient_of_kernel(%x: tensor<2x6x6x3xf32>, %g: tensor<2x4x4x5xf32>) -> tensor<3x3x3x5xf32> {
  %0 = stablehlo.convolution(%x, %g) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<2x6x6x3xf32>, tensor<2x4x4x5xf32>) -> tensor<3x3x3x5xf32>
  return %0 : tensor<3x3x3x5xf32>
}

// -----

// CHECK-LABEL: @one_by_one
// CHECK-NOT: linalg.generic
// CHECK: linalg.contract {{.*}} : tensor<128x3xf32>, tensor<3x5xf32>
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @one_by_one(%x: tensor<2x8x8x3xf32>, %w: tensor<1x1x3x5xf32>) -> tensor<2x8x8x5xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<2x8x8x3xf32>, tensor<1x1x3x5xf32>) -> tensor<2x8x8x5xf32>
  return %0 : tensor<2x8x8x5xf32>
}

// -----

// CHECK-DAG: #[[REVERSED:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d0, d3 + -d1 + 2)>
// CHECK-LABEL: @reversed
// CHECK: linalg.generic {indexing_maps = [#[[REVERSED]]
func.func @reversed(%x: tensor<2x3x8xf32>, %w: tensor<5x3x3xf32>) -> tensor<2x5x6xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {reverse = [true]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<2x3x8xf32>, tensor<5x3x3xf32>) -> tensor<2x5x6xf32>
  return %0 : tensor<2x5x6xf32>
}

// -----

// CHECK-LABEL: @depthwise
// CHECK-NOT: linalg.contract
// CHECK: linalg.generic
// CHECK-SAME: ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel", "parallel"]
// CHECK-SAME: ins(%{{.*}} : tensor<2x8x8x3x1xf32>, tensor<3x3x1x3x2xf32>)
func.func @depthwise(%x: tensor<2x8x8x3xf32>, %w: tensor<3x3x1x6xf32>) -> tensor<2x6x6x6xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 3 : i64}
    : (tensor<2x8x8x3xf32>, tensor<3x3x1x6xf32>) -> tensor<2x6x6x6xf32>
  return %0 : tensor<2x6x6x6xf32>
}
