// A long constant of equal elements is written at run time; a short one, and one of several, is in the library.
// RUN: cgx-opt %s --cgx-stablehlo-to-linalg | FileCheck %s

// CHECK-LABEL: @main
func.func @main() -> (tensor<1000x1000xf32>, tensor<64x64xf32>, tensor<8192xi1>) {
  // CHECK: %[[X:.*]] = arith.constant dense<1.500000e+00> : tensor<f32>
  // CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<f32>) outs(%{{.*}} : tensor<1000x1000xf32>)
  %0 = stablehlo.constant dense<1.5> : tensor<1000x1000xf32>
  // CHECK: arith.constant dense<2.500000e+00> : tensor<64x64xf32>
  %1 = stablehlo.constant dense<2.5> : tensor<64x64xf32>
  // CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<8192xi1>)
  %2 = stablehlo.constant dense<true> : tensor<8192xi1>
  return %0, %1, %2 : tensor<1000x1000xf32>, tensor<64x64xf32>, tensor<8192xi1>
}
