// Checks what ops reject whose regions branch, loop, map and sort.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @while_c1(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected cond to return 'tensor<i1>', got 'tensor<4xf32>'}}
  %0 = stablehlo.while(%b = %a) : tensor<4xf32>
   cond {
    stablehlo.return %b : tensor<4xf32>
  } do {
    stablehlo.return %b : tensor<4xf32>
  }
  return
}

// -----

func.func @while_c2(%a: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error@+1 {{expected the body to return the types of the operands, 'tensor<4xf32>', got 'tensor<i1>'}}
  %0 = stablehlo.while(%b = %a) : tensor<4xf32>
   cond {
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return %p : tensor<i1>
  }
  return
}

// -----

func.func @if_c2(%a: tensor<f32>, %p: tensor<i1>) {
  // expected-error@+1 {{expected branch 1 to return the results' types, 'tensor<f32>', got 'tensor<i1>'}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<f32>
  }, {
    stablehlo.return %p : tensor<i1>
  }) : (tensor<i1>) -> tensor<f32>
  return
}

// -----

func.func @if_c1(%a: tensor<f32>, %p: tensor<i1>) {
  // expected-error@+1 {{expected branches without arguments, got 1 of branch 0}}
  %0 = "stablehlo.if"(%p) ({
  ^bb0(%b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }, {
    stablehlo.return %a : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return
}

// -----

func.func @case_c1(%i: tensor<i32>) {
  // expected-error@+1 {{expected at least one branch}}
  "stablehlo.case"(%i) : (tensor<i32>) -> ()
  return
}

// -----

func.func @case_i1(%i: tensor<1xi32>) {
  // expected-error@+1 {{expected the operand of rank 0, got 'tensor<1xi32>'}}
  "stablehlo.case"(%i) ({
    stablehlo.return
  }) : (tensor<1xi32>) -> ()
  return
}

// -----

func.func @map_c3(%a: tensor<4x5xf32>) {
  // expected-error@+1 {{expected dimensions to be all of the operands, in order, got [1, 0]}}
  %0 = "stablehlo.map"(%a) <{dimensions = array<i64: 1, 0>}> ({
  ^bb0(%b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @map_c4(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected the computation to take 'tensor<f32>', got 'tensor<i32>'}}
  %0 = "stablehlo.map"(%a) <{dimensions = array<i64: 0>}> ({
  ^bb0(%b: tensor<i32>):
    stablehlo.return %b : tensor<i32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @sort_c4(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected dimension in range [-1, 1), got 1}}
  %0 = "stablehlo.sort"(%a) <{dimension = 1 : i64}> ({
  ^bb0(%b: tensor<f32>, %c: tensor<f32>):
    %1 = stablehlo.compare LT, %b, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @sort_c5(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected the comparator to return 'tensor<i1>', got 'tensor<f32>'}}
  %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
  ^bb0(%b: tensor<f32>, %c: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_c6(%a: tensor<4xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected the body to return 1 values, one per operand, got 2}}
  %0 = "stablehlo.reduce"(%a, %c) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %p, %q : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @reduce_c8(%a: tensor<4xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected a result of type 'tensor<f64>', got 'tensor<f32>'}}
  %0 = "stablehlo.reduce"(%a, %c) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f64>, %q: tensor<f64>):
    %s = stablehlo.add %p, %q : tensor<f64>
    stablehlo.return %s : tensor<f64>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @async_start_c2(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected a collective or a slice in the body, got 'stablehlo.negate'}}
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%b: tensor<4xf32>):
    %1 = stablehlo.negate %b : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  return
}

// -----

func.func @async_done_c1(%f: !stablehlo.future<tensor<4xf32>>) {
  // expected-error@+1 {{expected results of the types of the future, 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0 = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<4xf32>>) -> tensor<5xf32>
  return
}
