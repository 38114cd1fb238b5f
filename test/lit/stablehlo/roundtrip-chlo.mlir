// Functions that JAX leaves to chlo.
// RUN: cgx-opt %s -o %t.printed
// RUN: grep . %t.printed > %t.pretty
// RUN: grep -v '^//' %s > %t.source
// RUN: diff -w %t.source %t.pretty
// RUN: cgx-opt %s --mlir-print-op-generic | cgx-opt -o %t.generic
// RUN: diff %t.printed %t.generic
// RUN: cgx-opt %s --verify-roundtrip -o %t.roundtrip
// RUN: cgx-opt %s --mlir-print-op-generic | FileCheck %s
// CHECK: "chlo.top_k"(%{{.*}}) <{k = 3 : i64}> : (tensor<8x8xf32>) -> (tensor<8x3xf32>, tensor<8x3xi32>)
module {
  func.func @functions(%arg0: tensor<8x8xf32>) {
    %0 = chlo.acos %arg0 : tensor<8x8xf32> -> tensor<8x8xf32>
    %1 = chlo.acosh %arg0 : tensor<8x8xf32> -> tensor<8x8xf32>
    %2 = chlo.asin %arg0 : tensor<8x8xf32> -> tensor<8x8xf32>
    %3 = chlo.asinh %arg0 : tensor<8x8xf32> -> tensor<8x8xf32>
    %4 = chlo.atan %arg0 : tensor<8x8xf32> -> tensor<8x8xf32>
    %5 = chlo.atanh %arg0 : tensor<8x8xf32> -> tensor<8x8xf32>
    %6 = chlo.bessel_i1e %arg0 : tensor<8x8xf32> -> tensor<8x8xf32>
    %7 = chlo.conj %arg0 : tensor<8x8xf32> -> tensor<8x8xf32>
    %8 = chlo.cosh %arg0 : tensor<8x8xf32> -> tensor<8x8xf32>
    %9 = chlo.digamma %arg0 : tensor<8x8xf32> -> tensor<8x8xf32>
    %10 = chlo.erf %arg0 : tensor<8x8xf32> -> tensor<8x8xf32>
    %11 = chlo.erf_inv %arg0 : tensor<8x8xf32> -> tensor<8x8xf32>
    %12 = chlo.erfc %arg0 : tensor<8x8xf32> -> tensor<8x8xf32>
    %13 = chlo.lgamma %arg0 : tensor<8x8xf32> -> tensor<8x8xf32>
    %14 = chlo.sinh %arg0 : tensor<8x8xf32> -> tensor<8x8xf32>
    %15 = chlo.square %arg0 : tensor<8x8xf32> -> tensor<8x8xf32>
    return
  }
  func.func @predicates(%arg0: tensor<8x8xf32>) {
    %0 = chlo.is_inf %arg0 : tensor<8x8xf32> -> tensor<8x8xi1>
    %1 = chlo.is_neg_inf %arg0 : tensor<8x8xf32> -> tensor<8x8xi1>
    %2 = chlo.is_pos_inf %arg0 : tensor<8x8xf32> -> tensor<8x8xi1>
    return
  }
  func.func @functions_of_two(%arg0: tensor<8x8xf32>) {
    %0 = chlo.next_after %arg0, %arg0 : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    %1 = chlo.polygamma %arg0, %arg0 : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    %2 = chlo.zeta %arg0, %arg0 : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    return
  }
  func.func @top_k(%arg0: tensor<8x8xf32>) {
    %values, %indices = chlo.top_k(%arg0, k = 3) : tensor<8x8xf32> -> (tensor<8x3xf32>, tensor<8x3xi32>)
    return
  }
}
