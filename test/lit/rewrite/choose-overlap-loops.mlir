// How long a step takes with loops and branches in it. A product of these matrices takes 10 ms, and an all-reduce of one
// of them 50 ms.
// RUN: cgx-opt %s --split-input-file --cgx-choose-overlap=machine=%S/Inputs/round-numbers.json 2>&1 | FileCheck %s

// The first all-reduce is still on its way when the loop ends after 20 ms: the second one waits for the link.
// CHECK: remark: collectives travel while ranks compute: 110.000 ms a step by the cost model, 130.000 ms one after the other
module attributes {cgx.num_ranks = 4 : i64} {
func.func public @main(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c2 = stablehlo.constant dense<2> : tensor<i32>
  %g2 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %r2 = cgx.all_reduce mean(%g2) groups([[0, 1, 2, 3]]) id(0) layer("w2", gradient, [512, 512]) : tensor<512x512xf32>
  %l:2 = stablehlo.while(%i = %c0, %h = %g2) : tensor<i32>, tensor<512x512xf32>
  cond {
    %c = stablehlo.compare LT, %i, %c2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %d = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %n = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %n, %d : tensor<i32>, tensor<512x512xf32>
  }
  %r1 = cgx.all_reduce mean(%l#1) groups([[0, 1, 2, 3]]) id(1) layer("w1", gradient, [512, 512]) : tensor<512x512xf32>
  return %r1, %r2 : tensor<512x512xf32>, tensor<512x512xf32>
}
}

// -----

// One of two branches is taken: its all-reduce does not wait for that of the other.
// CHECK: remark: collectives travel while ranks compute: 100.000 ms a step by the cost model, 120.000 ms one after the other
module attributes {cgx.num_ranks = 4 : i64} {
func.func public @main(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>, %p: tensor<i1>) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %g1 = "stablehlo.if"(%p) ({
    %a = cgx.all_reduce mean(%x) groups([[0, 1, 2, 3]]) id(0) layer("x", gradient, [512, 512]) : tensor<512x512xf32>
    stablehlo.return %a : tensor<512x512xf32>
  }, {
    %a = cgx.all_reduce max(%x) groups([[0, 1, 2, 3]]) id(1) layer("x", gradient, [512, 512]) : tensor<512x512xf32>
    stablehlo.return %a : tensor<512x512xf32>
  }) : (tensor<i1>) -> tensor<512x512xf32>
  %r1 = cgx.all_reduce mean(%g1) groups([[0, 1, 2, 3]]) id(2) layer("w1", gradient, [512, 512]) : tensor<512x512xf32>
  %g2 = stablehlo.dot_general %g1, %w, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %d = stablehlo.dot_general %g2, %w, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %r1, %d : tensor<512x512xf32>, tensor<512x512xf32>
}
}
