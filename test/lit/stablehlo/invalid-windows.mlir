// Checks what ops reject whose windows slide.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @reduce_window_c4(%a: tensor<4x2xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected 2 window_dimensions, one per dimension, got 1}}
  %0 = "stablehlo.reduce_window"(%a, %c) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @reduce_window_c5(%a: tensor<4x2xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected window_dimensions of at least 1, got [2, 0]}}
  %0 = "stablehlo.reduce_window"(%a, %c) <{window_dimensions = array<i64: 2, 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @reduce_window_c7(%a: tensor<4x2xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected strides of at least 1, got [1, -1]}}
  %0 = "stablehlo.reduce_window"(%a, %c) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 1, -1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @reduce_window_c12(%a: tensor<4x2xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected padding of type tensor<2x2xi64>, got 'tensor<1x2xi64>'}}
  %0 = "stablehlo.reduce_window"(%a, %c) <{window_dimensions = array<i64: 2, 1>, padding = dense<0> : tensor<1x2xi64>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @reduce_window_c13(%a: tensor<4x2xi32>, %c: tensor<i32>) {
  // expected-error@+1 {{expected the body to compute in a type to which 'i32' can be promoted, got 'f32'}}
  %0 = "stablehlo.reduce_window"(%a, %c) <{window_dimensions = array<i64: 2, 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x2xi32>, tensor<i32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @reduce_window_c15(%a: tensor<4x2xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected a result of type 'tensor<3x2xf32>', got 'tensor<4x2xf32>'}}
  %0 = "stablehlo.reduce_window"(%a, %c) <{window_dimensions = array<i64: 2, 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @reduce_window_c15_negative(%a: tensor<4xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected padding that leaves dimension 0 at least 0, got -1}}
  %0 = "stablehlo.reduce_window"(%a, %c) <{window_dimensions = array<i64: 1>, padding = dense<[[-5, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<0xf32>
  return
}

// -----

func.func @reduce_window_overflow(%a: tensor<4xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected a window within 64 bits in dimension 0 of size 4}}
  %0 = "stablehlo.reduce_window"(%a, %c) <{window_dimensions = array<i64: 3>, base_dilations = array<i64: 9223372036854775807>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @select_and_scatter_c9(%a: tensor<4xf32>, %b: tensor<2xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected select to return 'tensor<i1>', got 'tensor<f32>'}}
  %0 = "stablehlo.select_and_scatter"(%a, %b, %c) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return
}
