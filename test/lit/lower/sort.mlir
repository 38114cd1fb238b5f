// A sort is a merge sort; elements compare as the region says, with the constants that left it.
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

// CHECK-LABEL: @top_k
// CHECK: scf.for
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [6, 5] [1, 1] : tensor<6x40xf32>
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [6, 5] [1, 1] : tensor<6x40xi32>
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
