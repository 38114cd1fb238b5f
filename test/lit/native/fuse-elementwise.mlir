// A chain of elementwise ops is one loop nest.
// RUN: cgx-opt %s --cgx-stablehlo-to-linalg --cgx-fuse-elementwise | FileCheck %s

// CHECK-LABEL: @main
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: arith.mulf
// CHECK-NOT: linalg.generic
func.func @main(%x: tensor<64x32xf32>, %y: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %0 = stablehlo.exponential %x : tensor<64x32xf32>
  %1 = stablehlo.add %0, %y : tensor<64x32xf32>
  %2 = stablehlo.multiply %1, %x : tensor<64x32xf32>
  return %2 : tensor<64x32xf32>
}
