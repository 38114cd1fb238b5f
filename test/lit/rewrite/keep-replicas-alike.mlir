// State that is equal on ranks before a step is equal after it, whatever codecs operands without a reason get.
// RUN: cgx-opt %s --split-input-file --cgx-keep-replicas-alike | FileCheck %s
// RUN: cgx-opt %s --split-input-file --cgx-compress=bits=2 --cgx-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT

#whole = #cgx.sharding<[[], []]>
#split = #cgx.sharding<[["data"], []]>
#g = #cgx.groups<[[0, 1, 2, 3]]>
#w = #cgx.layer<"w", gradient, [64, 128]>
module attributes {cgx.mesh = #cgx.mesh<["data" = 4]>, cgx.num_ranks = 4 : i64} {

// A ring: a rank's own gradient passes no codec, and what it gets passes several.
// CHECK-LABEL: func @main
// CHECK-COUNT-3: cgx.permute{{.*}} exact_reasons("ranks would drift apart in 'state['w']'")
// CHECK: cgx.all_reduce
// CHECK-SAME: exact_reasons("")
// REPORT: w gradient 64x128xf32 32768 32768 1.00x ranks would drift apart in 'state['w']'
// REPORT: v gradient 64x128xf32 49152 3504 14.03x quantize bits=2
func.func @main(%w: tensor<64x128xf32> {cgx.sharding = #whole, cgx.name = "state['w']"},
                %v: tensor<64x128xf32> {cgx.sharding = #whole, cgx.name = "state['v']"},
                %x: tensor<64x128xf32> {cgx.sharding = #split})
    -> (tensor<64x128xf32> {cgx.sharding = #whole, cgx.feeds = 0 : i64},
        tensor<64x128xf32> {cgx.sharding = #whole, cgx.feeds = 1 : i64}) {
  %g = stablehlo.multiply %w, %x : tensor<64x128xf32>
  %0 = cgx.permute(%g) exact_reasons("") groups(#g) id(0) layer(#w) source_target_pairs([[0, 1], [1, 2], [2, 3], [3, 0]]) : tensor<64x128xf32>
  %1 = stablehlo.add %g, %0 : tensor<64x128xf32>
  %2 = cgx.permute(%0) exact_reasons("") groups(#g) id(1) layer(#w) source_target_pairs([[0, 1], [1, 2], [2, 3], [3, 0]]) : tensor<64x128xf32>
  %3 = stablehlo.add %1, %2 : tensor<64x128xf32>
  %4 = cgx.permute(%2) exact_reasons("") groups(#g) id(2) layer(#w) source_target_pairs([[0, 1], [1, 2], [2, 3], [3, 0]]) : tensor<64x128xf32>
  %5 = stablehlo.add %3, %4 : tensor<64x128xf32>
  %6 = stablehlo.subtract %w, %5 : tensor<64x128xf32>
  %h = stablehlo.multiply %v, %x : tensor<64x128xf32>
  %7 = cgx.all_reduce mean(%h) exact_reasons("") groups(#g) id(3) layer("v", gradient, [64, 128]) : tensor<64x128xf32>
  %8 = stablehlo.subtract %v, %7 : tensor<64x128xf32>
  return %6, %8 : tensor<64x128xf32>, tensor<64x128xf32>
}
}

// -----

// Proved to be alike: what a permute or an all_to_all brought is reduced or gathered before it is state. What is
// split over ranks, and a loss of each rank, need not be alike.
#whole = #cgx.sharding<[[], []]>
#split = #cgx.sharding<[["data"], []]>
#g = #cgx.groups<[[0, 1, 2, 3]]>
module attributes {cgx.mesh = #cgx.mesh<["data" = 4]>, cgx.num_ranks = 4 : i64} {
// CHECK-LABEL: func @main
// CHECK-NOT: drift apart
// CHECK: return
func.func @main(%w: tensor<64x128xf32> {cgx.sharding = #whole, cgx.name = "state['w']"},
                %v: tensor<64x128xf32> {cgx.sharding = #whole, cgx.name = "state['v']"},
                %s: tensor<16x128xf32> {cgx.sharding = #split, cgx.name = "state['s']"},
                %x: tensor<64x128xf32> {cgx.sharding = #split})
    -> (tensor<64x128xf32> {cgx.sharding = #whole, cgx.feeds = 0 : i64},
        tensor<64x128xf32> {cgx.sharding = #whole, cgx.feeds = 1 : i64},
        tensor<16x128xf32> {cgx.sharding = #split, cgx.feeds = 2 : i64},
        tensor<f32> {cgx.sharding = #cgx.sharding<[]>}) {
  %0 = cgx.permute(%x) exact_reasons("") groups(#g) id(0) layer("", activation) source_target_pairs([[0, 1], [1, 2], [2, 3], [3, 0]]) : tensor<64x128xf32>
  %1 = cgx.all_reduce mean(%0) exact_reasons("") groups(#g) id(1) layer("w", gradient, [64, 128]) : tensor<64x128xf32>
  %2 = stablehlo.subtract %w, %1 : tensor<64x128xf32>
  %3 = cgx.all_to_all(%x) split_dim(0) concat_dim(0) exact_reasons("") groups(#g) id(2) layer("v", gradient, [64, 128]) : (tensor<64x128xf32>) -> tensor<64x128xf32>
  %4 = stablehlo.slice %3 [0:16, 0:128] : (tensor<64x128xf32>) -> tensor<16x128xf32>
  %5 = cgx.all_gather(%4) dim(0) exact_reasons("") groups(#g) id(3) layer("v", weight, [64, 128]) : (tensor<16x128xf32>) -> tensor<64x128xf32>
  %6 = cgx.reduce_scatter sum(%x) dim(0) exact_reasons("") groups(#g) id(4) layer("s", gradient, [64, 128]) : (tensor<64x128xf32>) -> tensor<16x128xf32>
  %7 = stablehlo.subtract %s, %6 : tensor<16x128xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %8 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x128xf32>, tensor<f32>) -> tensor<f32>
  return %2, %5, %7, %8 : tensor<64x128xf32>, tensor<64x128xf32>, tensor<16x128xf32>, tensor<f32>
}
}

// -----

// A ring along one axis of state that is split over it, and alike along the other: rings of equal ranks hand on the
// same bits. With a value of the rank's own in it, along the other axis, too, they would not.
#rows = #cgx.sharding<[["model"], []]>
#model = #cgx.groups<[[0, 1], [2, 3]]>
module attributes {cgx.mesh = #cgx.mesh<["data" = 2, "model" = 2]>, cgx.num_ranks = 4 : i64} {
// CHECK-LABEL: func @main
// CHECK: cgx.permute{{.*}} exact_reasons("")
// CHECK: cgx.permute{{.*}} exact_reasons("ranks would drift apart in 'state['v']'")
func.func @main(%w: tensor<32x128xf32> {cgx.sharding = #rows, cgx.name = "state['w']"},
                %v: tensor<32x128xf32> {cgx.sharding = #cgx.sharding<[["data"], []]>, cgx.name = "state['v']"},
                %x: tensor<32x128xf32> {cgx.sharding = #cgx.sharding<[["data", "model"], []]>})
    -> (tensor<32x128xf32> {cgx.sharding = #rows, cgx.feeds = 0 : i64},
        tensor<32x128xf32> {cgx.sharding = #cgx.sharding<[["data"], []]>, cgx.feeds = 1 : i64}) {
  %0 = cgx.all_reduce mean(%x) exact_reasons("") groups([[0, 2], [1, 3]]) id(0) layer("w", gradient, [64, 128]) : tensor<32x128xf32>
  %1 = cgx.permute(%0) exact_reasons("") groups(#model) id(1) layer("w", gradient, [64, 128]) source_target_pairs([[0, 1], [1, 0], [2, 3], [3, 2]]) : tensor<32x128xf32>
  %2 = stablehlo.subtract %w, %1 : tensor<32x128xf32>
  %3 = cgx.permute(%x) exact_reasons("") groups(#model) id(2) layer("v", gradient, [64, 128]) source_target_pairs([[0, 1], [1, 0], [2, 3], [3, 2]]) : tensor<32x128xf32>
  %4 = stablehlo.add %x, %3 : tensor<32x128xf32>
  %5 = stablehlo.subtract %v, %4 : tensor<32x128xf32>
  return %2, %5 : tensor<32x128xf32>, tensor<32x128xf32>
}
}

// -----

// State with an entry for each rank (pmap), for all that is known copies of one model. What is no gradient may differ.
#copies = #cgx.sharding<[["data"], [], []]>
#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
// CHECK-LABEL: func @main
// CHECK: cgx.permute{{.*}} exact_reasons("ranks would drift apart in 'state['w']'")
// CHECK: cgx.permute{{.*}} exact_reasons("")
func.func @main(%w: tensor<1x64x128xf32> {cgx.sharding = #copies, cgx.name = "state['w']"},
                %a: tensor<1x64x128xf32> {cgx.sharding = #copies, cgx.name = "state['a']"}, %x: tensor<1x64x128xf32>)
    -> (tensor<1x64x128xf32> {cgx.sharding = #copies, cgx.feeds = 0 : i64}, tensor<1x64x128xf32> {cgx.sharding = #copies, cgx.feeds = 1 : i64}) {
  %0 = cgx.permute(%x) exact_reasons("") groups(#g) id(0) layer("w", gradient, [64, 128]) source_target_pairs([[0, 1], [1, 0]]) : tensor<1x64x128xf32>
  %1 = stablehlo.add %x, %0 : tensor<1x64x128xf32>
  %2 = stablehlo.subtract %w, %1 : tensor<1x64x128xf32>
  %3 = cgx.permute(%a) exact_reasons("") groups(#g) id(1) layer("", activation) source_target_pairs([[0, 1], [1, 0]]) : tensor<1x64x128xf32>
  return %2, %3 : tensor<1x64x128xf32>, tensor<1x64x128xf32>
}
}

// -----

// Gradients that a step returns whole, and what a loop carries round.
#whole = #cgx.sharding<[[], []]>
#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
// CHECK-LABEL: func @main
// CHECK: cgx.permute{{.*}} exact_reasons("ranks would drift apart in result 0")
func.func @main(%x: tensor<64x128xf32> {cgx.sharding = #cgx.sharding<[["data"], []]>}) -> (tensor<64x128xf32> {cgx.sharding = #whole}) {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%i = %c0, %sum = %x, %hop = %x) : tensor<i32>, tensor<64x128xf32>, tensor<64x128xf32>
   cond {
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %c1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %c1 : tensor<i32>
    %2 = cgx.permute(%hop) exact_reasons("") groups(#g) id(0) layer("w", gradient, [64, 128]) source_target_pairs([[0, 1], [1, 0]]) : tensor<64x128xf32>
    %3 = stablehlo.add %sum, %2 : tensor<64x128xf32>
    stablehlo.return %1, %3, %2 : tensor<i32>, tensor<64x128xf32>, tensor<64x128xf32>
  }
  return %0#1 : tensor<64x128xf32>
}
}

// -----

// A ring in a loop: what a rank has of its own passes no codec, in whatever round.
#whole = #cgx.sharding<[[], []]>
#split = #cgx.sharding<[["data"], []]>
#g = #cgx.groups<[[0, 1, 2, 3]]>
module attributes {cgx.mesh = #cgx.mesh<["data" = 4]>, cgx.num_ranks = 4 : i64} {
// CHECK-LABEL: func @main
// CHECK: stablehlo.while
// CHECK: cgx.permute{{.*}} exact_reasons("ranks would drift apart in 'state['w']'")
// REPORT: w gradient 64x128xf32 x3 98304 98304 1.00x [1]
// REPORT: [1] ranks would drift apart in 'state['w']'
func.func @main(%w: tensor<64x128xf32> {cgx.sharding = #whole, cgx.name = "state['w']"}, %x: tensor<64x128xf32> {cgx.sharding = #split})
    -> (tensor<64x128xf32> {cgx.sharding = #whole, cgx.feeds = 0 : i64}) {
  %g = stablehlo.multiply %w, %x : tensor<64x128xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0:3 = "stablehlo.while"(%zero, %g, %g) ({
  ^bb0(%i: tensor<i32>, %total: tensor<64x128xf32>, %hop: tensor<64x128xf32>):
    %1 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>, %total: tensor<64x128xf32>, %hop: tensor<64x128xf32>):
    %1 = cgx.permute(%hop) exact_reasons("") groups(#g) id(0) layer("w", gradient, [64, 128]) source_target_pairs([[0, 1], [1, 2], [2, 3], [3, 0]]) : tensor<64x128xf32>
    %2 = stablehlo.add %total, %1 : tensor<64x128xf32>
    %3 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %3, %2, %1 : tensor<i32>, tensor<64x128xf32>, tensor<64x128xf32>
  }) : (tensor<i32>, tensor<64x128xf32>, tensor<64x128xf32>) -> (tensor<i32>, tensor<64x128xf32>, tensor<64x128xf32>)
  %4 = stablehlo.subtract %w, %0#1 : tensor<64x128xf32>
  return %4 : tensor<64x128xf32>
}
}
