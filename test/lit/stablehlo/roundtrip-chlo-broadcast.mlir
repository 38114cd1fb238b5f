// Ops of chlo that broadcast, and the larger ones.
// RUN: cgx-opt %s -o %t.printed
// RUN: grep . %t.printed > %t.pretty
// RUN: grep -v '^//' %s > %t.source
// RUN: diff -w %t.source %t.pretty
// RUN: cgx-opt %s --mlir-print-op-generic | cgx-opt -o %t.generic
// RUN: diff %t.printed %t.generic
// RUN: cgx-opt %s --verify-roundtrip -o %t.roundtrip
module {
  func.func @broadcast(%arg0: tensor<4x8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<i1>) {
    %0 = chlo.broadcast_add %arg0, %arg1 {broadcast_dimensions = array<i64: 1>} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    %1 = chlo.broadcast_compare %arg0, %arg1 {compare_type = #chlo<comparison_type FLOAT>, comparison_direction = #chlo<comparison_direction LT>} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
    %2 = chlo.broadcast_select %arg2, %arg0, %arg1 : (tensor<i1>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    %3 = chlo.tan %arg1 : tensor<8xf32> -> tensor<8xf32>
    return
  }
  func.func @constants(%arg0: tensor<1x?xi64>) {
    %0 = chlo.constant dense<[1, 2]> : tensor<2xi32>
    %1 = "chlo.constant_like"(%arg0) <{value = 3.200000e+00 : f32}> : (tensor<1x?xi64>) -> tensor<1x?xf32>
    %2 = chlo.mulhi %0, %0 : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
    return
  }
  func.func @ragged_dot(%arg0: tensor<11x5xf32>, %arg1: tensor<3x5x7xf32>, %arg2: tensor<3xi64>) {
    %0 = "chlo.ragged_dot"(%arg0, %arg1, %arg2) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
    return
  }
  func.func @top_k(%arg0: tensor<16x16xf32>) {
    %values, %indices = chlo.top_k(%arg0, k = 8) : tensor<16x16xf32> -> (tensor<16x8xf32>, tensor<16x8xi32>)
    %values_0, %indices_1 = chlo.top_k(%arg0, k = 8, is_stable = false) : tensor<16x16xf32> -> (tensor<16x8xf32>, tensor<16x8xi32>)
    return
  }
  func.func @scan(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>) {
    %0:2 = chlo.scan(%arg0) inits (%arg1) dimension=0 attributes {is_reverse = true} {
    ^bb0(%input: tensor<3xf32>, %carry: tensor<3xf32>):
      %1 = stablehlo.add %input, %carry : tensor<3xf32>
      stablehlo.return %1, %1 : tensor<3xf32>, tensor<3xf32>
    } : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
    return
  }
}
