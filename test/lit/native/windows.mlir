// Windows are loops; cumulative ones are one pass over the elements.
// RUN: cgx-opt %s --cgx-stablehlo-to-linalg --split-input-file | FileCheck %s

// Features, which no window spans, run innermost. The last input only has a shape.
// CHECK-DAG: #[[READ:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d3, d2 * 2 + d4, d5)>
// CHECK-DAG: #[[PLACE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d4)>
// CHECK-DAG: #[[WRITTEN:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d5)>
// CHECK-LABEL: @max_pool
// CHECK: linalg.generic {indexing_maps = [#[[READ]], #[[PLACE]], #[[WRITTEN]]],
// CHECK-SAME: ["parallel", "parallel", "parallel", "reduction", "reduction", "parallel"]
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<2x9x9x3xf32>, tensor<3x3xi8>)
// CHECK: arith.maximumf
func.func @max_pool(%x: tensor<2x8x8x3xf32>, %least: tensor<f32>) -> tensor<2x4x4x3xf32> {
  %0 = "stablehlo.reduce_window"(%x, %least) <{window_dimensions = array<i64: 1, 3, 3, 1>,
      window_strides = array<i64: 1, 2, 2, 1>, padding = dense<[[0, 0], [0, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<2x8x8x3xf32>, tensor<f32>) -> tensor<2x4x4x3xf32>
  return %0 : tensor<2x4x4x3xf32>
}

// -----

// CHECK-LABEL: @cumulative_sum
// CHECK-NOT: linalg.generic
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: tensor.extract
// CHECK: tensor.extract
// CHECK: arith.addf
// CHECK: tensor.insert
func.func @cumulative_sum(%x: tensor<5x100xf32>, %zero: tensor<f32>) -> tensor<5x100xf32> {
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 1, 100>,
      padding = dense<[[0, 0], [99, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<5x100xf32>, tensor<f32>) -> tensor<5x100xf32>
  return %0 : tensor<5x100xf32>
}

// -----

// One update for each window, to what the window selects.
// CHECK-LABEL: @gradient_of_max_pool
// CHECK: scf.for {{.*}} -> (tensor<8xf32>)
// CHECK: scf.for {{.*}} -> (i1, f32, index)
// CHECK: arith.cmpf oge
// CHECK: scf.if
// CHECK: arith.addf
// CHECK: tensor.insert
func.func @gradient_of_max_pool(%x: tensor<8xf32>, %g: tensor<4xf32>, %zero: tensor<f32>) -> tensor<8xf32> {
  %0 = "stablehlo.select_and_scatter"(%x, %g, %zero) <{window_dimensions = array<i64: 3>,
      window_strides = array<i64: 2>, padding = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8xf32>, tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
