// Unsigned integers lose their sign in code, not in the manifest: collectives of them are converted like all else.
// RUN: cgx-opt %s --cgx-lower-collectives --cgx-stablehlo-to-linalg | FileCheck %s

// CHECK: func.func @main(%[[X:.*]]: tensor<2xi32>) -> (tensor<4xi32>, tensor<2xi32>)
// CHECK: %[[ALL:.*]] = cgx_rt.run{{.*}}tensor<4xi32>
// CHECK: %[[SUM:.*]] = cgx_rt.run{{.*}}tensor<2xi32>
// CHECK: return %[[ALL]], %[[SUM]]
func.func @main(%x: tensor<2xui32>) -> (tensor<4xui32>, tensor<2xui32>) {
  %0 = cgx.all_gather(%x) dim(0) groups([[0, 1]]) id(0) : (tensor<2xui32>) -> tensor<4xui32>
  %1 = cgx.all_reduce sum(%x) groups([[0, 1]]) id(1) : tensor<2xui32>
  return %0, %1 : tensor<4xui32>, tensor<2xui32>
}
