// Each constraint of the specification on ops with regions, by its label.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @sort_c1() {
  // expected-error@+1 {{expected 1 or more operands, but found 0}}
  "stablehlo.sort"() ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.compare"(%x, %y) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }) {dimension = 0 : i64, is_stable = true} : () -> ()
  return
}

// -----

func.func @sort_c2(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected results of the types of the operands, 'tensor<2xf32>', got 'tensor<2xf16>'}}
  %r = "stablehlo.sort"(%arg0) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.compare"(%x, %y) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }) {dimension = 0 : i64, is_stable = true} : (tensor<2xf32>) -> (tensor<2xf16>)
  return
}

// -----

func.func @sort_c3(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{requires the same shape for all operands and results}}
  %r = "stablehlo.sort"(%arg0) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.compare"(%x, %y) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }) {dimension = 0 : i64, is_stable = true} : (tensor<2xf32>) -> (tensor<3xf32>)
  return
}

// -----

func.func @sort_c4(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected dimension in range [-1, 1), got 1}}
  %r = "stablehlo.sort"(%arg0) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.compare"(%x, %y) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }) {dimension = 1 : i64, is_stable = true} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @sort_c5(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected the comparator to return 'tensor<i1>', got 'tensor<f32>'}}
  %r = "stablehlo.sort"(%arg0) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimension = 0 : i64, is_stable = true} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @map_c1(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) {
  // expected-error@+1 {{requires the same shape for all operands and results}}
  %r = "stablehlo.map"(%arg0, %arg1) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @map_c2() {
  // expected-error@+1 {{expected 1 or more operands, but found 0}}
  %r = "stablehlo.map"() ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : () -> tensor<2xf32>
  return
}

// -----

func.func @map_c3(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) {
  // expected-error@+1 {{expected dimensions to be all of the operands, in order, got [1]}}
  %r = "stablehlo.map"(%arg0, %arg1) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = array<i64: 1>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @map_c4(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) {
  // expected-error@+1 {{expected the computation to take 'tensor<f32>', 'tensor<f32>', got 'tensor<f16>', 'tensor<f16>'}}
  %r = "stablehlo.map"(%arg0, %arg1) ({ ^bb0(%x: tensor<f16>, %y: tensor<f16>): %s = "stablehlo.add"(%x, %y) : (tensor<f16>, tensor<f16>) -> tensor<f16> "stablehlo.return"(%s) : (tensor<f16>) -> () }) {dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_c1(%arg0: tensor<2x3xf32>, %arg1: tensor<3x3xf32>, %arg2: tensor<f32>, %arg3: tensor<f32>) {
  // expected-error@+1 {{expected operands of one shape, got 'tensor<2x3xf32>' and 'tensor<3x3xf32>'}}
  %r:2 = "stablehlo.reduce"(%arg0, %arg1, %arg2, %arg3) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %w: tensor<f32>): "stablehlo.return"(%x, %y) : (tensor<f32>, tensor<f32>) -> () }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<3x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @reduce_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<f64>) {
  // expected-error@+1 {{expected the body to compute in a type to which 'f64' can be promoted, got 'f32'}}
  %r = "stablehlo.reduce"(%arg0, %arg1) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f64>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_c3(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{expected at least one operand}}
  %r = "stablehlo.reduce"(%arg0) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_c4(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{expected dimensions in range [0, 2), got 2}}
  %r = "stablehlo.reduce"(%arg0, %arg1) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = array<i64: 2>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_c5(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{expected dimensions to be unique, got 1 twice}}
  %r = "stablehlo.reduce"(%arg0, %arg1) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = array<i64: 1, 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_c6(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{expected the body to compute in a type to which 'f32' can be promoted, got 'f16'}}
  %r = "stablehlo.reduce"(%arg0, %arg1) ({ ^bb0(%x: tensor<f16>, %y: tensor<f16>): %s = "stablehlo.add"(%x, %y) : (tensor<f16>, tensor<f16>) -> tensor<f16> "stablehlo.return"(%s) : (tensor<f16>) -> () }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_c7(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{expected a result of type 'tensor<2xf32>', got 'tensor<3xf32>'}}
  %r = "stablehlo.reduce"(%arg0, %arg1) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}

// -----

func.func @reduce_c8(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{expected a result of type 'tensor<2xf32>', got 'tensor<2xf64>'}}
  %r = "stablehlo.reduce"(%arg0, %arg1) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf64>
  return
}

// -----

func.func @reduce_window_c1() {
  // expected-error@+1 {{expected operands, and as many results, got 0 and 0}}
  "stablehlo.reduce_window"() ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 1, 2>} : () -> ()
  return
}

// -----

func.func @reduce_window_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<3x3xf32>, %arg2: tensor<f32>, %arg3: tensor<f32>) {
  // expected-error@+1 {{expected operands of one shape, got 'tensor<2x3xf32>' and 'tensor<3x3xf32>'}}
  %r:2 = "stablehlo.reduce_window"(%arg0, %arg1, %arg2, %arg3) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %w: tensor<f32>): "stablehlo.return"(%x, %y) : (tensor<f32>, tensor<f32>) -> () }) {window_dimensions = array<i64: 1, 2>} : (tensor<2x3xf32>, tensor<3x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
  return
}

