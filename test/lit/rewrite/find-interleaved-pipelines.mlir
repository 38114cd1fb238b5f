// One forward and one backward at a time (1F1B): both edges are in one loop, in any order; what goes back is computed from
// what went forward.
// RUN: cgx-opt %s --cgx-find-pipelines | FileCheck %s
// RUN: cgx-opt %s --cgx-find-pipelines --cgx-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT

// REPORT: pipeline/forward {{ *}}activation {{ *}}4x32xf32 x7
// REPORT: pipeline/backward: 3 stages, 7 ticks, forward and backward in one loop (1F1B)
// REPORT-NEXT: pipeline/forward: 3 stages, 7 ticks, forward and backward in one loop (1F1B)

#g = #cgx.groups<[[0, 1, 2]]>
#a = #cgx.layer<"", activation>
module attributes {cgx.mesh = #cgx.mesh<["stage" = 3]>, cgx.num_ranks = 3 : i64, mhlo.num_partitions = 3 : i32} {
func.func public @main(%w: tensor<32x32xf32> {cgx.name = "state['w']"}, %x: tensor<12x32xf32> {cgx.name = "batch['x']"})
    -> (tensor<32x32xf32> {cgx.feeds = 0 : i64}) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ticks = stablehlo.constant dense<7> : tensor<i32>
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %zeros = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
  %nothing = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
  %u = stablehlo.partition_id : tensor<ui32>
  %rank = stablehlo.convert %u : (tensor<ui32>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %first = stablehlo.compare EQ, %rank, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %micro = stablehlo.reshape %x : (tensor<12x32xf32>) -> tensor<3x4x32xf32>
  // Which stage it is, the step may ask inside of the loop, too.
  %f:6 = stablehlo.while(%t = %zero, %arrived = %zeros, %back = %zeros, %sum = %nothing, %isfirst = %first, %stage = %rank)
      : tensor<i32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<32x32xf32>, tensor<i1>, tensor<i32>
   cond {
    %c = stablehlo.compare LT, %t, %ticks, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %m0 = stablehlo.dynamic_slice %micro, %t, %zero, %zero, sizes = [1, 4, 32] : (tensor<3x4x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x32xf32>
    %m = stablehlo.reshape %m0 : (tensor<1x4x32xf32>) -> tensor<4x32xf32>
    %in = stablehlo.select %isfirst, %m, %arrived : tensor<i1>, tensor<4x32xf32>
    %p = stablehlo.dot_general %in, %w, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x32xf32>) -> tensor<4x32xf32>
    %out = stablehlo.tanh %p : tensor<4x32xf32>
    %islast = stablehlo.compare EQ, %stage, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    // This is the gradient that came from the next stage, or that of the loss, on the last stage.
    %g = stablehlo.select %islast, %out, %back : tensor<i1>, tensor<4x32xf32>
    %d = stablehlo.dot_general %in, %g, contracting_dims = [0] x [0] : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<32x32xf32>
    %s = stablehlo.add %sum, %d : tensor<32x32xf32>
    %q = stablehlo.dot_general %g, %w, contracting_dims = [1] x [1] : (tensor<4x32xf32>, tensor<32x32xf32>) -> tensor<4x32xf32>
    // CHECK: cgx.permute
    // CHECK-SAME: layer("pipeline/backward", activation_gradient)
    // CHECK-SAME: source_target_pairs({{\[}}[1, 0], [2, 1]])
    %nextback = cgx.permute(%q) groups(#g) id(0) layer(#a) source_target_pairs([[1, 0], [2, 1], [0, 2]])
        : tensor<4x32xf32>
    // CHECK: cgx.permute
    // CHECK-SAME: layer("pipeline/forward", activation)
    // CHECK-SAME: source_target_pairs({{\[}}[0, 1], [1, 2]])
    %next = cgx.permute(%out) groups(#g) id(1) layer(#a) source_target_pairs([[0, 1], [1, 2], [2, 0]])
        : tensor<4x32xf32>
    %n = stablehlo.add %t, %one : tensor<i32>
    stablehlo.return %n, %next, %nextback, %s, %isfirst, %stage
        : tensor<i32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<32x32xf32>, tensor<i1>, tensor<i32>
  }
  %new = stablehlo.subtract %w, %f#3 : tensor<32x32xf32>
  return %new : tensor<32x32xf32>
}
}
