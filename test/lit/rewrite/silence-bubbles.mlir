// In ticks in which a stage has no microbatch, edges of a pipeline send nothing: what they would carry is not needed,
// or zero, which the numbers of ranks and rounds show.
// RUN: cgx-opt %s --split-input-file --cgx-silence-bubbles | FileCheck %s
// RUN: cgx-opt %s --split-input-file --cgx-find-pipelines --cgx-silence-bubbles --cgx-report -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REPORT

// REPORT: pipeline/forward {{ *}}activation {{ *}}4x32xf32 x5 {{ *}}1024 {{ *}}1024
// REPORT: pipeline/backward {{ *}}activation_gradient {{ *}}4x32xf32 x5 {{ *}}1024 {{ *}}1024
// REPORT: pipeline/forward: 3 stages, 5 ticks of 3 microbatches, with bubbles in 2 ticks of each stage
// REPORT: pipeline/forward: nothing is sent in bubbles, 6 messages in place of 10
// REPORT-NEXT: pipeline/backward: nothing is sent in bubbles, 6 messages in place of 10

#g = #cgx.groups<[[0, 1, 2]]>
#a = #cgx.layer<"", activation>
// Residuals and the mask of the loss are stacked, and read in the reverse order, as JAX writes it. The forward edge ends
// at a loss that is not counted, or in a row of residuals that is multiplied by zeros; the backward edge carries zeros.
// CHECK-LABEL: module
module attributes {cgx.mesh = #cgx.mesh<["stage" = 3]>, cgx.num_ranks = 3 : i64, mhlo.num_partitions = 3 : i32} {
func.func public @main(%w: tensor<32x32xf32> {cgx.name = "state['w']"}, %x: tensor<12x32xf32> {cgx.name = "batch['x']"})
    -> (tensor<32x32xf32> {cgx.feeds = 0 : i64}, tensor<f32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %ticks = stablehlo.constant dense<5> : tensor<i32>
  %false = stablehlo.constant dense<false> : tensor<i1>
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %zeros = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
  %ones = stablehlo.constant dense<1.000000e+00> : tensor<4x32xf32>
  %empty = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5x4x32xf32>
  %masks0 = stablehlo.broadcast_in_dim %false, dims = [] : (tensor<i1>) -> tensor<5xi1>
  %u = stablehlo.partition_id : tensor<ui32>
  %rank = stablehlo.convert %u : (tensor<ui32>) -> tensor<i32>
  %first = stablehlo.compare EQ, %rank, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %last = stablehlo.compare EQ, %rank, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %micro = stablehlo.reshape %x : (tensor<12x32xf32>) -> tensor<3x4x32xf32>
  // CHECK: cgx.permute
  // CHECK-SAME: sends("11100", "01110") source_target_pairs({{\[}}[0, 1], [1, 2]])
  %f:5 = stablehlo.while(%t = %zero, %arrived = %zeros, %loss = %cst, %kept = %empty, %masks = %masks0) : tensor<i32>, tensor<4x32xf32>, tensor<f32>, tensor<5x4x32xf32>, tensor<5xi1>
   cond {
    %c = stablehlo.compare LT, %t, %ticks, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %m0 = stablehlo.dynamic_slice %micro, %t, %zero, %zero, sizes = [1, 4, 32] : (tensor<3x4x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x32xf32>
    %m = stablehlo.reshape %m0 : (tensor<1x4x32xf32>) -> tensor<4x32xf32>
    %in = stablehlo.select %first, %m, %arrived : tensor<i1>, tensor<4x32xf32>
    %p = stablehlo.dot_general %in, %w, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x32xf32>) -> tensor<4x32xf32>
    %out = stablehlo.tanh %p : tensor<4x32xf32>
    %sum = stablehlo.reduce(%out init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<f32>
    %late = stablehlo.compare GE, %t, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %counts = stablehlo.and %last, %late : tensor<i1>
    %error = stablehlo.select %counts, %sum, %cst : tensor<i1>, tensor<f32>
    %l = stablehlo.add %loss, %error : tensor<f32>
    %row = stablehlo.reshape %in : (tensor<4x32xf32>) -> tensor<1x4x32xf32>
    %k = stablehlo.dynamic_update_slice %kept, %row, %t, %zero, %zero : (tensor<5x4x32xf32>, tensor<1x4x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5x4x32xf32>
    %bit = stablehlo.reshape %counts : (tensor<i1>) -> tensor<1xi1>
    %ms = stablehlo.dynamic_update_slice %masks, %bit, %t : (tensor<5xi1>, tensor<1xi1>, tensor<i32>) -> tensor<5xi1>
    %next = cgx.permute(%out) groups(#g) id(0) layer(#a) source_target_pairs([[0, 1], [1, 2]]) : tensor<4x32xf32>
    %n = stablehlo.add %t, %one : tensor<i32>
    stablehlo.return %n, %next, %l, %k, %ms : tensor<i32>, tensor<4x32xf32>, tensor<f32>, tensor<5x4x32xf32>, tensor<5xi1>
  }
  // CHECK: cgx.permute
  // CHECK-SAME: sends("00111", "01110") source_target_pairs({{\[}}[1, 0], [2, 1]])
  %nothing = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %b:5 = stablehlo.while(%t = %zero, %g = %zeros, %dw = %nothing, %rows = %f#3, %bits = %f#4) : tensor<i32>, tensor<4x32xf32>, tensor<32x32xf32>, tensor<5x4x32xf32>, tensor<5xi1>
   cond {
    %c = stablehlo.compare LT, %t, %ticks, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at = stablehlo.subtract %four, %t : tensor<i32>
    %row = stablehlo.dynamic_slice %rows, %at, %zero, %zero, sizes = [1, 4, 32] : (tensor<5x4x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x32xf32>
    %in = stablehlo.reshape %row : (tensor<1x4x32xf32>) -> tensor<4x32xf32>
    %bit = stablehlo.dynamic_slice %bits, %at, sizes = [1] : (tensor<5xi1>, tensor<i32>) -> tensor<1xi1>
    %counts = stablehlo.reshape %bit : (tensor<1xi1>) -> tensor<i1>
    %came = cgx.permute(%g) groups(#g) id(1) layer(#a) source_target_pairs([[1, 0], [2, 1]]) : tensor<4x32xf32>
    %wide = stablehlo.broadcast_in_dim %counts, dims = [] : (tensor<i1>) -> tensor<4x32xi1>
    %own = stablehlo.select %wide, %ones, %zeros : tensor<4x32xi1>, tensor<4x32xf32>
    %d = stablehlo.add %came, %own : tensor<4x32xf32>
    %slope = stablehlo.tanh %in : tensor<4x32xf32>
    %e = stablehlo.multiply %d, %slope : tensor<4x32xf32>
    %part = stablehlo.dot_general %in, %e, contracting_dims = [0] x [0] : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<32x32xf32>
    %s = stablehlo.add %dw, %part : tensor<32x32xf32>
    %back = stablehlo.dot_general %e, %w, contracting_dims = [1] x [1] : (tensor<4x32xf32>, tensor<32x32xf32>) -> tensor<4x32xf32>
    %out = stablehlo.select %first, %zeros, %back : tensor<i1>, tensor<4x32xf32>
    %n = stablehlo.add %t, %one : tensor<i32>
    stablehlo.return %n, %out, %s, %rows, %bits : tensor<i32>, tensor<4x32xf32>, tensor<32x32xf32>, tensor<5x4x32xf32>, tensor<5xi1>
  }
  %new = stablehlo.subtract %w, %b#2 : tensor<32x32xf32>
  return %new, %f#2 : tensor<32x32xf32>, tensor<f32>
}
}

// -----

// All is needed: in each tick, what arrives is added to what the step returns. But what the last tick sends arrives
// after the end.
// CHECK-LABEL: module
// CHECK: cgx.permute
// CHECK-SAME: sends("110", "110") source_target_pairs
module attributes {cgx.num_ranks = 3 : i64, mhlo.num_partitions = 3 : i32} {
func.func public @main(%x: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ticks = stablehlo.constant dense<3> : tensor<i32>
  %zeros = stablehlo.constant dense<0.000000e+00> : tensor<4x32xf32>
  %f:3 = stablehlo.while(%t = %zero, %arrived = %zeros, %sum = %x) : tensor<i32>, tensor<4x32xf32>, tensor<4x32xf32>
   cond {
    %c = stablehlo.compare LT, %t, %ticks, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %s = stablehlo.add %sum, %arrived : tensor<4x32xf32>
    %next = cgx.permute(%s) groups([[0, 1, 2]]) id(0) source_target_pairs([[0, 1], [1, 2]]) : tensor<4x32xf32>
    %n = stablehlo.add %t, %one : tensor<i32>
    stablehlo.return %n, %next, %s : tensor<i32>, tensor<4x32xf32>, tensor<4x32xf32>
  }
  return %f#2 : tensor<4x32xf32>
}
}

// -----

// A loop that begins with something else than zeros: a stage that got zeros would meet a value that it never met.
// CHECK-LABEL: module
// CHECK: cgx.permute
// CHECK-NOT: sends
module attributes {cgx.num_ranks = 3 : i64, mhlo.num_partitions = 3 : i32} {
func.func public @main(%x: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ticks = stablehlo.constant dense<3> : tensor<i32>
  %f:3 = stablehlo.while(%t = %zero, %arrived = %x, %sum = %x) : tensor<i32>, tensor<4x32xf32>, tensor<4x32xf32>
   cond {
    %c = stablehlo.compare LT, %t, %ticks, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %s = stablehlo.add %sum, %arrived : tensor<4x32xf32>
    %next = cgx.permute(%s) groups([[0, 1, 2]]) id(0) source_target_pairs([[0, 1], [1, 2]]) : tensor<4x32xf32>
    %n = stablehlo.add %t, %one : tensor<i32>
    stablehlo.return %n, %next, %s : tensor<i32>, tensor<4x32xf32>, tensor<4x32xf32>
  }
  return %f#2 : tensor<4x32xf32>
}
}

// -----

// A choice by data, and a loop whose length is data.
// CHECK-LABEL: module
// CHECK-COUNT-2: cgx.permute
// CHECK-NOT: sends
module attributes {cgx.num_ranks = 3 : i64, mhlo.num_partitions = 3 : i32} {
func.func public @main(%x: tensor<4x32xf32>, %limit: tensor<i32>) -> (tensor<4x32xf32>, tensor<4x32xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ticks = stablehlo.constant dense<3> : tensor<i32>
  %zeros = stablehlo.constant dense<0.000000e+00> : tensor<4x32xf32>
  %f:3 = stablehlo.while(%t = %zero, %arrived = %zeros, %sum = %x) : tensor<i32>, tensor<4x32xf32>, tensor<4x32xf32>
   cond {
    %c = stablehlo.compare LT, %t, %ticks, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %is = stablehlo.compare LT, %t, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %s = stablehlo.select %is, %sum, %arrived : tensor<i1>, tensor<4x32xf32>
    %next = cgx.permute(%s) groups([[0, 1, 2]]) id(0) source_target_pairs([[0, 1], [1, 2]]) : tensor<4x32xf32>
    %both = stablehlo.add %s, %next : tensor<4x32xf32>
    %n = stablehlo.add %t, %one : tensor<i32>
    stablehlo.return %n, %next, %both : tensor<i32>, tensor<4x32xf32>, tensor<4x32xf32>
  }
  %g:3 = stablehlo.while(%t = %zero, %arrived = %zeros, %sum = %x) : tensor<i32>, tensor<4x32xf32>, tensor<4x32xf32>
   cond {
    %c = stablehlo.compare LT, %t, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %s = stablehlo.add %sum, %arrived : tensor<4x32xf32>
    %next = cgx.permute(%s) groups([[0, 1, 2]]) id(1) source_target_pairs([[0, 1], [1, 2]]) : tensor<4x32xf32>
    %n = stablehlo.add %t, %one : tensor<i32>
    stablehlo.return %n, %next, %s : tensor<i32>, tensor<4x32xf32>, tensor<4x32xf32>
  }
  return %f#2, %g#2 : tensor<4x32xf32>, tensor<4x32xf32>
}
}

// -----

// One forward and one backward at a time: inputs are kept in a ring of rows, and what is read of a row that no microbatch
// has written is not counted. The loop around runs twice.
// CHECK-LABEL: module
// CHECK: cgx.permute
// CHECK-SAME: sends("01100110") source_target_pairs({{\[}}[0, 1]])
module attributes {cgx.num_ranks = 2 : i64, mhlo.num_partitions = 2 : i32} {
func.func public @main(%x: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %ticks = stablehlo.constant dense<4> : tensor<i32>
  %zeros = stablehlo.constant dense<0.000000e+00> : tensor<4x32xf32>
  %empty = stablehlo.constant dense<0.000000e+00> : tensor<2x4x32xf32>
  %h:2 = stablehlo.while(%i = %zero, %all = %zeros) : tensor<i32>, tensor<4x32xf32>
   cond {
    %c = stablehlo.compare LT, %i, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %f:4 = stablehlo.while(%t = %zero, %arrived = %zeros, %sum = %all, %kept = %empty) : tensor<i32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<2x4x32xf32>
     cond {
      %c = stablehlo.compare LT, %t, %ticks, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      // Rows 2 and 3 modulo 2; only values that came after ticks 1 and 2 are added up.
      %place = stablehlo.remainder %t, %two : tensor<i32>
      %index = stablehlo.reshape %place : (tensor<i32>) -> tensor<1xi32>
      %k = "stablehlo.scatter"(%kept, %index, %arrived) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
      ^bb0(%old: tensor<f32>, %new: tensor<f32>):
        stablehlo.return %new : tensor<f32>
      }) : (tensor<2x4x32xf32>, tensor<1xi32>, tensor<4x32xf32>) -> tensor<2x4x32xf32>
      %row = stablehlo.dynamic_slice %k, %place, %zero, %zero, sizes = [1, 4, 32] : (tensor<2x4x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x32xf32>
      %in = stablehlo.reshape %row : (tensor<1x4x32xf32>) -> tensor<4x32xf32>
      %late = stablehlo.compare GE, %t, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %more = stablehlo.select %late, %in, %zeros : tensor<i1>, tensor<4x32xf32>
      %s = stablehlo.add %sum, %more : tensor<4x32xf32>
      %next = cgx.permute(%x) groups([[0, 1]]) id(0) source_target_pairs([[0, 1]]) : tensor<4x32xf32>
      %n = stablehlo.add %t, %one : tensor<i32>
      stablehlo.return %n, %next, %s, %k : tensor<i32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<2x4x32xf32>
    }
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %f#2 : tensor<i32>, tensor<4x32xf32>
  }
  return %h#1 : tensor<4x32xf32>
}
}

// -----

// Branches are taken by rank, and the edge from the last stage to the first, which nobody needs, is dropped.
// CHECK-LABEL: module
// CHECK: cgx.permute
// CHECK-SAME: sends("100", "010") source_target_pairs({{\[}}[0, 1], [1, 2]])
module attributes {cgx.num_ranks = 3 : i64, mhlo.num_partitions = 3 : i32} {
func.func public @main(%x: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ticks = stablehlo.constant dense<3> : tensor<i32>
  %zeros = stablehlo.constant dense<0.000000e+00> : tensor<4x32xf32>
  %u = stablehlo.partition_id : tensor<ui32>
  %rank = stablehlo.convert %u : (tensor<ui32>) -> tensor<i32>
  %first = stablehlo.compare EQ, %rank, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %f:3 = stablehlo.while(%t = %zero, %arrived = %zeros, %last = %zeros) : tensor<i32>, tensor<4x32xf32>, tensor<4x32xf32>
   cond {
    %c = stablehlo.compare LT, %t, %ticks, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %in = "stablehlo.if"(%first) ({
      stablehlo.return %x : tensor<4x32xf32>
    }, {
      %h = stablehlo.tanh %arrived : tensor<4x32xf32>
      stablehlo.return %h : tensor<4x32xf32>
    }) : (tensor<i1>) -> tensor<4x32xf32>
    %out = stablehlo.cosine %in : tensor<4x32xf32>
    %next = cgx.permute(%out) groups([[0, 1, 2]]) id(0) source_target_pairs([[0, 1], [1, 2], [2, 0]]) : tensor<4x32xf32>
    %n = stablehlo.add %t, %one : tensor<i32>
    stablehlo.return %n, %next, %out : tensor<i32>, tensor<4x32xf32>, tensor<4x32xf32>
  }
  %two = stablehlo.constant dense<2> : tensor<i32>
  %end = stablehlo.compare EQ, %rank, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r = stablehlo.select %end, %f#2, %zeros : tensor<i1>, tensor<4x32xf32>
  return %r : tensor<4x32xf32>
}
}

// -----

// The value that rank 0 scatters in round 0 is zero, where zeros are added to zeros; not where a one is written.
// CHECK-LABEL: module
// CHECK: cgx.permute
// CHECK-SAME: sends("01") source_target_pairs({{\[}}[0, 1]])
// CHECK: cgx.permute
// CHECK-SAME: layer("", other) source_target_pairs({{\[}}[0, 1]])
module attributes {cgx.num_ranks = 2 : i64, mhlo.num_partitions = 2 : i32} {
func.func public @main(%x: tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ticks = stablehlo.constant dense<2> : tensor<i32>
  %at = stablehlo.constant dense<3> : tensor<1xi32>
  %zeros = stablehlo.constant dense<0.000000e+00> : tensor<32xf32>
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %f:3 = stablehlo.while(%t = %zero, %sums = %zeros, %ones = %zeros) : tensor<i32>, tensor<32xf32>, tensor<32xf32>
   cond {
    %c = stablehlo.compare LT, %t, %ticks, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %late = stablehlo.compare EQ, %t, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %in = stablehlo.select %late, %x, %zeros : tensor<i1>, tensor<32xf32>
    %sum = "stablehlo.scatter"(%in, %at, %cst) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<32xf32>, tensor<1xi32>, tensor<f32>) -> tensor<32xf32>
    %set = "stablehlo.scatter"(%in, %at, %cst) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<32xf32>, tensor<1xi32>, tensor<f32>) -> tensor<32xf32>
    %next = cgx.permute(%sum) groups([[0, 1]]) id(0) source_target_pairs([[0, 1]]) : tensor<32xf32>
    %other = cgx.permute(%set) groups([[0, 1]]) id(1) source_target_pairs([[0, 1]]) : tensor<32xf32>
    %both = stablehlo.add %sums, %next : tensor<32xf32>
    %all = stablehlo.add %ones, %other : tensor<32xf32>
    %n = stablehlo.add %t, %one : tensor<i32>
    stablehlo.return %n, %both, %all : tensor<i32>, tensor<32xf32>, tensor<32xf32>
  }
  return %f#1, %f#2 : tensor<32xf32>, tensor<32xf32>
}
}