// -----

func.func @reduce_window_c3(%arg0: tensor<2x3xf32>, %arg1: tensor<f64>) {
  // expected-error@+1 {{expected the body to compute in a type to which 'f64' can be promoted, got 'f32'}}
  %r = "stablehlo.reduce_window"(%arg0, %arg1) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 1, 2>} : (tensor<2x3xf32>, tensor<f64>) -> tensor<2x2xf32>
  return
}

// -----

func.func @reduce_window_c4(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{expected 2 window_dimensions, one per dimension, got 1}}
  %r = "stablehlo.reduce_window"(%arg0, %arg1) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @reduce_window_c5(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{expected window_dimensions of at least 1, got [1, 0]}}
  %r = "stablehlo.reduce_window"(%arg0, %arg1) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 1, 0>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @reduce_window_c6(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{expected 2 strides, one per dimension, got 1}}
  %r = "stablehlo.reduce_window"(%arg0, %arg1) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @reduce_window_c7(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{expected strides of at least 1, got [1, 0]}}
  %r = "stablehlo.reduce_window"(%arg0, %arg1) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 0>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @reduce_window_c8(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{expected 2 base dilations, one per dimension, got 1}}
  %r = "stablehlo.reduce_window"(%arg0, %arg1) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 1, 2>, base_dilations = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @reduce_window_c9(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{expected base dilations of at least 1, got [1, 0]}}
  %r = "stablehlo.reduce_window"(%arg0, %arg1) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 1, 2>, base_dilations = array<i64: 1, 0>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @reduce_window_c10(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{expected 2 window dilations, one per dimension, got 1}}
  %r = "stablehlo.reduce_window"(%arg0, %arg1) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 1, 2>, window_dilations = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @reduce_window_c11(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{expected window dilations of at least 1, got [1, 0]}}
  %r = "stablehlo.reduce_window"(%arg0, %arg1) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 1, 2>, window_dilations = array<i64: 1, 0>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @reduce_window_c12(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{expected padding of type tensor<2x2xi64>, got 'tensor<1x2xi64>'}}
  %r = "stablehlo.reduce_window"(%arg0, %arg1) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 1, 2>, padding = dense<0> : tensor<1x2xi64>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @reduce_window_c13(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{expected the body to compute in a type to which 'f32' can be promoted, got 'f16'}}
  %r = "stablehlo.reduce_window"(%arg0, %arg1) ({ ^bb0(%x: tensor<f16>, %y: tensor<f16>): %s = "stablehlo.add"(%x, %y) : (tensor<f16>, tensor<f16>) -> tensor<f16> "stablehlo.return"(%s) : (tensor<f16>) -> () }) {window_dimensions = array<i64: 1, 2>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @reduce_window_c14(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<f32>, %arg3: tensor<f32>) {
  // expected-error@+1 {{expected a result of type 'tensor<2x2xf32>', got 'tensor<2x3xf32>'}}
  %r:2 = "stablehlo.reduce_window"(%arg0, %arg1, %arg2, %arg3) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %w: tensor<f32>): "stablehlo.return"(%x, %y) : (tensor<f32>, tensor<f32>) -> () }) {window_dimensions = array<i64: 1, 2>} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<2x2xf32>, tensor<2x3xf32>)
  return
}

