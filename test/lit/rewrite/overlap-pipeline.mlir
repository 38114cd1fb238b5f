// The option of the pipeline: the explicit form of a collective cannot be started, and groups are smaller.
// RUN: not cgx-opt %s '--cgx-compress=overlap decompose' 2>&1 | FileCheck %s
// RUN: cgx-opt %s '--cgx-compress=overlap' --cgx-report -o %t 2>&1 | FileCheck %s --check-prefix=REPORT

// CHECK: error: expected collectives, got the explicit form of one, whose ops cannot be started: decompose or overlap, not both
// Two tensors of 512 KiB do not wait for each other, unless that is asked for.
// RUN: cgx-opt %s '--cgx-compress=overlap group-bytes=4194304' --cgx-report -o %t 2>&1 | FileCheck %s --check-prefix=TOGETHER

// REPORT: cgx report: 2 ranks, 2 collectives (2 started early), 2 operands;
// TOGETHER: cgx report: 2 ranks, 1 collective (1 started early), 2 operands;
module attributes {cgx.num_ranks = 2 : i64} {
func.func @main(%x: tensor<1024x128xf32>) -> (tensor<1024x128xf32>, tensor<1024x128xf32>, tensor<1024x128xf32>) {
  %0 = cgx.all_reduce mean(%x) groups([[0, 1]]) id(0) layer("w", gradient, [1024, 128]) : tensor<1024x128xf32>
  %1 = stablehlo.sine %x : tensor<1024x128xf32>
  %2 = cgx.all_reduce mean(%1) groups([[0, 1]]) id(1) layer("v", gradient, [1024, 128]) : tensor<1024x128xf32>
  %3 = stablehlo.sine %1 : tensor<1024x128xf32>
  return %0, %2, %3 : tensor<1024x128xf32>, tensor<1024x128xf32>, tensor<1024x128xf32>
}
}
