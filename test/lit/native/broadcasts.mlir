// A broadcast repeats nothing in memory: it is read where it is used, as often as it is used.
// RUN: cgx-opt %s --cgx-stablehlo-to-linalg | FileCheck %s --check-prefix=LINALG
// RUN: cgx-opt %s --cgx-lower-to-llvm --mlir-print-ir-after=cgx-plan-memory -o /dev/null 2>&1 | FileCheck %s --check-prefix=MEMORY

module attributes {cgx.num_ranks = 1 : i64} {

// Extents of 1 are a reshape. What is between the sums and the two that read them is then a loop of none.
// LINALG-LABEL: @main
// LINALG: tensor.expand_shape %{{.*}} : tensor<64xf32> into tensor<64x1xf32>
// Room for 64 sums, and no 64x128 of them beside the exponentials.
// MEMORY: cgx_rt.scratch_bytes = 33024 : i64
func.func public @main(%x: tensor<64x128xf32>) -> (tensor<64x128xf32>, tensor<64x128xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<64x128xf32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x128xf32>, tensor<f32>) -> tensor<64xf32>
  %kept = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
  %all = stablehlo.broadcast_in_dim %kept, dims = [0, 1] : (tensor<64x1xf32>) -> tensor<64x128xf32>
  %p = stablehlo.divide %e, %all : tensor<64x128xf32>
  %q = stablehlo.divide %x, %all : tensor<64x128xf32>
  %r = stablehlo.multiply %p, %q : tensor<64x128xf32>
  return %p, %r : tensor<64x128xf32>, tensor<64x128xf32>
}
}