// -----

func.func @reduce_window_c15(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{expected a result of type 'tensor<2x2xf32>', got 'tensor<2x3xf32>'}}
  %r = "stablehlo.reduce_window"(%arg0, %arg1) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 1, 2>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @reduce_window_c16(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{expected a result of type 'tensor<2x2xf32>', got 'tensor<2x2xf64>'}}
  %r = "stablehlo.reduce_window"(%arg0, %arg1) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 1, 2>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x2xf64>
  return
}

// -----

func.func @select_and_scatter_c1(%arg0: tensor<2x4xf32>, %arg1: tensor<2x2xf64>, %arg2: tensor<f32>) {
  // expected-error@+1 {{expected a source of type 'tensor<2x2xf32>', got 'tensor<2x2xf64>'}}
  %r = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.compare"(%x, %y) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>, padding = dense<0> : tensor<2x2xi64>} : (tensor<2x4xf32>, tensor<2x2xf64>, tensor<f32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @select_and_scatter_c2(%arg0: tensor<2x4xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<f32>) {
  // expected-error@+1 {{expected a source of type 'tensor<2x2xf32>', got 'tensor<2x3xf32>'}}
  %r = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.compare"(%x, %y) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>, padding = dense<0> : tensor<2x2xi64>} : (tensor<2x4xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @select_and_scatter_c3(%arg0: tensor<2x4xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<f64>) {
  // expected-error@+1 {{expected scatter to compute in a type to which 'f64' can be promoted, got 'f32'}}
  %r = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.compare"(%x, %y) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>, padding = dense<0> : tensor<2x2xi64>} : (tensor<2x4xf32>, tensor<2x2xf32>, tensor<f64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @select_and_scatter_c4(%arg0: tensor<2x4xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<f32>) {
  // expected-error@+1 {{expected 2 window_dimensions, one per dimension, got 0}}
  %r = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.compare"(%x, %y) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_strides = array<i64: 1, 2>, padding = dense<0> : tensor<2x2xi64>} : (tensor<2x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @select_and_scatter_c5(%arg0: tensor<2x4xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<f32>) {
  // expected-error@+1 {{expected window_dimensions of at least 1, got [1, 0]}}
  %r = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.compare"(%x, %y) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 1, 0>, window_strides = array<i64: 1, 2>, padding = dense<0> : tensor<2x2xi64>} : (tensor<2x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @select_and_scatter_c6(%arg0: tensor<2x4xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<f32>) {
  // expected-error@+1 {{expected 2 strides, one per dimension, got 1}}
  %r = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.compare"(%x, %y) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 2>, padding = dense<0> : tensor<2x2xi64>} : (tensor<2x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @select_and_scatter_c7(%arg0: tensor<2x4xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<f32>) {
  // expected-error@+1 {{expected strides of at least 1, got [1, 0]}}
  %r = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.compare"(%x, %y) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 0>, padding = dense<0> : tensor<2x2xi64>} : (tensor<2x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @select_and_scatter_c8(%arg0: tensor<2x4xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<f32>) {
  // expected-error@+1 {{expected padding of type tensor<2x2xi64>, got 'tensor<1x2xi64>'}}
  %r = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.compare"(%x, %y) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>, padding = dense<0> : tensor<1x2xi64>} : (tensor<2x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @select_and_scatter_c9(%arg0: tensor<2x4xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<f32>) {
  // expected-error@+1 {{expected select to return 'tensor<i1>', got 'tensor<f32>'}}
  %r = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }, { ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>, padding = dense<0> : tensor<2x2xi64>} : (tensor<2x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @select_and_scatter_c10(%arg0: tensor<2x4xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<f32>) {
  // expected-error@+1 {{expected scatter to compute in a type to which 'f32' can be promoted, got 'f16'}}
  %r = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.compare"(%x, %y) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%x: tensor<f16>, %y: tensor<f16>): %s = "stablehlo.add"(%x, %y) : (tensor<f16>, tensor<f16>) -> tensor<f16> "stablehlo.return"(%s) : (tensor<f16>) -> () }) {window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>, padding = dense<0> : tensor<2x2xi64>} : (tensor<2x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @select_and_scatter_c11(%arg0: tensor<2x4xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<f32>) {
  // expected-error@+1 {{expected a result of type 'tensor<2x4xf32>', got 'tensor<2x5xf32>'}}
  %r = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.compare"(%x, %y) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>, padding = dense<0> : tensor<2x2xi64>} : (tensor<2x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @select_and_scatter_c12(%arg0: tensor<2x4xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<f32>) {
  // expected-error@+1 {{expected a result of type 'tensor<2x4xf32>', got 'tensor<2x4xf64>'}}
  %r = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.compare"(%x, %y) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>, padding = dense<0> : tensor<2x2xi64>} : (tensor<2x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf64>
  return
}

// -----

func.func @case_c1(%arg0: tensor<i32>) {
  // expected-error@+1 {{expected at least one branch}}
  "stablehlo.case"(%arg0) : (tensor<i32>) -> ()
  return
}

// -----

func.func @case_c2(%arg0: tensor<i32>) {
  // expected-error@+1 {{expected branches without arguments, got 1 of branch 0}}
  %r = "stablehlo.case"(%arg0) ({ ^bb0(%x: tensor<i32>): "stablehlo.return"(%x) : (tensor<i32>) -> () }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

func.func @case_c3(%arg0: tensor<i32>, %arg1: tensor<2xf32>) {
  // expected-error@+1 {{expected branch 1 to return the results' types, 'tensor<i32>', got 'tensor<2xf32>'}}
  %r = "stablehlo.case"(%arg0) ({ "stablehlo.return"(%arg0) : (tensor<i32>) -> () }, { "stablehlo.return"(%arg1) : (tensor<2xf32>) -> () }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

func.func @case_c4(%arg0: tensor<i32>) {
  // expected-error@+1 {{expected branch 0 to return the results' types, 'tensor<i64>', got 'tensor<i32>'}}
  %r = "stablehlo.case"(%arg0) ({ "stablehlo.return"(%arg0) : (tensor<i32>) -> () }) : (tensor<i32>) -> tensor<i64>
  return
}

// -----

func.func @if_c3(%arg0: tensor<i1>, %arg1: tensor<2xf32>) {
  // expected-error@+1 {{expected branch 0 to return the results' types, 'tensor<3xf32>', got 'tensor<2xf32>'}}
  %r = "stablehlo.if"(%arg0) ({ "stablehlo.return"(%arg1) : (tensor<2xf32>) -> () }, { "stablehlo.return"(%arg1) : (tensor<2xf32>) -> () }) : (tensor<i1>) -> tensor<3xf32>
  return
}

// -----

func.func @while_c3(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected results of the types of the operands, 'tensor<2xf32>', got 'tensor<3xf32>'}}
  %r = "stablehlo.while"(%arg0) ({ ^bb0(%x: tensor<2xf32>): %k = "stablehlo.constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1> "stablehlo.return"(%k) : (tensor<i1>) -> () }, { ^bb0(%x: tensor<2xf32>): "stablehlo.return"(%x) : (tensor<2xf32>) -> () }) : (tensor<2xf32>) -> tensor<3xf32>
  return
}
