// A report before the import counts nothing, and says why; after it, it counts.
// RUN: cgx-opt %s --cgx-report --cgx-compress -o /dev/null 2>&1 | FileCheck %s
// RUN: cgx-opt %s --cgx-compress --cgx-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=BEHIND
// RUN: not cgx-opt %s --cgx-report=format=xml -o /dev/null 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: not cgx-opt %s --cgx-report=format=xml --mlir-print-op-on-diagnostic -o /dev/null 2>&1 | FileCheck %s --check-prefix=LONG

// CHECK: report-order.mlir:[[#@LINE+15]]:10: warning: the report does not count the 1 collective of stablehlo in the module, which is not imported yet; expected --cgx-import or --cgx-compress before --cgx-report
// CHECK: cgx report: 1 rank, 0 collectives

// BEHIND-NOT: warning
// BEHIND: cgx report: 4 ranks, 1 collective, 1 operand

// SHORT: expected 'text' or 'json' as format of the report, got 'xml'
// SHORT-NOT: see current operation

// LONG: expected 'text' or 'json' as format of the report, got 'xml'
// LONG: see current operation
module attributes {mhlo.num_replicas = 4 : i32} {
  func.func public @main(%w: tensor<64x128xf32> {tf.aliasing_output = 0 : i32}, %x: tensor<64x128xf32>) -> (tensor<64x128xf32> {jax.result_info = "result.w"}) {

    // The gradient of a mean.
    %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<64x128xf32>) -> tensor<64x128xf32>
    %1 = stablehlo.subtract %w, %0 : tensor<64x128xf32>
    return %1 : tensor<64x128xf32>
  }
}
