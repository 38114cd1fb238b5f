// A permute in a loop of ticks is the forward edge of a pipeline, its transpose in a later loop the backward edge; the
// ring's edge from the last stage to the first carries nothing.
// RUN: cgx-opt %s --cgx-find-pipelines | FileCheck %s
// RUN: cgx-opt %s --cgx-find-pipelines --cgx-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: cgx-opt %s --cgx-find-pipelines --cgx-start-collectives --cgx-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT

// So it is of four stages.
// RUN: sed -e 's/0, 1, 2\]\]>/0, 1, 2, 3]]>/; s/"stage" = 3/"stage" = 4/; s/num_ranks = 3/num_ranks = 4/' \
// RUN:     -e 's/num_partitions = 3/num_partitions = 4/; s/\[1, 2\], \[2, 0\]/[1, 2], [2, 3], [3, 0]/' \
// RUN:     -e 's/\[2, 1\], \[0, 2\]/[2, 1], [3, 2], [0, 3]/' %s \
// RUN:   | cgx-opt --cgx-find-pipelines | FileCheck %s --check-prefix=FOUR
// FOUR-LABEL: func.func public @main
// FOUR: layer("pipeline/forward", activation)
// FOUR-SAME: source_target_pairs({{\[}}[0, 1], [1, 2], [2, 3]])
// FOUR: layer("pipeline/backward", activation_gradient)
// FOUR-SAME: source_target_pairs({{\[}}[1, 0], [2, 1], [3, 2]])

// REPORT: pipeline/forward {{ *}}activation {{ *}}4x32xf32 x5
// REPORT: pipeline/backward {{ *}}activation_gradient {{ *}}4x32xf32 x5
// REPORT: pipeline/forward: 3 stages, 5 ticks of 3 microbatches, with bubbles in 2 ticks of each stage
// REPORT: pipeline/backward: 3 stages, 5 ticks of 3 microbatches, with bubbles in 2 ticks of each stage
// REPORT: pipeline/forward: bubbles are sent as well

