// Checks what elementwise ops reject.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @clamp_min(%a: tensor<4xf32>, %b: tensor<2xf32>) {
  // expected-error@+1 {{expected min of rank 0 or of the result's shape, got 'tensor<2xf32>'}}
  %0 = stablehlo.clamp %b, %a, %a : (tensor<2xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @clamp_max(%a: tensor<4xf32>, %b: tensor<2xf32>) {
  // expected-error@+1 {{expected max of rank 0 or of the result's shape, got 'tensor<2xf32>'}}
  %0 = stablehlo.clamp %a, %a, %b : (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @clamp_result(%a: tensor<4xf32>, %b: tensor<f32>) {
  // expected-error@+1 {{expected a result of shape [4], got [5]}}
  %0 = stablehlo.clamp %b, %a, %b : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
  return
}

// -----

func.func @compare(%a: tensor<4xf32>, %b: tensor<4xi32>) {
  // expected-error@+1 {{expected operands of one type, got 'tensor<4xf32>' and 'tensor<4xi32>'}}
  %0 = stablehlo.compare LT, %a, %b : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xi1>
  return
}

// -----

func.func @select(%p: tensor<4xi1>, %a: tensor<4xf32>, %b: tensor<4xi32>) {
  // expected-error@+1 {{expected on_true and on_false of the result's type 'tensor<4xf32>', got 'tensor<4xf32>' and 'tensor<4xi32>'}}
  %0 = stablehlo.select %p, %a, %b : (tensor<4xi1>, tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @select_pred(%p: tensor<2xi1>, %a: tensor<4xf32>) {
  // expected-error@+1 {{expected pred of rank 0 or of the result's shape, got 'tensor<2xi1>'}}
  %0 = stablehlo.select %p, %a, %a : tensor<2xi1>, tensor<4xf32>
  return
}

// -----

func.func @select_types(%p: tensor<4xi1>, %a: tensor<4xf32>) {
  // expected-error@+1 {{expected the types of predicate and result, or a function type}}
  %0 = stablehlo.select %p, %a, %a : tensor<4xi1>
  return
}

// -----

func.func @complex(%a: tensor<4xf32>, %b: tensor<4xf64>) {
  // expected-error@+1 {{expected real and imaginary parts of type 'tensor<4xf32>', got 'tensor<4xf32>' and 'tensor<4xf64>'}}
  %0 = stablehlo.complex %a, %b : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @complex_type(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected a tensor of complex numbers, got 'tensor<4xf32>'}}
  %0 = stablehlo.complex %a, %a : tensor<4xf32>
  return
}

// -----

func.func @types(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected 2 operand types and 1 result type, got '(tensor<4xf32>) -> tensor<4xf32>'}}
  %0 = stablehlo.add %a, %a : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @format(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected a format such as e8m7}}
  %0 = stablehlo.reduce_precision %a, format = f8 : tensor<4xf32>
  return
}

// -----

func.func @binary(%a: tensor<4xf32>, %b: tensor<4xi32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'i32', 'f32'}}
  %0 = stablehlo.add %a, %b : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @function(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f64'}}
  %0 = stablehlo.exponential %a : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @rounding(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f64'}}
  %0 = stablehlo.floor %a : (tensor<4xf32>) -> tensor<4xf64>
  return
}
