// Each constraint of the specification on elementwise ops, by its label.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @cbrt_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f16'}}
  %r = "stablehlo.cbrt"(%arg0) : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @ceil_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f16'}}
  %r = "stablehlo.ceil"(%arg0) : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @cosine_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f16'}}
  %r = "stablehlo.cosine"(%arg0) : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @exponential_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f16'}}
  %r = "stablehlo.exponential"(%arg0) : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @exponential_minus_one_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f16'}}
  %r = "stablehlo.exponential_minus_one"(%arg0) : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @floor_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f16'}}
  %r = "stablehlo.floor"(%arg0) : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @log_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f16'}}
  %r = "stablehlo.log"(%arg0) : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @log_plus_one_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f16'}}
  %r = "stablehlo.log_plus_one"(%arg0) : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @logistic_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f16'}}
  %r = "stablehlo.logistic"(%arg0) : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @negate_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f16'}}
  %r = "stablehlo.negate"(%arg0) : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @round_nearest_afz_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f16'}}
  %r = "stablehlo.round_nearest_afz"(%arg0) : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @round_nearest_even_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f16'}}
  %r = "stablehlo.round_nearest_even"(%arg0) : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @rsqrt_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f16'}}
  %r = "stablehlo.rsqrt"(%arg0) : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @sign_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f16'}}
  %r = "stablehlo.sign"(%arg0) : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @sine_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f16'}}
  %r = "stablehlo.sine"(%arg0) : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @sqrt_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f16'}}
  %r = "stablehlo.sqrt"(%arg0) : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @tan_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f16'}}
  %r = "stablehlo.tan"(%arg0) : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @tanh_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f16'}}
  %r = "stablehlo.tanh"(%arg0) : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @count_leading_zeros_c1(%arg0: tensor<2xi32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'i32', 'i8'}}
  %r = "stablehlo.count_leading_zeros"(%arg0) : (tensor<2xi32>) -> tensor<2xi8>
  return
}

// -----

func.func @not_c1(%arg0: tensor<2xi32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'i32', 'i8'}}
  %r = "stablehlo.not"(%arg0) : (tensor<2xi32>) -> tensor<2xi8>
  return
}

// -----

func.func @popcnt_c1(%arg0: tensor<2xi32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'i32', 'i8'}}
  %r = "stablehlo.popcnt"(%arg0) : (tensor<2xi32>) -> tensor<2xi8>
  return
}

// -----

func.func @atan2_c1(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f32', 'f16'}}
  %r = "stablehlo.atan2"(%arg0, %arg1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @divide_c1(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f32', 'f16'}}
  %r = "stablehlo.divide"(%arg0, %arg1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @maximum_c1(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f32', 'f16'}}
  %r = "stablehlo.maximum"(%arg0, %arg1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @minimum_c1(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f32', 'f16'}}
  %r = "stablehlo.minimum"(%arg0, %arg1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @multiply_c1(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f32', 'f16'}}
  %r = "stablehlo.multiply"(%arg0, %arg1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @power_c1(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f32', 'f16'}}
  %r = "stablehlo.power"(%arg0, %arg1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @remainder_c1(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f32', 'f16'}}
  %r = "stablehlo.remainder"(%arg0, %arg1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @subtract_c1(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'f32', 'f32', 'f16'}}
  %r = "stablehlo.subtract"(%arg0, %arg1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @and_c1(%arg0: tensor<2xi32>, %arg1: tensor<2xi32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'i32', 'i32', 'i8'}}
  %r = "stablehlo.and"(%arg0, %arg1) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi8>
  return
}

// -----

func.func @or_c1(%arg0: tensor<2xi32>, %arg1: tensor<2xi32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'i32', 'i32', 'i8'}}
  %r = "stablehlo.or"(%arg0, %arg1) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi8>
  return
}

// -----

func.func @xor_c1(%arg0: tensor<2xi32>, %arg1: tensor<2xi32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'i32', 'i32', 'i8'}}
  %r = "stablehlo.xor"(%arg0, %arg1) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi8>
  return
}

// -----

func.func @shift_left_c1(%arg0: tensor<2xi32>, %arg1: tensor<2xi32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'i32', 'i32', 'i8'}}
  %r = "stablehlo.shift_left"(%arg0, %arg1) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi8>
  return
}

// -----

func.func @shift_right_arithmetic_c1(%arg0: tensor<2xi32>, %arg1: tensor<2xi32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'i32', 'i32', 'i8'}}
  %r = "stablehlo.shift_right_arithmetic"(%arg0, %arg1) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi8>
  return
}

// -----

func.func @shift_right_logical_c1(%arg0: tensor<2xi32>, %arg1: tensor<2xi32>) {
  // expected-error@+1 {{expected operands and result of one element type, got 'i32', 'i32', 'i8'}}
  %r = "stablehlo.shift_right_logical"(%arg0, %arg1) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi8>
  return
}

// -----

func.func @abs_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{all non-scalar operands/results must have the same shape and base type}}
  %r = "stablehlo.abs"(%arg0) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @abs_c2(%arg0: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{expected a result of element type 'f32', got 'tensor<2xcomplex<f32>>'}}
  %r = "stablehlo.abs"(%arg0) : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return
}

// -----

func.func @imag_c1(%arg0: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{all non-scalar operands/results must have the same shape and base type}}
  %r = "stablehlo.imag"(%arg0) : (tensor<2xcomplex<f32>>) -> tensor<3xf32>
  return
}

// -----

func.func @imag_c2(%arg0: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{expected a result of element type 'f32', got 'tensor<2xf64>'}}
  %r = "stablehlo.imag"(%arg0) : (tensor<2xcomplex<f32>>) -> tensor<2xf64>
  return
}

// -----

