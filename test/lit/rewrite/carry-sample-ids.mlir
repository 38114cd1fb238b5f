// Ids of samples go through a pipeline as activations do: cut into microbatches, chosen by the tick, and taken from
// what arrived on all stages but the first.
// RUN: cgx-opt %s --cgx-carry-sample-ids --cgx-verify-program | FileCheck %s
// RUN: cgx-opt %s --cgx-carry-sample-ids --cgx-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT

// Messages of 64 samples and 4 rows: 68 * (32 * 2 + 1) bytes at an end, and both ends on rank 1.
// REPORT: pipeline/forward: a rank keeps up to 8840 bytes of messages of samples, saved with checkpoints;
// REPORT-NEXT: samples that were not sent before add up to 512 bytes to a message

#g = #cgx.groups<[[0, 1, 2]]>
#d = #cgx.delta<#cgx.quantize<bits = 3, bucket = 128, rounding = stochastic, scale = bf16>, samples = 64, storage = bf16>
#a = #cgx.layer<"pipeline/forward", activation>
module attributes {cgx.num_ranks = 3 : i64} {
// CHECK-LABEL: func.func public @main
func.func public @main(%w: tensor<32x32xf32> {cgx.name = "state['w']"}, %x: tensor<12x32xf32> {cgx.name = "batch['x']"},
    // CHECK-SAME: %[[IDS:[a-z0-9]+]]: tensor<12xi32>
    %ids: tensor<12xi32> {cgx.name = "batch['ids']"}) -> (tensor<32x32xf32> {cgx.feeds = 0 : i64}) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ticks = stablehlo.constant dense<5> : tensor<i32>
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %zeros = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
  %u = stablehlo.partition_id : tensor<ui32>
  %rank = stablehlo.convert %u : (tensor<ui32>) -> tensor<i32>
  %first = stablehlo.compare EQ, %rank, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  // CHECK-DAG: %[[MICRO:.*]] = stablehlo.reshape %[[IDS]] : (tensor<12xi32>) -> tensor<3x4xi32>
  // CHECK-DAG: %[[NONE:.*]] = stablehlo.constant dense<[-1, -2, -3, -4]> : tensor<4xi32>
  %micro = stablehlo.reshape %x : (tensor<12x32xf32>) -> tensor<3x4x32xf32>
  // CHECK: stablehlo.while({{.*}}tensor<3x4x32xf32>, tensor<4xi32>
  %f:3 = stablehlo.while(%t = %zero, %arrived = %zeros, %all = %micro) : tensor<i32>, tensor<4x32xf32>, tensor<3x4x32xf32>
   cond {
    %c = stablehlo.compare LT, %t, %ticks, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    // CHECK: %[[S:.*]] = stablehlo.dynamic_slice %[[MICRO]], %{{.*}}, sizes = [1, 4]
    // CHECK: %[[M:.*]] = stablehlo.reshape %[[S]] : (tensor<1x4xi32>) -> tensor<4xi32>
    %m0 = stablehlo.dynamic_slice %all, %t, %zero, %zero, sizes = [1, 4, 32] : (tensor<3x4x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x32xf32>
    %m = stablehlo.reshape %m0 : (tensor<1x4x32xf32>) -> tensor<4x32xf32>
    // CHECK: %[[OWN:.*]] = stablehlo.select %{{.*}}, %[[M]], %{{.*}} : tensor<i1>, tensor<4xi32>
    %in = stablehlo.select %first, %m, %arrived : tensor<i1>, tensor<4x32xf32>
    %p = stablehlo.dot_general %in, %w, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x32xf32>) -> tensor<4x32xf32>
    // A stage that works in some ticks only: rows are of the same samples in both branches.
    %s = "stablehlo.if"(%first) ({
      %sum = stablehlo.add %p, %in : tensor<4x32xf32>
      stablehlo.return %sum : tensor<4x32xf32>
    }, {
      stablehlo.return %in : tensor<4x32xf32>
    }) : (tensor<i1>) -> tensor<4x32xf32>
    // CHECK: cgx.permute(%{{[^,)]*}}, %[[OWN]])
    // CHECK-SAME: exact_reasons("", "ids of samples") origins(7, 0, 0, 1)
    // CHECK-SAME: codec(delta<#cgx.quantize<{{.*}}>, samples = 64, storage = bf16>, identity)
    // CHECK-SAME: layer("pipeline/forward", activation) layer("pipeline/forward/ids", other)
    // CHECK-SAME: tensor<4x32xf32>, tensor<4xi32>
    %next = cgx.permute(%s) exact_reasons("") origins(7, 0) codec(#d) groups(#g) id(0) layer(#a)
        source_target_pairs([[0, 1], [1, 2]])
        : tensor<4x32xf32>
    %n = stablehlo.add %t, %one : tensor<i32>
    stablehlo.return %n, %next, %all : tensor<i32>, tensor<4x32xf32>, tensor<3x4x32xf32>
  }
  %o = stablehlo.dot_general %f#1, %f#1, contracting_dims = [0] x [0] : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<32x32xf32>
  %new = stablehlo.subtract %w, %o : tensor<32x32xf32>
  return %new : tensor<32x32xf32>
}
}
