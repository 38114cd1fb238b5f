// Few parts are put into slices, in which they can be computed; many are one operation, and copies in the end.
// RUN: cgx-opt %s --cgx-stablehlo-to-linalg | FileCheck %s
// RUN: cgx-opt %s --cgx-stablehlo-to-linalg --one-shot-bufferize=bufferize-function-boundaries | FileCheck %s --check-prefix=BUFFER

// CHECK-LABEL: @few
// CHECK-COUNT-3: tensor.insert_slice
// CHECK-NOT: cgx_rt
func.func @few(%a: tensor<2x4xf32>, %b: tensor<3x4xf32>) -> tensor<7x4xf32> {
  %0 = stablehlo.concatenate %a, %b, %a, dim = 0 : (tensor<2x4xf32>, tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<7x4xf32>
  return %0 : tensor<7x4xf32>
}

// Parts without elements are left out.
// CHECK-LABEL: @many
// CHECK: cgx_rt.concatenate 1 ins({{(%[a-z0-9]+, ){7}%[a-z0-9]+}} : {{.*}}) outs(%{{.*}} : tensor<2x20xi32>)
// BUFFER-LABEL: @many
// BUFFER: %[[FIRST:.*]] = memref.subview %[[OUT:.*]][0, 0] [2, 3] [1, 1]
// BUFFER-NEXT: memref.copy %{{.*}}, %[[FIRST]]
// BUFFER-NEXT: %[[SECOND:.*]] = memref.subview %[[OUT]][0, 3] [2, 2] [1, 1]
// BUFFER-NEXT: memref.copy %{{.*}}, %[[SECOND]]
// BUFFER-COUNT-6: memref.copy
// BUFFER-NOT: memref.copy
func.func @many(%a: tensor<2x3xi32>, %b: tensor<2x2xi32>, %none: tensor<2x0xi32>) -> tensor<2x20xi32> {
  %0 = stablehlo.concatenate %a, %b, %none, %a, %b, %a, %b, %a, %b, dim = 1 : (tensor<2x3xi32>, tensor<2x2xi32>, tensor<2x0xi32>, tensor<2x3xi32>, tensor<2x2xi32>, tensor<2x3xi32>, tensor<2x2xi32>, tensor<2x3xi32>, tensor<2x2xi32>) -> tensor<2x20xi32>
  return %0 : tensor<2x20xi32>
}
