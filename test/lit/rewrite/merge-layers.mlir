// Operands that share a codec become one vector; exact ones and others stay.
// RUN: cgx-opt %s --cgx-merge-layers --cgx-verify-program | FileCheck %s
// RUN: cgx-opt %s --cgx-merge-layers --cgx-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: sed 's/#cgx.topk/#cgx.lowrank<rank = 1>/' %s | not cgx-opt --cgx-merge-layers 2>&1 | FileCheck %s --check-prefix=MATRIX
// RUN: sed 's/#cgx.topk/#cgx.gcomp<optimizer = sgd>/' %s | not cgx-opt --cgx-merge-layers 2>&1 | FileCheck %s --check-prefix=KEPT

// REPORT: a + c gradient 4106xf32 16424 {{[0-9]+ [0-9.]+x}} topk density=0.01
// MATRIX: error: layers merged into a vector: codec lowrank: factors of rank 1 are no shorter than a matrix of 1x4106
// KEPT: error: layers merged into a vector: codec gcomp reads what the optimizer keeps of each layer: expected the scope layer-wise

#t = #cgx.topk
#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.num_ranks = 2 : i64} {

// CHECK-LABEL: func public @main
// CHECK-SAME: (%[[A:.*]]: tensor<64x64xf32>, %[[B:.*]]: tensor<10xf32>, %[[C:.*]]: tensor<2x5xf32>, %[[D:.*]]: tensor<8xbf16>)
func.func public @main(%a: tensor<64x64xf32>, %b: tensor<10xf32>, %c: tensor<2x5xf32>, %d: tensor<8xbf16>)
    -> (tensor<64x64xf32>, tensor<10xf32>, tensor<2x5xf32>, tensor<8xbf16>) {
  // CHECK-DAG: %[[VA:.*]] = stablehlo.reshape %[[A]] : (tensor<64x64xf32>) -> tensor<4096xf32>
  // CHECK-DAG: %[[VC:.*]] = stablehlo.reshape %[[C]] : (tensor<2x5xf32>) -> tensor<10xf32>
  // CHECK: %[[M:.*]] = stablehlo.concatenate %[[VA]], %[[VC]], dim = 0
  // CHECK: %[[R:.*]]:3 = cgx.all_reduce mean(%[[M]], %[[B]], %[[D]])
  // CHECK-SAME: exact_reasons("", "vector", "")
  // CHECK-SAME: codec(topk<density = 1.000000e-02>, identity, natural)
  // CHECK-SAME: layer("a + c", gradient, [4106]) layer("b", gradient) layer("d", gradient) :
  // CHECK: %[[SA:.*]] = stablehlo.slice %[[R]]#0 [0:4096]
  // CHECK: %[[RA:.*]] = stablehlo.reshape %[[SA]] : (tensor<4096xf32>) -> tensor<64x64xf32>
  // CHECK: %[[SC:.*]] = stablehlo.slice %[[R]]#0 [4096:4106]
  // CHECK: %[[RC:.*]] = stablehlo.reshape %[[SC]] : (tensor<10xf32>) -> tensor<2x5xf32>
  // CHECK: return %[[RA]], %[[R]]#1, %[[RC]], %[[R]]#2
  %0:4 = cgx.all_reduce mean(%a, %b, %c, %d) exact_reasons("", "vector", "", "") codec(#t, identity, #t, natural)
      groups(#g) id(0) layer("a", gradient) layer("b", gradient) layer("c", gradient) layer("d", gradient)
      : tensor<64x64xf32>, tensor<10xf32>, tensor<2x5xf32>, tensor<8xbf16>
  return %0#0, %0#1, %0#2, %0#3 : tensor<64x64xf32>, tensor<10xf32>, tensor<2x5xf32>, tensor<8xbf16>
}

// CHECK-LABEL: func @nothing_to_merge
func.func @nothing_to_merge(%a: tensor<64x64xf32>, %b: tensor<10xf32>) {
  // CHECK-NOT: stablehlo
  // CHECK: cgx.all_reduce sum
  %0:2 = cgx.all_reduce sum(%a, %b) codec(natural, identity) groups(#g) id(1) layer("a", gradient) layer("b", gradient)
      : tensor<64x64xf32>, tensor<10xf32>
  return
}
}
