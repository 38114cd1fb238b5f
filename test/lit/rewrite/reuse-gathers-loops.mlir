// A later loop over layers does not gather again, trip by trip, what an earlier one gathered, in any order: the
// first keeps the values as a stack.
// RUN: cgx-opt %s --split-input-file --cgx-reuse-gathers --cgx-verify-program | FileCheck %s
// RUN: cgx-opt %s --split-input-file --cgx-reuse-gathers --cgx-reuse-gathers | FileCheck %s
// RUN: cgx-opt %s --split-input-file --cgx-reuse-gathers=memory=196608 | FileCheck %s
// RUN: cgx-opt %s --split-input-file --cgx-reuse-gathers=memory=196607 | FileCheck %s --check-prefix=LITTLE
// RUN: cgx-opt %s --split-input-file --cgx-reuse-gathers --cgx-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: cgx-opt %s --split-input-file --cgx-reuse-gathers --cgx-report=format=json -o /dev/null 2>&1 | FileCheck %s --check-prefix=JSON

// Three trips of 128 x 128 elements of 4 bytes.
// REPORT: gathered once: 1 gather takes the value of an earlier one, 1 in each trip of another loop, which
// REPORT-NEXT: saves 25368 bytes on the wire and keeps 196608 bytes in memory
// JSON: "reuses": 1
// JSON-NEXT: "reuses_in_loops": 1
// JSON-NEXT: "held_bytes": 196608
// JSON-NEXT: "keeps_payloads": false
// LITTLE-COUNT-2: cgx.all_gather

