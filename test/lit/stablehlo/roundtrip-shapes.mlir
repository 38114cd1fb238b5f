// Constants, and ops that move elements to fixed places.
// RUN: cgx-opt %s -o %t.printed
// RUN: grep . %t.printed > %t.pretty
// RUN: grep -v '^//' %s > %t.source
// RUN: diff -w %t.source %t.pretty
// RUN: cgx-opt %s --mlir-print-op-generic | cgx-opt -o %t.generic
// RUN: diff %t.printed %t.generic
// RUN: cgx-opt %s --verify-roundtrip -o %t.roundtrip
// RUN: cgx-opt %s --mlir-print-op-generic | FileCheck %s
// CHECK: "stablehlo.slice"(%{{.*}}) <{limit_indices = array<i64: 8, 8>, start_indices = array<i64: 0, 4>, strides = array<i64: 1, 2>}>
// CHECK: "stablehlo.pad"(%{{.*}}) <{edge_padding_high = array<i64: 2, -1>, edge_padding_low = array<i64: 0, 1>, interior_padding = array<i64: 0, 1>}>
module {
  func.func @constants() {
    %0 = stablehlo.constant dense<[[1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
    %1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.constant dense<> : tensor<2x0xf32>
    %3 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
    %4 = stablehlo.constant dense<3> : tensor<4xui8>
    %5 = stablehlo.iota dim = 1 : tensor<2x4xi32>
    return
  }
  func.func @fixed_places(%arg0: tensor<8x8xf32>, %arg1: tensor<f32>) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 1] : (tensor<8x8xf32>) -> tensor<3x8x8xf32>
    %2 = stablehlo.broadcast %arg0, sizes = [2, 3] : (tensor<8x8xf32>) -> tensor<2x3x8x8xf32>
    %3 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %4 = stablehlo.reverse %arg0, dims = [0, 1] : tensor<8x8xf32>
    %5 = stablehlo.reshape %arg0 : (tensor<8x8xf32>) -> tensor<64xf32>
    %6 = stablehlo.slice %arg0 [0:8, 4:8:2] : (tensor<8x8xf32>) -> tensor<8x2xf32>
    %7 = stablehlo.concatenate %arg0, %3, dim = 1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x16xf32>
    %8 = stablehlo.concatenate %arg0, dim = 0 : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %9 = stablehlo.pad %arg0, %arg1, low = [0, 1], high = [2, -1], interior = [0, 1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<10x15xf32>
    return
  }
  func.func @computed_places(%arg0: tensor<8x8xf32>, %arg1: tensor<i32>) {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %arg1, sizes = [1, 4] : (tensor<8x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg1, %arg1 : (tensor<8x8xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x8xf32>
    %2 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<8x8xf32>) -> tensor<i32>
    return
  }
  func.func @barrier(%arg0: tensor<8x8xf32>, %arg1: tensor<i32>) {
    %0:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<8x8xf32>, tensor<i32>
    stablehlo.optimization_barrier
    return
  }
}
