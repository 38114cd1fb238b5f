// Checks elements in the loop nests of native code: numbers outside of an integer become its bounds, and both sides of
// a comparison leave the form in which narrow floats are stored.
// RUN: cgx-opt %s --cgx-stablehlo-to-linalg --split-input-file | FileCheck %s

// 2^31 is the first that is too high, -2^31 the last that is not too low.
// CHECK-LABEL: @to_signed
// CHECK: %[[LIMIT:.*]] = arith.constant 2.14748365E+9 : f32
// CHECK: %[[HIGH:.*]] = arith.cmpf oge, %[[X:.*]], %[[LIMIT]] : f32
// CHECK: %[[LEAST:.*]] = arith.constant -2.14748365E+9 : f32
// CHECK: %[[LOW:.*]] = arith.cmpf olt, %[[X]], %[[LEAST]] : f32
// CHECK: %[[INT:.*]] = arith.fptosi
// CHECK: %[[MOST:.*]] = arith.constant 2147483647 : i32
// CHECK: %[[CUT:.*]] = arith.select %[[HIGH]], %[[MOST]], %[[INT]]
// CHECK: %[[BOTTOM:.*]] = arith.constant -2147483648 : i32
// CHECK: arith.select %[[LOW]], %[[BOTTOM]], %[[CUT]]
func.func @to_signed(%x: tensor<4xf32>) -> tensor<4xi32> {
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

// CHECK-LABEL: @to_unsigned
// CHECK: %[[LIMIT:.*]] = arith.constant 2.560000e+02 : f32
// CHECK: arith.cmpf oge, %[[X:.*]], %[[LIMIT]] : f32
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: arith.cmpf olt, %[[X]], %[[ZERO]] : f32
// CHECK: arith.fptoui
func.func @to_unsigned(%x: tensor<4xf32>) -> tensor<4xui8> {
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xui8>
  return %0 : tensor<4xui8>
}

// -----

// CHECK-LABEL: @compare_narrow
// CHECK: ^bb0(%[[A:.*]]: i8, %[[B:.*]]: i8,
// CHECK: %[[I:.*]] = arith.index_castui %[[A]] : i8 to index
// CHECK: %[[LEFT:.*]] = tensor.extract %{{.*}}[%[[I]]] : tensor<256xf32>
// CHECK: %[[J:.*]] = arith.index_castui %[[B]] : i8 to index
// CHECK: %[[RIGHT:.*]] = tensor.extract %{{.*}}[%[[J]]] : tensor<256xf32>
// CHECK: arith.cmpf olt, %[[LEFT]], %[[RIGHT]] : f32
func.func @compare_narrow(%x: tensor<4xf8E4M3FN>, %y: tensor<4xf8E4M3FN>) -> tensor<4xi1> {
  %0 = stablehlo.compare LT, %x, %y, FLOAT : (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}