// CHECK-LABEL: func @last_layer_first
#g = #cgx.groups<[[0, 1]]>
#q = #cgx.quantize<bits = 8, bucket = 128, rounding = nearest, scale = bf16>
#w = #cgx.layer<"w", weight, [128, 128]>
module attributes {cgx.num_ranks = 2 : i64} {
func.func @last_layer_first(%w: tensor<3x64x128xf32>, %x: tensor<8x128xf32>) -> tensor<8x128xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: %[[ZEROS:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<3x128x128xf32>
  // CHECK: %[[F:.*]]:4 = stablehlo.while({{.*}}, %[[STACK:.*]] = %[[ZEROS]])
  // CHECK: %[[W:.*]] = cgx.all_gather{{.*}}id(0){{.*}}cgx.kept_trips = 3 : i64, cgx.loop_reuses = 1 : i64, cgx.reuses = 1 : i64
  // CHECK: %[[ONE:.*]] = stablehlo.reshape %[[W]] : (tensor<128x128xf32>) -> tensor<1x128x128xf32>
  // CHECK: %[[NEXT:.*]] = stablehlo.dynamic_update_slice %[[STACK]], %[[ONE]], %iterArg_0,
  // CHECK: stablehlo.return {{.*}}, %[[NEXT]] :
  %f:3 = stablehlo.while(%s = %w, %i = %zero, %h = %x) : tensor<3x64x128xf32>, tensor<i32>, tensor<8x128xf32>
   cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %o = stablehlo.constant dense<0> : tensor<i32>
    %d = stablehlo.dynamic_slice %s, %i, %o, %o, sizes = [1, 64, 128] : (tensor<3x64x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x128xf32>
    %r = stablehlo.reshape %d : (tensor<1x64x128xf32>) -> tensor<64x128xf32>
    %a = cgx.all_gather(%r) codec(#q) dim(0) groups(#g) id(0) layer(#w) : (tensor<64x128xf32>) -> tensor<128x128xf32>
    %p = stablehlo.dot_general %h, %a, contracting_dims = [1] x [0] : (tensor<8x128xf32>, tensor<128x128xf32>) -> tensor<8x128xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %s, %next, %p : tensor<3x64x128xf32>, tensor<i32>, tensor<8x128xf32>
  }
  // The stacked weights as the first loop passed them on; n - i - 1, and as in Python from the end where that is negative.
  // CHECK: stablehlo.while({{.*}}, %[[KEPT:.*]] = %[[F]]#3)
  // CHECK: %[[PLACE:.*]] = stablehlo.select
  // CHECK-NOT: cgx.all_gather
  // CHECK: %[[SLICE:.*]] = stablehlo.dynamic_slice %[[KEPT]], %[[PLACE]], {{.*}}sizes = [1, 128, 128]
  // CHECK: %[[A:.*]] = stablehlo.reshape %[[SLICE]] : (tensor<1x128x128xf32>) -> tensor<128x128xf32>
  // CHECK: stablehlo.dot_general {{.*}}, %[[A]],
  // CHECK: stablehlo.return {{.*}}, %[[KEPT]] :
  %b:3 = stablehlo.while(%s = %f#0, %i = %zero, %h = %f#2) : tensor<3x64x128xf32>, tensor<i32>, tensor<8x128xf32>
   cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %o = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %n = stablehlo.constant dense<3> : tensor<i32>
    %m = stablehlo.subtract %n, %i : tensor<i32>
    %j = stablehlo.subtract %m, %one : tensor<i32>
    %under = stablehlo.compare LT, %j, %o, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %end = stablehlo.add %j, %n : tensor<i32>
    %k = stablehlo.select %under, %end, %j : tensor<i1>, tensor<i32>
    %d = stablehlo.dynamic_slice %s, %k, %o, %o, sizes = [1, 64, 128] : (tensor<3x64x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x128xf32>
    %r = stablehlo.reshape %d : (tensor<1x64x128xf32>) -> tensor<64x128xf32>
    %q:2 = stablehlo.optimization_barrier %r, %h : tensor<64x128xf32>, tensor<8x128xf32>
    %a = cgx.all_gather(%q#0) codec(#q) dim(0) groups(#g) id(1) layer(#w) : (tensor<64x128xf32>) -> tensor<128x128xf32>
    %p = stablehlo.dot_general %q#1, %a, contracting_dims = [1] x [1] : (tensor<8x128xf32>, tensor<128x128xf32>) -> tensor<8x128xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %s, %next, %p : tensor<3x64x128xf32>, tensor<i32>, tensor<8x128xf32>
  }
  return %b#2 : tensor<8x128xf32>
}
}

// -----

// Indices from 1 to 3 have the places 0 to 2.
// CHECK-LABEL: func @from_the_second_layer
// CHECK: stablehlo.while({{.*}}, %[[STACK:.*]] = %{{.*}}) : {{.*}}, tensor<3x4x2xf32>
// CHECK: cgx.all_gather
// CHECK: %[[LOWEST:.*]] = stablehlo.constant dense<1> : tensor<i32>
// CHECK: %[[PLACE:.*]] = stablehlo.subtract %iterArg_0, %[[LOWEST]]
// CHECK: stablehlo.dynamic_update_slice %[[STACK]], %{{.*}}, %[[PLACE]],
// CHECK: %[[INDEX:.*]] = stablehlo.subtract %{{.*}}, %iterArg
// CHECK-NOT: cgx.all_gather
// CHECK: %[[LOWEST:.*]] = stablehlo.constant dense<1> : tensor<i32>
// CHECK: %[[PLACE:.*]] = stablehlo.subtract %[[INDEX]], %[[LOWEST]]
// CHECK: stablehlo.dynamic_slice %{{.*}}, %[[PLACE]], {{.*}}sizes = [1, 4, 2]
// CHECK: return
#g = #cgx.groups<[[0, 1]]>
#w = #cgx.layer<"w", weight, [4, 2]>
module attributes {cgx.num_ranks = 2 : i64} {
func.func @from_the_second_layer(%w: tensor<4x2x2xf32>, %v: tensor<4x2x2xf32>, %x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %f:3 = stablehlo.while(%s = %w, %i = %one, %h = %x) : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
   cond {
    %c = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %d = stablehlo.dynamic_slice %s, %i, %zero, %zero, sizes = [1, 2, 2] : (tensor<4x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %t = stablehlo.reshape %d : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    %a = cgx.all_gather(%t) dim(0) groups(#g) id(0) layer(#w) : (tensor<2x2xf32>) -> tensor<4x2xf32>
    %p = stablehlo.add %h, %a : tensor<4x2xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %s, %next, %p : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
  }
  %b:3 = stablehlo.while(%s = %w, %i = %one, %h = %f#2) : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
   cond {
    %c = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.subtract %four, %i : tensor<i32>
    %d = stablehlo.dynamic_slice %s, %j, %zero, %zero, sizes = [1, 2, 2] : (tensor<4x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %t = stablehlo.reshape %d : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    %a = cgx.all_gather(%t) dim(0) groups(#g) id(1) layer(#w) : (tensor<2x2xf32>) -> tensor<4x2xf32>
    %p = stablehlo.add %h, %a : tensor<4x2xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %s, %next, %p : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
  }
  return %b#2 : tensor<4x2xf32>
}
}

// -----

// The second loop has a layer that the first has not.
// CHECK-LABEL: func @other_layers
// CHECK: cgx.all_gather
// CHECK-NOT: cgx.reuses
// CHECK: cgx.all_gather
// CHECK-NOT: cgx.reuses
// CHECK: return
#g = #cgx.groups<[[0, 1]]>
#w = #cgx.layer<"w", weight, [4, 2]>
module attributes {cgx.num_ranks = 2 : i64} {
func.func @other_layers(%w: tensor<4x2x2xf32>, %v: tensor<4x2x2xf32>, %x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %f:3 = stablehlo.while(%s = %w, %i = %one, %h = %x) : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
   cond {
    %c = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %d = stablehlo.dynamic_slice %s, %i, %zero, %zero, sizes = [1, 2, 2] : (tensor<4x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %t = stablehlo.reshape %d : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    %a = cgx.all_gather(%t) dim(0) groups(#g) id(0) layer(#w) : (tensor<2x2xf32>) -> tensor<4x2xf32>
    %p = stablehlo.add %h, %a : tensor<4x2xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %s, %next, %p : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
  }
  %b:3 = stablehlo.while(%s = %w, %i = %zero, %h = %f#2) : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
   cond {
    %c = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.subtract %three, %i : tensor<i32>
    %d = stablehlo.dynamic_slice %s, %j, %zero, %zero, sizes = [1, 2, 2] : (tensor<4x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %t = stablehlo.reshape %d : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    %a = cgx.all_gather(%t) dim(0) groups(#g) id(1) layer(#w) : (tensor<2x2xf32>) -> tensor<4x2xf32>
    %p = stablehlo.add %h, %a : tensor<4x2xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %s, %next, %p : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
  }
  return %b#2 : tensor<4x2xf32>
}
}

// -----

// The first loop has a layer that the second has not: what that saves is no number of gathers.
// CHECK-LABEL: func @fewer_layers
// CHECK: cgx.all_gather
// CHECK-NOT: cgx.reuses
// CHECK: cgx.all_gather
// CHECK-NOT: cgx.reuses
// CHECK: return
#g = #cgx.groups<[[0, 1]]>
#w = #cgx.layer<"w", weight, [4, 2]>
module attributes {cgx.num_ranks = 2 : i64} {
func.func @fewer_layers(%w: tensor<4x2x2xf32>, %v: tensor<4x2x2xf32>, %x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %f:3 = stablehlo.while(%s = %w, %i = %zero, %h = %x) : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
   cond {
    %c = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %d = stablehlo.dynamic_slice %s, %i, %zero, %zero, sizes = [1, 2, 2] : (tensor<4x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %t = stablehlo.reshape %d : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    %a = cgx.all_gather(%t) dim(0) groups(#g) id(0) layer(#w) : (tensor<2x2xf32>) -> tensor<4x2xf32>
    %p = stablehlo.add %h, %a : tensor<4x2xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %s, %next, %p : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
  }
  %b:3 = stablehlo.while(%s = %w, %i = %one, %h = %f#2) : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
   cond {
    %c = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.subtract %four, %i : tensor<i32>
    %d = stablehlo.dynamic_slice %s, %j, %zero, %zero, sizes = [1, 2, 2] : (tensor<4x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %t = stablehlo.reshape %d : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    %a = cgx.all_gather(%t) dim(0) groups(#g) id(1) layer(#w) : (tensor<2x2xf32>) -> tensor<4x2xf32>
    %p = stablehlo.add %h, %a : tensor<4x2xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %s, %next, %p : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
  }
  return %b#2 : tensor<4x2xf32>
}
}

// -----

// Slices of another tensor.
// CHECK-LABEL: func @other_weights
// CHECK: cgx.all_gather
// CHECK-NOT: cgx.reuses
// CHECK: cgx.all_gather
// CHECK-NOT: cgx.reuses
// CHECK: return
#g = #cgx.groups<[[0, 1]]>
#w = #cgx.layer<"w", weight, [4, 2]>
module attributes {cgx.num_ranks = 2 : i64} {
func.func @other_weights(%w: tensor<4x2x2xf32>, %v: tensor<4x2x2xf32>, %x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %f:3 = stablehlo.while(%s = %w, %i = %zero, %h = %x) : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
   cond {
    %c = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %d = stablehlo.dynamic_slice %s, %i, %zero, %zero, sizes = [1, 2, 2] : (tensor<4x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %t = stablehlo.reshape %d : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    %a = cgx.all_gather(%t) dim(0) groups(#g) id(0) layer(#w) : (tensor<2x2xf32>) -> tensor<4x2xf32>
    %p = stablehlo.add %h, %a : tensor<4x2xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %s, %next, %p : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
  }
  %b:3 = stablehlo.while(%s = %v, %i = %zero, %h = %f#2) : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
   cond {
    %c = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.subtract %three, %i : tensor<i32>
    %d = stablehlo.dynamic_slice %s, %j, %zero, %zero, sizes = [1, 2, 2] : (tensor<4x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %t = stablehlo.reshape %d : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    %a = cgx.all_gather(%t) dim(0) groups(#g) id(1) layer(#w) : (tensor<2x2xf32>) -> tensor<4x2xf32>
    %p = stablehlo.add %h, %a : tensor<4x2xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %s, %next, %p : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
  }
  return %b#2 : tensor<4x2xf32>
}
}

// -----

// The first loop changes what it slices.
// CHECK-LABEL: func @changed_weights
// CHECK: cgx.all_gather
// CHECK-NOT: cgx.reuses
// CHECK: cgx.all_gather
// CHECK-NOT: cgx.reuses
// CHECK: return
#g = #cgx.groups<[[0, 1]]>
#w = #cgx.layer<"w", weight, [4, 2]>
module attributes {cgx.num_ranks = 2 : i64} {
func.func @changed_weights(%w: tensor<4x2x2xf32>, %v: tensor<4x2x2xf32>, %x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %f:3 = stablehlo.while(%s = %w, %i = %zero, %h = %x) : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
   cond {
    %c = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %u = stablehlo.add %s, %s : tensor<4x2x2xf32>
    %d = stablehlo.dynamic_slice %s, %i, %zero, %zero, sizes = [1, 2, 2] : (tensor<4x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %t = stablehlo.reshape %d : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    %a = cgx.all_gather(%t) dim(0) groups(#g) id(0) layer(#w) : (tensor<2x2xf32>) -> tensor<4x2xf32>
    %p = stablehlo.add %h, %a : tensor<4x2xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %u, %next, %p : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
  }
  %b:3 = stablehlo.while(%s = %f#0, %i = %zero, %h = %f#2) : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
   cond {
    %c = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.subtract %three, %i : tensor<i32>
    %d = stablehlo.dynamic_slice %s, %j, %zero, %zero, sizes = [1, 2, 2] : (tensor<4x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %t = stablehlo.reshape %d : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    %a = cgx.all_gather(%t) dim(0) groups(#g) id(1) layer(#w) : (tensor<2x2xf32>) -> tensor<4x2xf32>
    %p = stablehlo.add %h, %a : tensor<4x2xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %s, %next, %p : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
  }
  return %b#2 : tensor<4x2xf32>
}
}

// -----

// 4 - i is 4 in the first trip, which reads the slice of 3, as the second does.
// CHECK-LABEL: func @clamped
// CHECK: cgx.all_gather
// CHECK-NOT: cgx.reuses
// CHECK: cgx.all_gather
// CHECK-NOT: cgx.reuses
// CHECK: return
#g = #cgx.groups<[[0, 1]]>
#w = #cgx.layer<"w", weight, [4, 2]>
module attributes {cgx.num_ranks = 2 : i64} {
func.func @clamped(%w: tensor<4x2x2xf32>, %v: tensor<4x2x2xf32>, %x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %f:3 = stablehlo.while(%s = %w, %i = %zero, %h = %x) : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
   cond {
    %c = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %d = stablehlo.dynamic_slice %s, %i, %zero, %zero, sizes = [1, 2, 2] : (tensor<4x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %t = stablehlo.reshape %d : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    %a = cgx.all_gather(%t) dim(0) groups(#g) id(0) layer(#w) : (tensor<2x2xf32>) -> tensor<4x2xf32>
    %p = stablehlo.add %h, %a : tensor<4x2xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %s, %next, %p : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
  }
  %b:3 = stablehlo.while(%s = %w, %i = %zero, %h = %f#2) : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
   cond {
    %c = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.subtract %four, %i : tensor<i32>
    %d = stablehlo.dynamic_slice %s, %j, %zero, %zero, sizes = [1, 2, 2] : (tensor<4x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %t = stablehlo.reshape %d : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    %a = cgx.all_gather(%t) dim(0) groups(#g) id(1) layer(#w) : (tensor<2x2xf32>) -> tensor<4x2xf32>
    %p = stablehlo.add %h, %a : tensor<4x2xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %s, %next, %p : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
  }
  return %b#2 : tensor<4x2xf32>
}
}

// -----

// 2 i is no index that goes by one.
// CHECK-LABEL: func @every_second
// CHECK: cgx.all_gather
// CHECK-NOT: cgx.reuses
// CHECK: cgx.all_gather
// CHECK-NOT: cgx.reuses
// CHECK: return
#g = #cgx.groups<[[0, 1]]>
#w = #cgx.layer<"w", weight, [4, 2]>
module attributes {cgx.num_ranks = 2 : i64} {
func.func @every_second(%w: tensor<4x2x2xf32>, %v: tensor<4x2x2xf32>, %x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %f:3 = stablehlo.while(%s = %w, %i = %zero, %h = %x) : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
   cond {
    %c = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.add %i, %i : tensor<i32>
    %d = stablehlo.dynamic_slice %s, %j, %zero, %zero, sizes = [1, 2, 2] : (tensor<4x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %t = stablehlo.reshape %d : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    %a = cgx.all_gather(%t) dim(0) groups(#g) id(0) layer(#w) : (tensor<2x2xf32>) -> tensor<4x2xf32>
    %p = stablehlo.add %h, %a : tensor<4x2xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %s, %next, %p : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
  }
  %b:3 = stablehlo.while(%s = %w, %i = %zero, %h = %f#2) : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
   cond {
    %c = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.add %i, %i : tensor<i32>
    %d = stablehlo.dynamic_slice %s, %j, %zero, %zero, sizes = [1, 2, 2] : (tensor<4x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %t = stablehlo.reshape %d : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    %a = cgx.all_gather(%t) dim(0) groups(#g) id(1) layer(#w) : (tensor<2x2xf32>) -> tensor<4x2xf32>
    %p = stablehlo.add %h, %a : tensor<4x2xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %s, %next, %p : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
  }
  return %b#2 : tensor<4x2xf32>
}
}

// -----

// Each trip reads the same slice, which random codecs round anew.
// CHECK-LABEL: func @one_layer
// CHECK: cgx.all_gather
// CHECK-NOT: cgx.reuses
// CHECK: cgx.all_gather
// CHECK-NOT: cgx.reuses
// CHECK: return
#g = #cgx.groups<[[0, 1]]>
#w = #cgx.layer<"w", weight, [4, 2]>
module attributes {cgx.num_ranks = 2 : i64} {
func.func @one_layer(%w: tensor<4x2x2xf32>, %v: tensor<4x2x2xf32>, %x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %f:3 = stablehlo.while(%s = %w, %i = %zero, %h = %x) : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
   cond {
    %c = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %d = stablehlo.dynamic_slice %s, %zero, %zero, %zero, sizes = [1, 2, 2] : (tensor<4x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %t = stablehlo.reshape %d : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    %a = cgx.all_gather(%t) dim(0) groups(#g) id(0) layer(#w) : (tensor<2x2xf32>) -> tensor<4x2xf32>
    %p = stablehlo.add %h, %a : tensor<4x2xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %s, %next, %p : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
  }
  %b:3 = stablehlo.while(%s = %w, %i = %zero, %h = %f#2) : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
   cond {
    %c = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %d = stablehlo.dynamic_slice %s, %zero, %zero, %zero, sizes = [1, 2, 2] : (tensor<4x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %t = stablehlo.reshape %d : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    %a = cgx.all_gather(%t) dim(0) groups(#g) id(1) layer(#w) : (tensor<2x2xf32>) -> tensor<4x2xf32>
    %p = stablehlo.add %h, %a : tensor<4x2xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %s, %next, %p : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
  }
  return %b#2 : tensor<4x2xf32>
}
}

// -----

// The step decides how long the loops are.
// CHECK-LABEL: func @unknown_length
// CHECK: cgx.all_gather
// CHECK-NOT: cgx.reuses
// CHECK: cgx.all_gather
// CHECK-NOT: cgx.reuses
// CHECK: return
#g = #cgx.groups<[[0, 1]]>
#w = #cgx.layer<"w", weight, [4, 2]>
module attributes {cgx.num_ranks = 2 : i64} {
func.func @unknown_length(%w: tensor<4x2x2xf32>, %v: tensor<4x2x2xf32>, %x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %n = stablehlo.abs %three : tensor<i32>
  %f:3 = stablehlo.while(%s = %w, %i = %zero, %h = %x) : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
   cond {
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %d = stablehlo.dynamic_slice %s, %i, %zero, %zero, sizes = [1, 2, 2] : (tensor<4x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %t = stablehlo.reshape %d : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    %a = cgx.all_gather(%t) dim(0) groups(#g) id(0) layer(#w) : (tensor<2x2xf32>) -> tensor<4x2xf32>
    %p = stablehlo.add %h, %a : tensor<4x2xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %s, %next, %p : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
  }
  %b:3 = stablehlo.while(%s = %w, %i = %zero, %h = %f#2) : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
   cond {
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %d = stablehlo.dynamic_slice %s, %i, %zero, %zero, sizes = [1, 2, 2] : (tensor<4x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %t = stablehlo.reshape %d : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    %a = cgx.all_gather(%t) dim(0) groups(#g) id(1) layer(#w) : (tensor<2x2xf32>) -> tensor<4x2xf32>
    %p = stablehlo.add %h, %a : tensor<4x2xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %s, %next, %p : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
  }
  return %b#2 : tensor<4x2xf32>
}
}

// -----

// XLA gathers the slice before it is reshaped.
// CHECK-LABEL: func @slice_of_one_layer
// CHECK: cgx.all_gather{{.*}}cgx.reuses = 1
// CHECK: stablehlo.dynamic_update_slice {{.*}} : (tensor<4x1x4x2xf32>, tensor<1x1x4x2xf32>,
// CHECK-NOT: cgx.all_gather
// CHECK: %[[SLICE:.*]] = stablehlo.dynamic_slice {{.*}}sizes = [1, 1, 4, 2]
// CHECK: stablehlo.reshape %[[SLICE]] : (tensor<1x1x4x2xf32>) -> tensor<4x2xf32>
// CHECK: return
#g = #cgx.groups<[[0, 1]]>
#w = #cgx.layer<"w", weight, [4, 2]>
module attributes {cgx.num_ranks = 2 : i64} {
func.func @slice_of_one_layer(%w: tensor<4x2x2xf32>, %v: tensor<4x2x2xf32>, %x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %f:3 = stablehlo.while(%s = %w, %i = %zero, %h = %x) : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
   cond {
    %c = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %d = stablehlo.dynamic_slice %s, %i, %zero, %zero, sizes = [1, 2, 2] : (tensor<4x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %u = cgx.all_gather(%d) dim(1) groups(#g) id(0) layer(#w) : (tensor<1x2x2xf32>) -> tensor<1x4x2xf32>
    %a = stablehlo.reshape %u : (tensor<1x4x2xf32>) -> tensor<4x2xf32>
    %p = stablehlo.add %h, %a : tensor<4x2xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %s, %next, %p : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
  }
  %b:3 = stablehlo.while(%s = %w, %i = %zero, %h = %f#2) : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
   cond {
    %c = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.subtract %three, %i : tensor<i32>
    %d = stablehlo.dynamic_slice %s, %j, %zero, %zero, sizes = [1, 2, 2] : (tensor<4x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %t = stablehlo.reshape %d : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    %a = cgx.all_gather(%t) dim(0) groups(#g) id(1) layer(#w) : (tensor<2x2xf32>) -> tensor<4x2xf32>
    %p = stablehlo.add %h, %a : tensor<4x2xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %s, %next, %p : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
  }
  return %b#2 : tensor<4x2xf32>
}
}

// -----

// Along another dimension.
// CHECK-LABEL: func @other_dimension
// CHECK: cgx.all_gather
// CHECK-NOT: cgx.reuses
// CHECK: cgx.all_gather
// CHECK-NOT: cgx.reuses
// CHECK: return
#g = #cgx.groups<[[0, 1]]>
#w = #cgx.layer<"w", weight, [4, 2]>
module attributes {cgx.num_ranks = 2 : i64} {
func.func @other_dimension(%w: tensor<4x2x2xf32>, %v: tensor<4x2x2xf32>, %x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %f:3 = stablehlo.while(%s = %w, %i = %zero, %h = %x) : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
   cond {
    %c = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %d = stablehlo.dynamic_slice %s, %i, %zero, %zero, sizes = [1, 2, 2] : (tensor<4x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %t = stablehlo.reshape %d : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    %a = cgx.all_gather(%t) dim(0) groups(#g) id(0) layer(#w) : (tensor<2x2xf32>) -> tensor<4x2xf32>
    %p = stablehlo.add %h, %a : tensor<4x2xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %s, %next, %p : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
  }
  %b:3 = stablehlo.while(%s = %w, %i = %zero, %h = %f#2) : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
   cond {
    %c = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.subtract %three, %i : tensor<i32>
    %d = stablehlo.dynamic_slice %s, %j, %zero, %zero, sizes = [1, 2, 2] : (tensor<4x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %t = stablehlo.reshape %d : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    %u = cgx.all_gather(%t) dim(1) groups(#g) id(1) layer(#w) : (tensor<2x2xf32>) -> tensor<2x4xf32>
    %a = stablehlo.reshape %u : (tensor<2x4xf32>) -> tensor<4x2xf32>
    %p = stablehlo.add %h, %a : tensor<4x2xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %s, %next, %p : tensor<4x2x2xf32>, tensor<i32>, tensor<4x2xf32>
  }
  return %b#2 : tensor<4x2xf32>
}
}