#g = #cgx.groups<[[0, 1, 2]]>
#a = #cgx.layer<"", activation>
#o = #cgx.layer<"", other>
module attributes {cgx.mesh = #cgx.mesh<["stage" = 3]>, cgx.num_ranks = 3 : i64, mhlo.num_partitions = 3 : i32} {
// CHECK-LABEL: func.func public @main
func.func public @main(%w: tensor<32x32xf32> {cgx.name = "state['w']"}, %x: tensor<12x32xf32> {cgx.name = "batch['x']"})
    -> (tensor<32x32xf32> {cgx.feeds = 0 : i64}) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ticks = stablehlo.constant dense<5> : tensor<i32>
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %zeros = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
  %u = stablehlo.partition_id : tensor<ui32>
  %rank = stablehlo.convert %u : (tensor<ui32>) -> tensor<i32>
  %first = stablehlo.compare EQ, %rank, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %micro = stablehlo.reshape %x : (tensor<12x32xf32>) -> tensor<3x4x32xf32>
  // CHECK: layer("pipeline/forward", activation)
  // CHECK-SAME: source_target_pairs({{\[}}[0, 1], [1, 2]])
  %f:4 = stablehlo.while(%t = %zero, %arrived = %zeros, %is = %first, %kept = %zeros) : tensor<i32>, tensor<4x32xf32>, tensor<i1>, tensor<4x32xf32>
   cond {
    %c = stablehlo.compare LT, %t, %ticks, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %m0 = stablehlo.dynamic_slice %micro, %t, %zero, %zero, sizes = [1, 4, 32] : (tensor<3x4x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x32xf32>
    %m = stablehlo.reshape %m0 : (tensor<1x4x32xf32>) -> tensor<4x32xf32>
    %in = stablehlo.select %is, %m, %arrived : tensor<i1>, tensor<4x32xf32>
    %p = stablehlo.dot_general %in, %w, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x32xf32>) -> tensor<4x32xf32>
    %out = stablehlo.tanh %p : tensor<4x32xf32>
    %next = cgx.permute(%out) groups(#g) id(0) layer(#a) source_target_pairs([[0, 1], [1, 2], [2, 0]])
        : tensor<4x32xf32>
    %n = stablehlo.add %t, %one : tensor<i32>
    stablehlo.return %n, %next, %is, %out : tensor<i32>, tensor<4x32xf32>, tensor<i1>, tensor<4x32xf32>
  }
  // On rank 0 zeros leave, in every round: the pair to rank 2 is dropped.
  // CHECK: layer("pipeline/backward", activation_gradient)
  // CHECK-SAME: source_target_pairs({{\[}}[1, 0], [2, 1]])
  %b:4 = stablehlo.while(%t = %zero, %g = %zeros, %is = %first, %k = %f#3) : tensor<i32>, tensor<4x32xf32>, tensor<i1>, tensor<4x32xf32>
   cond {
    %c = stablehlo.compare LT, %t, %ticks, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %next = cgx.permute(%g) groups(#g) id(1) layer(#o) source_target_pairs([[1, 0], [2, 1], [0, 2]]) : tensor<4x32xf32>
    %s = stablehlo.add %next, %k : tensor<4x32xf32>
    %p = stablehlo.dot_general %s, %w, contracting_dims = [1] x [1] : (tensor<4x32xf32>, tensor<32x32xf32>) -> tensor<4x32xf32>
    %out = stablehlo.select %is, %zeros, %p : tensor<i1>, tensor<4x32xf32>
    %n = stablehlo.add %t, %one : tensor<i32>
    stablehlo.return %n, %out, %is, %k : tensor<i32>, tensor<4x32xf32>, tensor<i1>, tensor<4x32xf32>
  }
  %d = stablehlo.dot_general %b#1, %b#1, contracting_dims = [0] x [0] : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<32x32xf32>
  %new = stablehlo.subtract %w, %d : tensor<32x32xf32>
  return %new : tensor<32x32xf32>
}

// A permute that is read on every rank, and one of which nothing is handed on, are unchanged.
// CHECK-LABEL: func.func @halo
// CHECK: layer("", activation)
// CHECK-SAME: source_target_pairs({{\[}}[0, 1], [1, 2], [2, 0]])
func.func @halo(%x: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %0 = cgx.permute(%x) groups(#g) id(2) layer(#a) source_target_pairs([[0, 1], [1, 2], [2, 0]]) : tensor<4x32xf32>
  return %0 : tensor<4x32xf32>
}

// Values that go around unchanged are no pipeline: keys of ring attention, which every rank gets.
// CHECK-LABEL: func.func private @rotation
func.func private @rotation(%x: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ticks = stablehlo.constant dense<3> : tensor<i32>
  // CHECK: cgx.permute
  // CHECK-SAME: layer("", activation)
  %f:3 = stablehlo.while(%t = %zero, %k = %x, %sum = %x) : tensor<i32>, tensor<4x32xf32>, tensor<4x32xf32>
   cond {
    %c = stablehlo.compare LT, %t, %ticks, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %r = stablehlo.reshape %k : (tensor<4x32xf32>) -> tensor<128xf32>
    %q = cgx.permute(%r) groups(#g) id(2) layer(#a) source_target_pairs([[0, 1], [1, 2], [2, 0]]) : tensor<128xf32>
    %next = stablehlo.reshape %q : (tensor<128xf32>) -> tensor<4x32xf32>
    %s = stablehlo.add %sum, %k : tensor<4x32xf32>
    %n = stablehlo.add %t, %one : tensor<i32>
    stablehlo.return %n, %next, %s : tensor<i32>, tensor<4x32xf32>, tensor<4x32xf32>
  }
  return %f#2 : tensor<4x32xf32>
}
}
