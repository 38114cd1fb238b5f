// Shapes that the program computes.
// RUN: cgx-opt %s -o %t.printed
// RUN: grep . %t.printed > %t.pretty
// RUN: grep -v '^//' %s > %t.source
// RUN: diff -w %t.source %t.pretty
// RUN: cgx-opt %s --mlir-print-op-generic | cgx-opt -o %t.generic
// RUN: diff %t.printed %t.generic
// RUN: cgx-opt %s --verify-roundtrip -o %t.roundtrip
module {
  func.func @dynamic(%arg0: tensor<?x4xf32>, %arg1: tensor<2xi32>, %arg2: tensor<f32>, %arg3: tensor<1xi64>, %arg4: tensor<i32>) {
    %0 = stablehlo.dynamic_iota %arg1, dim = 1 : (tensor<2xi32>) -> tensor<?x4xi32>
    %1 = stablehlo.dynamic_reshape %arg0, %arg3 : (tensor<?x4xf32>, tensor<1xi64>) -> tensor<?xf32>
    %2 = stablehlo.dynamic_broadcast_in_dim %1, %arg1, dims = [0] {known_expanding_dimensions = array<i64>, known_nonexpanding_dimensions = array<i64: 0>} : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x4xf32>
    %3 = stablehlo.dynamic_pad %arg0, %arg2, %arg1, %arg1, %arg1 : (tensor<?x4xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    %4 = stablehlo.real_dynamic_slice %arg0, %arg1, %arg1, %arg1 : (tensor<?x4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    %5 = "stablehlo.dynamic_gather"(%arg0, %arg3, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<?x4xf32>, tensor<1xi64>, tensor<2xi32>) -> tensor<1x?xf32>
    %6 = stablehlo.set_dimension_size %arg0, %arg4, dim = 0 : (tensor<?x4xf32>, tensor<i32>) -> tensor<?x4xf32, #stablehlo.bounds<8, ?>>
    %7 = stablehlo.get_dimension_size %6, dim = 0 : (tensor<?x4xf32, #stablehlo.bounds<8, ?>>) -> tensor<i32>
    return
  }
  func.func @dynamic_conv(%arg0: tensor<1x8x3xf32>, %arg1: tensor<3x3x4xf32>, %arg2: tensor<1x2xi32>) {
    %0 = "stablehlo.dynamic_conv"(%arg0, %arg1, %arg2) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64}> : (tensor<1x8x3xf32>, tensor<3x3x4xf32>, tensor<1x2xi32>) -> tensor<1x?x4xf32>
    return
  }
}
