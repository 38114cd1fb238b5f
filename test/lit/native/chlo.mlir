// Ops of chlo that frontends other than JAX write have native code too.
// RUN: cgx-opt %s --cgx-stablehlo-to-linalg | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-DAG: arith.constant dense<[1, 2]> : tensor<2xi32>
// CHECK-DAG: arith.constant dense<3.200000e+00> : tensor<4xf32>
// CHECK-DAG: math.tan
// CHECK-NOT: chlo.
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xi32>, tensor<4xf32>) {
  %0 = chlo.tan %x : tensor<4xf32> -> tensor<4xf32>
  %1 = chlo.constant dense<[1, 2]> : tensor<2xi32>
  %2 = "chlo.constant_like"(%x) <{value = 3.2 : f32}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<2xi32>, tensor<4xf32>
}
