// One of several gathers of a value, through barriers and equal reshapes, is sent, within the memory that may be kept: of
// compressed ones the payloads are kept, which the others decode again, of uncompressed ones the value.
// RUN: cgx-opt %s --cgx-reuse-gathers --cgx-verify-program | FileCheck %s
// RUN: cgx-opt %s --cgx-reuse-gathers --cgx-reuse-gathers | FileCheck %s
// RUN: cgx-opt %s --cgx-reuse-gathers=memory=64KiB | FileCheck %s --check-prefix=SOME
// RUN: cgx-opt %s --cgx-reuse-gathers=memory=17KiB | FileCheck %s --check-prefix=LITTLE
// RUN: cgx-opt %s --cgx-reuse-gathers=memory=0 | FileCheck %s --check-prefix=NONE
// RUN: cgx-opt %s --cgx-reuse-gathers --cgx-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: not cgx-opt %s --cgx-reuse-gathers=memory=64Mib 2>&1 | FileCheck %s --check-prefix=SIZE

// SIZE: error: expected the memory for gathered values to be a size such as 64MiB, or all, got 64Mib
// REPORT: w {{.*}} 0 {{.*}} decodes kept payloads again
// REPORT: gathered once: 2 gathers take the value of an earlier one, 1 by decoding its payloads again, which
// REPORT-NEXT: saves 41224 bytes on the wire and keeps 82448 bytes in memory
// RUN: cgx-opt %s --cgx-reuse-gathers --cgx-report=format=json -o /dev/null 2>&1 | FileCheck %s --check-prefix=JSON
// JSON: "reuses": 1
// JSON-NEXT: "held_bytes": 16912
// JSON-NEXT: "keeps_payloads": true

#g = #cgx.groups<[[0, 1]]>
#q = #cgx.quantize<bits = 8, bucket = 128, rounding = nearest, scale = bf16>
#w = #cgx.layer<"w", weight, [128, 128]>
#v = #cgx.layer<"v", weight, [128, 128]>
module attributes {cgx.num_ranks = 2 : i64} {

// Either saves as much for its memory: of equals, what is gathered last is kept first.
// CHECK-LABEL: func @twice
// SOME-LABEL: func @twice
// NONE-LABEL: func @twice
// LITTLE-LABEL: func @twice
func.func @twice(%w: tensor<64x128xf32>, %v: tensor<64x128xf32>)
    -> (tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>) {
  // CHECK: %[[W:.*]] = cgx.all_gather(%arg0) {{.*}}id(0) keeps_payloads {{.*}}{cgx.reuses = 1 : i64}
  // CHECK: %[[V:.*]] = cgx.all_gather({{.*}}cgx.reuses = 1 : i64
  // CHECK-NOT: cgx.all_gather
  // CHECK: %[[B:.*]]:3 = stablehlo.optimization_barrier
  // CHECK: %[[A:.*]] = cgx.all_gather(%[[B]]#0) {{.*}}exact_reasons("decodes kept payloads again") codec(identity) decodes_again(0)
  // CHECK-NOT: cgx.all_gather
  // CHECK: return %[[W]], %[[V]], %[[A]], %[[V]]
  // SOME: %[[W:.*]] = cgx.all_gather
  // SOME: %[[V:.*]] = cgx.all_gather{{.*}}cgx.reuses
  // SOME: %[[B:.*]] = cgx.all_gather
  // SOME: return %[[W]], %[[V]], %[[B]], %[[V]]
  // LITTLE: keeps_payloads
  // LITTLE: cgx.all_gather
  // LITTLE-NOT: cgx.reuses
  // LITTLE: decodes_again
  // NONE-COUNT-4: cgx.all_gather
  %0 = cgx.all_gather(%w) codec(#q) dim(0) groups(#g) id(0) layer(#w) : (tensor<64x128xf32>) -> tensor<128x128xf32>
  %r = stablehlo.reshape %v : (tensor<64x128xf32>) -> tensor<8192xf32>
  %s = stablehlo.reshape %r : (tensor<8192xf32>) -> tensor<64x128xf32>
  %1 = cgx.all_gather(%s) dim(0) groups(#g) id(1) layer(#v) : (tensor<64x128xf32>) -> tensor<128x128xf32>
  %b:3 = stablehlo.optimization_barrier %w, %v, %1 : tensor<64x128xf32>, tensor<64x128xf32>, tensor<128x128xf32>
  %2 = cgx.all_gather(%b#0) codec(#q) dim(0) groups(#g) id(2) layer(#w) : (tensor<64x128xf32>) -> tensor<128x128xf32>
  %t = stablehlo.reshape %b#1 : (tensor<64x128xf32>) -> tensor<8192xf32>
  %u = stablehlo.reshape %t : (tensor<8192xf32>) -> tensor<64x128xf32>
  %3 = cgx.all_gather(%u) dim(0) groups(#g) id(3) layer(#v) : (tensor<64x128xf32>) -> tensor<128x128xf32>
  return %0, %1, %2, %3 : tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>
}

// Another codec, another group, another value: not the same.
// CHECK-LABEL: func @different
// CHECK-COUNT-4: cgx.all_gather
// CHECK-NOT: cgx.reuses
func.func @different(%w: tensor<64x128xf32>, %v: tensor<64x128xf32>)
    -> (tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<64x256xf32>) {
  %b:2 = stablehlo.optimization_barrier %w, %v : tensor<64x128xf32>, tensor<64x128xf32>
  %0 = cgx.all_gather(%w) codec(#q) dim(0) groups(#g) id(4) layer(#w) : (tensor<64x128xf32>) -> tensor<128x128xf32>
  %1 = cgx.all_gather(%b#0) dim(0) groups(#g) id(5) layer(#w) : (tensor<64x128xf32>) -> tensor<128x128xf32>
  %2 = cgx.all_gather(%b#1) codec(#q) dim(0) groups(#g) id(6) layer(#v) : (tensor<64x128xf32>) -> tensor<128x128xf32>
  %3 = cgx.all_gather(%b#0) codec(#q) dim(1) groups(#g) id(7) layer(#w) : (tensor<64x128xf32>) -> tensor<64x256xf32>
  return %0, %1, %2, %3 : tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<64x256xf32>
}
}
