// A start with a condition: zeros where it does not hold, no calls of the runtime there, and buffers that live from the
// start to the wait in either case.
// RUN: cgx-opt %s --cgx-lower-collectives | FileCheck %s --check-prefix=TENSORS
// RUN: cgx-opt %s --cgx-lower-to-llvm --mlir-print-ir-after=cgx-emit-runtime-calls -o /dev/null 2>&1 | FileCheck %s
// RUN: not cgx-opt %s --cgx-lower-to-xla-ffi 2>&1 | FileCheck %s --check-prefix=XLA

// XLA: error: {{.*}} layer 'w': is started with a condition, as outer steps that overlap are; expected a step for cgx-run or cgx-compile

// A select, which becomes part of the loop that computes the difference: in an `if` each branch would have a buffer.
// TENSORS-LABEL: func.func @main
// TENSORS-SAME: %[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>, %[[DUE:.*]]: tensor<i1>
// TENSORS: %[[D:.*]] = stablehlo.subtract %[[A]], %[[B]]
// TENSORS: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00>
// TENSORS-NEXT: %[[ZEROS:.*]] = stablehlo.broadcast_in_dim %[[ZERO]]
// TENSORS-NEXT: %[[SENT:.*]] = stablehlo.select %[[DUE]], %[[D]], %[[ZEROS]]
// TENSORS: %[[HOLDS:.*]] = tensor.extract %[[DUE]][]
// TENSORS: %[[TICKET:.*]], %[[T:.*]] = cgx_rt.start 0 outs(%[[SENT]] : tensor<8xf32>) when %[[HOLDS]] -> tensor<8xf32>
// TENSORS: stablehlo.cosine
// TENSORS: cgx_rt.wait %[[TICKET]] outs(%[[T]] : tensor<8xf32>)

// CHECK-LABEL: func.func @main
// CHECK: scf.if %[[HOLDS:[0-9]+]] {
// CHECK: call @cgx_rt_operand(
// CHECK: call @cgx_rt_start(
// CHECK: }
// CHECK: scf.if %[[HOLDS]] {
// CHECK: call @cgx_rt_wait(
// CHECK: }
module attributes {cgx.num_ranks = 2 : i64} {
  func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>, %due: tensor<i1>) -> (tensor<8xf32>, tensor<8xf32>) {
    %d = stablehlo.subtract %a, %b : tensor<8xf32>
    %h = cgx.start when(%due) all_reduce mean(%d) groups([[0, 1]]) id(0) layer("w", outer_gradient, [8]) : tensor<8xf32>
    %c = stablehlo.cosine %a : tensor<8xf32>
    %r = cgx.wait %h : !cgx.handle<tensor<8xf32>>
    return %r, %c : tensor<8xf32>, tensor<8xf32>
  }
}
