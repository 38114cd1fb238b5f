// Where one operand decides by the order of its type, the runtime says where each element came from. Any other sort
// is a merge sort; elements compare as the region says, with the constants that left it.
// RUN: cgx-opt %s --cgx-stablehlo-to-linalg --split-input-file | FileCheck %s

// CHECK-LABEL: @sort
// The tensors, and as many to merge into.
// CHECK-COUNT-2: bufferization.alloc_tensor()
// CHECK: scf.for
// CHECK-SAME: -> (tensor<3x100xf32>, tensor<3x100xi32>, tensor<3x100xf32>, tensor<3x100xi32>)
// Runs of 1, 2, ... 64 elements: four times there and back.
// CHECK: %[[PAIRS:.*]] = arith.constant 4 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[PAIRS]]
// CHECK: arith.constant 0.000000e+00 : f32
// CHECK: arith.cmpf olt
// Whichever is taken, its side moves on by one.
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: %[[LEFT:.*]] = arith.addi %[[L:.*]], %[[ONE]] : index
// CHECK: arith.select %[[TAKES:.*]], %[[L]], %[[LEFT]] : index
// CHECK: %[[RIGHT:.*]] = arith.addi %[[R:.*]], %[[ONE]] : index
// CHECK: arith.select %[[TAKES]], %[[RIGHT]], %[[R]] : index
// CHECK: tensor.insert
func.func @sort(%keys: tensor<3x100xf32>, %values: tensor<3x100xi32>) -> (tensor<3x100xf32>, tensor<3x100xi32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0:2 = "stablehlo.sort"(%keys, %values) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %x = stablehlo.add %a, %zero : tensor<f32>
    %less = stablehlo.compare LT, %x, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<3x100xf32>, tensor<3x100xi32>) -> (tensor<3x100xf32>, tensor<3x100xi32>)
  return %0#0, %0#1 : tensor<3x100xf32>, tensor<3x100xi32>
}

// -----

// As JAX prints it: zeros are equal, and so are NaNs. Kind 3, elements of 4 bytes, bits of infinity, ascending; 3 rows
// of 100 elements, all of which are kept.
// CHECK-LABEL: @numbers
// CHECK: %[[PLACES:.*]] = cgx_rt.library @cgx_native_sort_places [3, 4, 2139095040, 0, 3, 100, 1, 100] ins(%{{.*}} : tensor<3x100xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[PLACES]] : tensor<3x100xi32>)
// CHECK: tensor.extract %arg0
// CHECK: linalg.generic {{.*}} ins(%[[PLACES]] : tensor<3x100xi32>)
// CHECK: tensor.extract %arg1
func.func @numbers(%keys: tensor<3x100xf32>, %values: tensor<3x100xi32>) -> (tensor<3x100xf32>, tensor<3x100xi32>) {
  %0:2 = "stablehlo.sort"(%keys, %values) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %a0 = stablehlo.compare EQ, %a, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %a1 = stablehlo.select %a0, %zero, %a : tensor<i1>, tensor<f32>
    %a2 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %a3 = stablehlo.select %a2, %nan, %a1 : tensor<i1>, tensor<f32>
    %b0 = stablehlo.compare EQ, %b, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %b1 = stablehlo.select %b0, %zero, %b : tensor<i1>, tensor<f32>
    %b2 = stablehlo.compare NE, %b, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %b3 = stablehlo.select %b2, %nan, %b1 : tensor<i1>, tensor<f32>
    %less = stablehlo.compare LT, %a3, %b3, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<3x100xf32>, tensor<3x100xi32>) -> (tensor<3x100xf32>, tensor<3x100xi32>)
  return %0#0, %0#1 : tensor<3x100xf32>, tensor<3x100xi32>
}

// -----

// The second operand decides, unsigned, the greatest first, down the columns.
// CHECK-LABEL: @descending
// CHECK: cgx_rt.library @cgx_native_sort_places [0, 1, 0, 1, 1, 9, 4, 9] ins(%{{.*}} : tensor<9x4xi8>)
func.func @descending(%values: tensor<9x4xf32>, %keys: tensor<9x4xui8>) -> (tensor<9x4xf32>, tensor<9x4xui8>) {
  %0:2 = "stablehlo.sort"(%values, %keys) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<ui8>, %d: tensor<ui8>):
    %less = stablehlo.compare GT, %c, %d, UNSIGNED : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<9x4xf32>, tensor<9x4xui8>) -> (tensor<9x4xf32>, tensor<9x4xui8>)
  return %0#0, %0#1 : tensor<9x4xf32>, tensor<9x4xui8>
}

// -----

// Elements of two operands are no order of one type.
// CHECK-LABEL: @across
// CHECK-NOT: cgx_rt.library
// CHECK: scf.for
func.func @across(%x: tensor<9xf32>, %y: tensor<9xf32>) -> (tensor<9xf32>, tensor<9xf32>) {
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %less = stablehlo.compare LT, %a, %d, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<9xf32>, tensor<9xf32>) -> (tensor<9xf32>, tensor<9xf32>)
  return %0#0, %0#1 : tensor<9xf32>, tensor<9xf32>
}

// -----

// CHECK-LABEL: @top_k
// CHECK: %[[PLACES:.*]] = cgx_rt.library @cgx_native_sort_places [2, 4, 2139095040, 1, 6, 40, 1, 5] ins(%{{.*}} : tensor<6x40xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[PLACES]] : tensor<6x5xi32>)
// CHECK: tensor.extract %arg0
func.func @top_k(%x: tensor<6x40xf32>) -> (tensor<6x5xf32>, tensor<6x5xi32>) {
  %0:2 = chlo.top_k(%x, k = 5) : tensor<6x40xf32> -> (tensor<6x5xf32>, tensor<6x5xi32>)
  return %0#0, %0#1 : tensor<6x5xf32>, tensor<6x5xi32>
}

// -----

// CHECK-LABEL: @map
// CHECK: linalg.generic
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: } -> tensor<4x3xf32>
func.func @map(%x: tensor<4x3xf32>, %y: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.multiply %a, %b : tensor<f32>
    %s = stablehlo.add %p, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// A dimension that is counted from the end.
// CHECK-LABEL: @from_the_end
// CHECK: cgx_rt.library @cgx_native_sort_places [1, 4, {{[0-9]+}}, 0, 3, 100, 1, 100] ins(%{{.*}} : tensor<3x100xi32>)
func.func @from_the_end(%keys: tensor<3x100xi32>, %values: tensor<3x100xi32>) -> (tensor<3x100xi32>, tensor<3x100xi32>) {
  %0:2 = "stablehlo.sort"(%keys, %values) <{dimension = -1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %less = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<3x100xi32>, tensor<3x100xi32>) -> (tensor<3x100xi32>, tensor<3x100xi32>)
  return %0#0, %0#1 : tensor<3x100xi32>, tensor<3x100xi32>
}
