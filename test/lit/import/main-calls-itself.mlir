// A step that begins again inside of itself, also by way of another function, is named before anything changes.
// RUN: not cgx-opt %s --cgx-import --split-input-file 2>&1 | FileCheck %s
// RUN: not cgx-opt %s --cgx-compress --split-input-file 2>&1 | FileCheck %s
// CHECK-COUNT-2: error: expected functions that do not call themselves, got @main: use stablehlo.while

func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @main(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @again(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @main(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @again(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
