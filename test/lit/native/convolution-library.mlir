// Convolutions of one group are the runtime's: the convolution itself, and its gradients by the input and by the kernel.
// REQUIRES: onednn
// RUN: cgx-opt %s --cgx-stablehlo-to-linalg | FileCheck %s

// CHECK-LABEL: @output
// CHECK: arith.constant dense<[0, 8, 32, 64, 1, 16, 16, 1, 3, 3, 1, 8, 8, 1, 2, 2, 1, 1, 1, 0, 0, 0, 8192, 1, 65536, 512, 32, 1, 64, 18432, 6144, 2048, 4096, 1, 32768, 512, 64]>
// CHECK: cgx_rt.library @cgx_native_convolution_f32
func.func @output(%x: tensor<8x16x16x32xf32>, %w: tensor<3x3x32x64xf32>) -> tensor<8x8x8x64xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x16x16x32xf32>, tensor<3x3x32x64xf32>) -> tensor<8x8x8x64xf32>
  return %0 : tensor<8x8x8x64xf32>
}
// The output's gradient is convolved with the reversed kernel.
// CHECK-LABEL: @input_gradient
// CHECK: linalg.generic
// CHECK: arith.constant dense<[1, 8, 32, 64, 1, 16, 16, 1, 3, 3, 1, 8, 8, 1, 2, 2, 1, 1, 1, 0, 0, 0, 8192, 1, 65536, 512, 32, 1, 64, 18432, 6144, 2048, 4096, 1, 32768, 512, 64]>
// CHECK: cgx_rt.library @cgx_native_convolution_f32
func.func @input_gradient(%x: tensor<8x8x8x64xf32>, %w: tensor<3x3x32x64xf32>) -> tensor<8x16x16x32xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x8x8x64xf32>, tensor<3x3x32x64xf32>) -> tensor<8x16x16x32xf32>
  return %0 : tensor<8x16x16x32xf32>
}
// CHECK-LABEL: @kernel_gradient
// CHECK: arith.constant dense<[2, 8, 32, 64, 1, 16, 16, 1, 3, 3, 1, 8, 8, 1, 2, 2, 1, 1, 1, 0, 0, 0, 8192, 1, 65536, 512, 32, 1, 64, 18432, 6144, 2048, 4096, 1, 32768, 512, 64]>
// CHECK: cgx_rt.library @cgx_native_convolution_f32
func.func @kernel_gradient(%x: tensor<8x16x16x32xf32>, %y: tensor<8x8x8x64xf32>) -> tensor<3x3x32x64xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[0, 1], [0, 1]], rhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x16x16x32xf32>, tensor<8x8x8x64xf32>) -> tensor<3x3x32x64xf32>
  return %0 : tensor<3x3x32x64xf32>
}
// CHECK-LABEL: @two_groups
// CHECK-NOT: cgx_rt.library
// CHECK: arith.mulf
func.func @two_groups(%x: tensor<8x16x16x32xf32>, %w: tensor<3x3x16x64xf32>) -> tensor<8x14x14x64xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<8x16x16x32xf32>, tensor<3x3x16x64xf32>) -> tensor<8x14x14x64xf32>
  return %0 : tensor<8x14x14x64xf32>
}
// CHECK-LABEL: @small
// CHECK-NOT: cgx_rt.library
// CHECK: return
func.func @small(%x: tensor<1x4x4x2xf32>, %w: tensor<3x3x2x2xf32>) -> tensor<1x2x2x2xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x2xf32>) -> tensor<1x2x2x2xf32>
  return %0 : tensor<1x2x2x2xf32>
}
// CHECK-LABEL: @cut_and_padded
// CHECK-NOT: cgx_rt.library
// CHECK: return
func.func @cut_and_padded(%x: tensor<8x16x16x32xf32>, %w: tensor<3x3x32x64xf32>) -> tensor<8x13x14x64xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[-2, 1], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x16x16x32xf32>, tensor<3x3x32x64xf32>) -> tensor<8x13x14x64xf32>
  return %0 : tensor<8x13x14x64xf32>
}
