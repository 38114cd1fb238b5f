// Checks what ops with regions reject.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @reduce_nothing() {
  // expected-error@+1 {{expected at least one operand}}
  "stablehlo.reduce"() <{dimensions = array<i64: 0>}> ({
    stablehlo.return
  }) : () -> ()
  return
}

// -----

func.func @reduce_results(%a: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected 1 results, one per operand, got 0}}
  "stablehlo.reduce"(%a, %c) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> ()
  return
}

// -----

func.func @reduce_range(%a: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected dimensions in range [0, 2), got 2}}
  %0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [2] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_unique(%a: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected dimensions to be unique, got 1 twice}}
  %0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [1, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_result(%a: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected a result of type 'tensor<4xf32>', got 'tensor<8xf32>'}}
  %0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @reduce_shapes(%a: tensor<4x8xf32>, %c: tensor<f32>, %b: tensor<4x9xf32>) {
  // expected-error@+1 {{expected operands of one shape, got 'tensor<4x8xf32>' and 'tensor<4x9xf32>'}}
  %0:2 = "stablehlo.reduce"(%a, %b, %c, %c) <{dimensions = array<i64: 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %w: tensor<f32>):
    stablehlo.return %x, %y : tensor<f32>, tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x9xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @reduce_body(%a: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected 2 arguments of the body, got 1}}
  %0 = "stablehlo.reduce"(%a, %c) <{dimensions = array<i64: 1>}> ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @while_results(%a: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error@+1 {{expected results of the types of the operands, 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0 = "stablehlo.while"(%a) ({
  ^bb0(%x: tensor<4xf32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%x: tensor<4xf32>):
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @while_arguments(%a: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error@+1 {{expected the arguments of region 1 to have the types of the operands, 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0 = "stablehlo.while"(%a) ({
  ^bb0(%x: tensor<4xf32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%x: tensor<5xf32>):
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @applies_two(%a: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected one operand with 'applies', got 2}}
  %0:2 = stablehlo.reduce(%a init: %c), (%a init: %c) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}
