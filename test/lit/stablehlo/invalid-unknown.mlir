// An undefined op that cannot pass through is an error that names it.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @pretty_form(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{custom op 'stablehlo.foo' is unknown}}
  %0 = stablehlo.foo %arg0 : tensor<4xf32>
  return
}

// -----

func.func @as_reducer(%arg0: tensor<4xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{expected an op of stablehlo as reducer, got 'chlo.next_after'}}
  %0 = stablehlo.reduce(%arg0 init: %arg1) applies chlo.next_after across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

// expected-error-re@+1 {{unknown {{ *}}type `foo` in dialect `stablehlo`}}
func.func private @type(!stablehlo.foo)
