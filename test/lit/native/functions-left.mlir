// A function that could not be put into @main is rejected by its name, with the reason.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics --cgx-import --cgx-lower-to-llvm

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @step(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// expected-error@+1 {{expected functions that do not call themselves, got @step: use stablehlo.while}}
func.func private @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @again(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @step(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'stablehlo.custom_call' op @vendor.fused has no native code, nor has the function @body that it calls}}
  %0 = stablehlo.custom_call @vendor.fused(%x) {called_computations = [@body]} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @body(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @branches(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// expected-error@+1 {{expected functions of one block, got @branches of 2: use stablehlo.if or stablehlo.while}}
func.func private @branches(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^bb1(%x : tensor<4xf32>)
^bb1(%y: tensor<4xf32>):
  return %y : tensor<4xf32>
}

// -----

// Public functions that @main calls are part of the step; the others are not.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @negate(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @negate(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @evaluate(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
