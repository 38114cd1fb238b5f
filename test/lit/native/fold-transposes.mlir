// BLAS reads operands transposed, so that no data has to move.
// RUN: cgx-opt %s --cgx-fold-transposes | FileCheck %s

// CHECK-LABEL: @main
// CHECK: stablehlo.dot_general %arg1, %arg0, contracting_dims = [0] x [0]{{.*}} -> tensor<128x10xf32>
// CHECK-NOT: stablehlo.transpose
func.func @main(%dy: tensor<16x10xf32>, %x: tensor<16x128xf32>) -> tensor<128x10xf32> {
  %0 = stablehlo.dot_general %dy, %x, contracting_dims = [0] x [0] : (tensor<16x10xf32>, tensor<16x128xf32>) -> tensor<10x128xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<10x128xf32>) -> tensor<128x10xf32>
  return %1 : tensor<128x10xf32>
}
