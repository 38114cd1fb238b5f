// RUN: env MALLOC_PERTURB_=165 cgx-opt %s --cgx-inline-functions | FileCheck %s

// A function that is called once is moved, and its caller, which is copied, goes away before what is left of it does: that
// must refer to nothing of the caller's. Memory that is freed is overwritten here, so that whoever looks at it is seen.

// CHECK-LABEL: func.func public @main
// CHECK-COUNT-2: stablehlo.tanh
// CHECK-NOT: func.func
func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @twice(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @once(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @once(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
