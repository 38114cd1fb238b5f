// The explicit form of a collective cannot be started.
// RUN: not cgx-opt %s '--cgx-compress=overlap decompose' 2>&1 | FileCheck %s
// RUN: cgx-opt %s '--cgx-compress=overlap' --cgx-report -o %t 2>&1 | FileCheck %s --check-prefix=REPORT

// CHECK: error: expected collectives, got the explicit form of one, whose ops cannot be started: decompose or overlap, not both
// REPORT: cgx report: 2 ranks, 1 collective (1 started early), 1 operand;
module attributes {cgx.num_ranks = 2 : i64} {
func.func @main(%x: tensor<64x128xf32>) -> (tensor<64x128xf32>, tensor<64x128xf32>) {
  %0 = cgx.all_reduce mean(%x) {id = 0 : i64, groups = #cgx.groups<[[0, 1]]>, codecs = [#cgx.identity],
      layers = [#cgx.layer<"w", gradient, [64, 128]>]} : tensor<64x128xf32>
  %1 = stablehlo.sine %x : tensor<64x128xf32>
  return %0, %1 : tensor<64x128xf32>, tensor<64x128xf32>
}
}
