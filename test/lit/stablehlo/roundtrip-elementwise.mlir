// Ops that work element by element: one type if operands and result agree.
// RUN: cgx-opt %s -o %t.printed
// RUN: grep . %t.printed > %t.pretty
// RUN: grep -v '^//' %s > %t.source
// RUN: diff -w %t.source %t.pretty
// RUN: cgx-opt %s --mlir-print-op-generic | cgx-opt -o %t.generic
// RUN: diff %t.printed %t.generic
// RUN: cgx-opt %s --verify-roundtrip -o %t.roundtrip
// RUN: cgx-opt %s --mlir-print-op-generic | FileCheck %s
// CHECK: "stablehlo.exponential"(%{{.*}}) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: "stablehlo.reduce_precision"(%{{.*}}) <{exponent_bits = 8 : i32, mantissa_bits = 7 : i32}>
// CHECK: "stablehlo.compare"(%{{.*}}, %{{.*}}) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}>
module {
  func.func @functions(%arg0: tensor<4xf32>) {
    %0 = stablehlo.abs %arg0 : tensor<4xf32>
    %1 = stablehlo.cbrt %arg0 : tensor<4xf32>
    %2 = stablehlo.ceil %arg0 : tensor<4xf32>
    %3 = stablehlo.cosine %arg0 : tensor<4xf32>
    %4 = stablehlo.exponential %arg0 : tensor<4xf32>
    %5 = stablehlo.exponential_minus_one %arg0 : tensor<4xf32>
    %6 = stablehlo.floor %arg0 : tensor<4xf32>
    %7 = stablehlo.log %arg0 : tensor<4xf32>
    %8 = stablehlo.log_plus_one %arg0 : tensor<4xf32>
    %9 = stablehlo.logistic %arg0 : tensor<4xf32>
    %10 = stablehlo.negate %arg0 : tensor<4xf32>
    %11 = stablehlo.round_nearest_afz %arg0 : tensor<4xf32>
    %12 = stablehlo.round_nearest_even %arg0 : tensor<4xf32>
    %13 = stablehlo.rsqrt %arg0 : tensor<4xf32>
    %14 = stablehlo.sign %arg0 : tensor<4xf32>
    %15 = stablehlo.sine %arg0 : tensor<4xf32>
    %16 = stablehlo.sqrt %arg0 : tensor<4xf32>
    %17 = stablehlo.tan %arg0 : tensor<4xf32>
    %18 = stablehlo.tanh %arg0 : tensor<4xf32>
    return
  }
  func.func @functions_of_integers(%arg0: tensor<4xi32>) {
    %0 = stablehlo.abs %arg0 : tensor<4xi32>
    %1 = stablehlo.count_leading_zeros %arg0 : tensor<4xi32>
    %2 = stablehlo.negate %arg0 : tensor<4xi32>
    %3 = stablehlo.not %arg0 : tensor<4xi32>
    %4 = stablehlo.popcnt %arg0 : tensor<4xi32>
    %5 = stablehlo.sign %arg0 : tensor<4xi32>
    return
  }
  func.func @accuracy(%arg0: tensor<4xf32>) {
    %0 = stablehlo.exponential %arg0 {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
    %1 = stablehlo.tanh %arg0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
    return
  }
  func.func @arithmetic(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>
    %1 = stablehlo.atan2 %arg0, %arg1 : tensor<4xf32>
    %2 = stablehlo.divide %arg0, %arg1 : tensor<4xf32>
    %3 = stablehlo.maximum %arg0, %arg1 : tensor<4xf32>
    %4 = stablehlo.minimum %arg0, %arg1 : tensor<4xf32>
    %5 = stablehlo.multiply %arg0, %arg1 : tensor<4xf32>
    %6 = stablehlo.power %arg0, %arg1 : tensor<4xf32>
    %7 = stablehlo.remainder %arg0, %arg1 : tensor<4xf32>
    %8 = stablehlo.subtract %arg0, %arg1 : tensor<4xf32>
    return
  }
  func.func @bits(%arg0: tensor<4xui32>, %arg1: tensor<4xui32>) {
    %0 = stablehlo.and %arg0, %arg1 : tensor<4xui32>
    %1 = stablehlo.or %arg0, %arg1 : tensor<4xui32>
    %2 = stablehlo.xor %arg0, %arg1 : tensor<4xui32>
    %3 = stablehlo.shift_left %arg0, %arg1 : tensor<4xui32>
    %4 = stablehlo.shift_right_arithmetic %arg0, %arg1 : tensor<4xui32>
    %5 = stablehlo.shift_right_logical %arg0, %arg1 : tensor<4xui32>
    return
  }
  func.func @dynamic_shapes(%arg0: tensor<?xf32>, %arg1: tensor<4xf32>) {
    %0 = stablehlo.add %arg0, %arg1 : (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
    return
  }
  func.func @complex_numbers(%arg0: tensor<4xf32>) {
    %0 = stablehlo.complex %arg0, %arg0 : tensor<4xcomplex<f32>>
    %1 = stablehlo.real %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %2 = stablehlo.imag %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %3 = stablehlo.abs %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    return
  }
  func.func @conversions(%arg0: tensor<4xf32>) {
    %0 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xbf16>
    %1 = stablehlo.convert %arg0 : tensor<4xf32>
    %2 = stablehlo.bitcast_convert %arg0 : (tensor<4xf32>) -> tensor<4x4xui8>
    %3 = stablehlo.reduce_precision %arg0, format = e8m7 : tensor<4xf32>
    %4 = stablehlo.is_finite %arg0 : (tensor<4xf32>) -> tensor<4xi1>
    return
  }
  func.func @choices(%arg0: tensor<4xf32>, %arg1: tensor<f32>, %arg2: tensor<i1>, %arg3: tensor<?xf32>) {
    %0 = stablehlo.compare  LT, %arg0, %arg0,  FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %1 = stablehlo.compare  EQ, %arg0, %arg0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %2 = stablehlo.select %0, %arg0, %arg0 : tensor<4xi1>, tensor<4xf32>
    %3 = stablehlo.select %arg2, %arg0, %arg0 : tensor<i1>, tensor<4xf32>
    %4 = stablehlo.clamp %arg0, %arg0, %arg0 : tensor<4xf32>
    %5 = stablehlo.clamp %arg1, %arg0, %arg1 : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    return
  }
}