func.func @real_c1(%arg0: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{all non-scalar operands/results must have the same shape and base type}}
  %r = "stablehlo.real"(%arg0) : (tensor<2xcomplex<f32>>) -> tensor<3xf32>
  return
}

// -----

func.func @real_c2(%arg0: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{expected a result of element type 'f32', got 'tensor<2xf64>'}}
  %r = "stablehlo.real"(%arg0) : (tensor<2xcomplex<f32>>) -> tensor<2xf64>
  return
}

// -----

func.func @is_finite_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{all non-scalar operands/results must have the same shape and base type}}
  %r = "stablehlo.is_finite"(%arg0) : (tensor<2xf32>) -> tensor<3xi1>
  return
}

// -----

func.func @convert_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{all non-scalar operands/results must have the same shape and base type}}
  %r = "stablehlo.convert"(%arg0) : (tensor<2xf32>) -> tensor<3xi32>
  return
}

// -----

func.func @clamp_c1(%arg0: tensor<3xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<2x3xf32>) {
  // expected-error@+1 {{expected min of rank 0 or of the result's shape, got 'tensor<3xf32>'}}
  %r = "stablehlo.clamp"(%arg0, %arg1, %arg2) : (tensor<3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @clamp_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<3xf32>) {
  // expected-error@+1 {{expected max of rank 0 or of the result's shape, got 'tensor<3xf32>'}}
  %r = "stablehlo.clamp"(%arg0, %arg1, %arg2) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @clamp_c3(%arg0: tensor<f16>, %arg1: tensor<2x3xf32>, %arg2: tensor<2x3xf32>) {
  // expected-error@+1 {{expected min, max and result of the operand's element type 'f32', got 'tensor<f16>'}}
  %r = "stablehlo.clamp"(%arg0, %arg1, %arg2) : (tensor<f16>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @clamp_c4(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<2x3xf32>) {
  // expected-error@+1 {{expected min of rank 0 or of the result's shape, got 'tensor<2x3xf32>'}}
  %r = "stablehlo.clamp"(%arg0, %arg1, %arg2) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @compare_c1(%arg0: tensor<2xf32>, %arg1: tensor<2xf16>) {
  // expected-error@+1 {{expected operands of one type, got 'tensor<2xf32>' and 'tensor<2xf16>'}}
  %r = "stablehlo.compare"(%arg0, %arg1) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<2xf32>, tensor<2xf16>) -> tensor<2xi1>
  return
}

// -----

func.func @compare_c2(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) {
  // expected-error@+1 {{all non-scalar operands/results must have the same shape and base type}}
  %r = "stablehlo.compare"(%arg0, %arg1) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xi1>
  return
}

// -----

func.func @complex_c1(%arg0: tensor<2xf32>, %arg1: tensor<2xf64>) {
  // expected-error@+1 {{expected real and imaginary parts of type 'tensor<2xf32>', got 'tensor<2xf32>' and 'tensor<2xf64>'}}
  %r = "stablehlo.complex"(%arg0, %arg1) : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xcomplex<f32>>
  return
}

// -----

func.func @complex_c2(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) {
  // expected-error@+1 {{all non-scalar operands/results must have the same shape and base type}}
  %r = "stablehlo.complex"(%arg0, %arg1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xcomplex<f32>>
  return
}

// -----

func.func @complex_c3(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) {
  // expected-error@+1 {{expected real and imaginary parts of type 'tensor<2xf64>', got 'tensor<2xf32>' and 'tensor<2xf32>'}}
  %r = "stablehlo.complex"(%arg0, %arg1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f64>>
  return
}

// -----

func.func @select_c1(%arg0: tensor<3xi1>, %arg1: tensor<2x3xf32>, %arg2: tensor<2x3xf32>) {
  // expected-error@+1 {{expected pred of rank 0 or of the result's shape, got 'tensor<3xi1>'}}
  %r = "stablehlo.select"(%arg0, %arg1, %arg2) : (tensor<3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @select_c2(%arg0: tensor<i1>, %arg1: tensor<2x3xf32>, %arg2: tensor<2x3xf16>) {
  // expected-error@+1 {{expected on_true and on_false of the result's type 'tensor<2x3xf32>', got 'tensor<2x3xf32>' and 'tensor<2x3xf16>'}}
  %r = "stablehlo.select"(%arg0, %arg1, %arg2) : (tensor<i1>, tensor<2x3xf32>, tensor<2x3xf16>) -> tensor<2x3xf32>
  return
}

// -----

func.func @reduce_precision_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{requires the same type for all operands and results}}
  %r = "stablehlo.reduce_precision"(%arg0) {exponent_bits = 5 : i32, mantissa_bits = 10 : i32} : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @reduce_precision_c2(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected 1 to 64 exponent bits, got 0}}
  %r = "stablehlo.reduce_precision"(%arg0) {exponent_bits = 0 : i32, mantissa_bits = 10 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_precision_c3(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected 0 to 64 mantissa bits, got -1}}
  %r = "stablehlo.reduce_precision"(%arg0) {exponent_bits = 5 : i32, mantissa_bits = -1 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @dot_c1(%arg0: tensor<2x3x4xf32>, %arg1: tensor<4xf32>) {
  // expected-error@+1 {{expected operands of rank 1 or 2, got 'tensor<2x3x4xf32>' and 'tensor<4xf32>'}}
  %r = "stablehlo.dot"(%arg0, %arg1) : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @dot_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<4xf32>) {
  // expected-error@+1 {{expected contracting dimensions of one size, got 3 and 4}}
  %r = "stablehlo.dot"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @dot_c3(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>) {
  // expected-error@+1 {{expected a result of shape [2], got [3]}}
  %r = "stablehlo.dot"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}
