// Each operation that begins with uninitialized memory has its own, also in a region.
// RUN: cgx-opt %s --cgx-separate-empty-tensors | FileCheck %s

// CHECK-LABEL: @shared
// CHECK: %[[C:.*]] = tensor.empty
// CHECK: %[[A:.*]] = tensor.empty
// CHECK-NEXT: linalg.exp ins(%{{.*}}) outs(%[[A]]
// CHECK: %[[B:.*]] = tensor.empty
// CHECK-NEXT: linalg.log ins(%{{.*}}) outs(%[[B]]
// CHECK: scf.if
// CHECK: linalg.abs ins(%{{.*}}) outs(%[[C]]
func.func @shared(%x: tensor<4xf32>, %c: i1) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %empty = tensor.empty() : tensor<4xf32>
  %a = linalg.exp ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %b = linalg.log ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %r = scf.if %c -> tensor<4xf32> {
    %d = linalg.abs ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %d : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %a, %b, %r : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
