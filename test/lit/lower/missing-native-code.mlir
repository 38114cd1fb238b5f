// One error names all that native code lacks.
// RUN: not cgx-opt %s --cgx-stablehlo-to-linalg 2>&1 | FileCheck %s

// CHECK: native code is missing for chlo.erf_inv (2), stablehlo.while (1)
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.erf_inv %x : tensor<4xf32> -> tensor<4xf32>
  %1 = chlo.erf_inv %0 : tensor<4xf32> -> tensor<4xf32>
  %p = stablehlo.constant dense<false> : tensor<i1>
  %2 = stablehlo.while(%a = %1) : tensor<4xf32>
   cond { stablehlo.return %p : tensor<i1> } do { stablehlo.return %a : tensor<4xf32> }
  return %2 : tensor<4xf32>
}
