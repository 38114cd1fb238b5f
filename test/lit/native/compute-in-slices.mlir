// A tensor that is put into a slice is computed there.
// RUN: cgx-opt %s --cgx-compute-in-slices | FileCheck %s

// CHECK-LABEL: @slice
// CHECK: %[[SLICE:.*]] = tensor.extract_slice %[[TO:.*]][0] [4] [1]
// CHECK: %[[A:.*]] = linalg.exp ins(%{{.*}}) outs(%[[SLICE]]
// CHECK: tensor.insert_slice %[[A]] into %[[TO]][0] [4] [1]
func.func @slice(%x: tensor<4xf32>, %to: tensor<8xf32>) -> tensor<8xf32> {
  %empty = tensor.empty() : tensor<4xf32>
  %a = linalg.exp ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %r = tensor.insert_slice %a into %to[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}
