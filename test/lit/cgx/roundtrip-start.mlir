// Collectives that are started and waited for read back what they print, in both forms, and keep their
// place: they are neither erased nor merged nor moved.
// RUN: cgx-opt %s --verify-roundtrip --canonicalize --cse --loop-invariant-code-motion | FileCheck %s
// RUN: cgx-opt %s --mlir-print-op-generic | cgx-opt | FileCheck %s
// RUN: cgx-opt %s --mlir-print-debuginfo --mlir-print-local-scope | cgx-opt --mlir-print-debuginfo --mlir-print-op-generic --mlir-print-local-scope | FileCheck %s --check-prefix=PLACES

module attributes {cgx.num_ranks = 4 : i64} {

// CHECK-LABEL: func @all_reduce
func.func @all_reduce(%a: tensor<4xf32>, %b: tensor<64x128xf32>) -> (tensor<4xf32>, tensor<64x128xf32>) {
  // CHECK: %[[H:.*]] = cgx.start all_reduce sum(%{{[^,)]*}}, %{{[^,)]*}})
  // CHECK-SAME: codec(identity, quantize<bits = 4, bucket = 128, rounding = stochastic, scale = bf16>)
  // CHECK-SAME: id(0)
  // CHECK-SAME: : tensor<4xf32>, tensor<64x128xf32>
  %h = cgx.start all_reduce sum(%a, %b) codec(identity, quantize) groups([[0, 1, 2, 3]]) id(0)
      layer("params/l1/b", gradient, [4]) layer("params/l1/w", gradient, [64, 128])
      : tensor<4xf32>, tensor<64x128xf32>
  // CHECK: %[[R:.*]]:2 = cgx.wait %[[H]] : !cgx.handle<tensor<4xf32>, tensor<64x128xf32>>
  %r:2 = cgx.wait %h : !cgx.handle<tensor<4xf32>, tensor<64x128xf32>>
  // CHECK: return %[[R]]#0, %[[R]]#1
  return %r#0, %r#1 : tensor<4xf32>, tensor<64x128xf32>
}

// CHECK-LABEL: func @data_movement
func.func @data_movement(%a: tensor<8x16xf32>) {
  // CHECK: cgx.start all_gather(%{{[^,)]*}}) {{.*}} : (tensor<8x16xf32>) -> tensor<8x32xf32>
  %0 = cgx.start all_gather(%a) dim(1) groups([[0, 1], [2, 3]]) id(0)
      : (tensor<8x16xf32>) -> tensor<8x32xf32>
  // CHECK: cgx.start reduce_scatter mean(%{{[^,)]*}}) {{.*}} : (tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = cgx.start reduce_scatter mean(%a) dim(0) groups([[0, 1], [2, 3]]) id(1)
      : (tensor<8x16xf32>) -> tensor<4x16xf32>
  // CHECK: cgx.start all_to_all(%{{[^,)]*}}) {{.*}} : (tensor<8x16xf32>) -> tensor<4x32xf32>
  %2 = cgx.start all_to_all(%a) concat_dim(1) groups([[0, 1], [2, 3]]) id(2) split_dim(0)
      : (tensor<8x16xf32>) -> tensor<4x32xf32>
  // CHECK: cgx.start broadcast(%{{[^,)]*}}) {{.*}} : tensor<8x16xf32>
  %3 = cgx.start broadcast(%a) groups([[0, 1], [2, 3]]) id(3) root(1) : tensor<8x16xf32>
  // CHECK: cgx.start permute(%{{[^,)]*}}) {{.*}} : tensor<8x16xf32>
  %4 = cgx.start permute(%a) groups([[0, 1], [2, 3]]) id(4) source_target_pairs([[0, 1]]) : tensor<8x16xf32>
  // Nobody uses the results; the ranks meet nevertheless.
  // CHECK-COUNT-5: cgx.wait
  %r4 = cgx.wait %4 : !cgx.handle<tensor<8x16xf32>>
  %r3 = cgx.wait %3 : !cgx.handle<tensor<8x16xf32>>
  %r2 = cgx.wait %2 : !cgx.handle<tensor<4x32xf32>>
  %r1 = cgx.wait %1 : !cgx.handle<tensor<4x16xf32>>
  %r0 = cgx.wait %0 : !cgx.handle<tensor<8x32xf32>>
  return
}

// A collective of nothing has a handle of nothing.
// CHECK-LABEL: func @nothing
func.func @nothing() {
  // CHECK: cgx.start all_gather() {{.*}} : () -> ()
  %h = cgx.start all_gather() codec() dim(0) groups([[0, 1, 2, 3]]) id(0) : () -> ()
  // CHECK: cgx.wait %{{.*}} : !cgx.handle
  cgx.wait %h : !cgx.handle
  return
}

// A started collective that exchanges nothing stays with its wait, with its attributes.
// CHECK-LABEL: func @one_rank
func.func @one_rank(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: cgx.start {note = "h"} all_reduce sum(%{{[^,)]*}}) {{.*}} : tensor<4xf32>
  %h = cgx.start {note = "h"} all_reduce sum(%a) groups([[0], [1], [2], [3]]) id(0) : tensor<4xf32>
  // CHECK: cgx.start permute(
  %i = cgx.start permute(%a) groups([[0], [1]]) id(1) source_target_pairs([[0, 0], [1, 1]]) : tensor<4xf32>
  %0 = cgx.wait %h : !cgx.handle<tensor<4xf32>>
  %1 = cgx.wait %i : !cgx.handle<tensor<4xf32>>
  return %0 : tensor<4xf32>
}

// Both are where the text says.
// PLACES: sym_name = "located"
// PLACES: "cgx.start"() ({
// PLACES-NEXT: "cgx.all_reduce"({{.*}} loc("grads":1:2)
// PLACES-NEXT: }) : () -> !cgx.handle<tensor<4xf32>> loc("grads":1:2)
// CHECK-LABEL: func @located
func.func @located(%a: tensor<4xf32>) -> tensor<4xf32> {
  %h = cgx.start all_reduce sum(%a) groups([[0, 1, 2, 3]]) id(0) : tensor<4xf32> loc("grads":1:2)
  %0 = cgx.wait %h : !cgx.handle<tensor<4xf32>>
  return %0 : tensor<4xf32>
}

// A condition stands before the attributes.
// CHECK-LABEL: func @where_it_is_due
// CHECK-SAME: %[[DUE:[a-z0-9]+]]: tensor<i1>
func.func @where_it_is_due(%a: tensor<4xf32>, %due: tensor<i1>) -> tensor<4xf32> {
  // CHECK: cgx.start when(%[[DUE]]) {cgx.every = 50 : i64, cgx.turn = 25 : i64} all_reduce mean(%{{[^,)]*}}) {{.*}} : tensor<4xf32>
  %h = cgx.start when(%due) {cgx.every = 50 : i64, cgx.turn = 25 : i64} all_reduce mean(%a) groups([[0, 1, 2, 3]]) id(0) : tensor<4xf32>
  // CHECK: cgx.start when(%[[DUE]]) all_reduce
  %i = cgx.start when(%due) all_reduce mean(%a) groups([[0, 1, 2, 3]]) id(1) : tensor<4xf32>
  %0 = cgx.wait %h : !cgx.handle<tensor<4xf32>>
  %1 = cgx.wait %i : !cgx.handle<tensor<4xf32>>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @not_hoisted
func.func @not_hoisted(%a: tensor<4xf32>, %low: index, %high: index, %step: index) -> tensor<4xf32> {
  // CHECK: scf.for
  %0 = scf.for %i = %low to %high step %step iter_args(%x = %a) -> tensor<4xf32> {
    // CHECK-NEXT: cgx.start all_reduce
    %h = cgx.start all_reduce sum(%a) groups([[0, 1, 2, 3]]) id(0) : tensor<4xf32>
    // CHECK-NEXT: cgx.wait
    %1 = cgx.wait %h : !cgx.handle<tensor<4xf32>>
    %2 = arith.addf %1, %x : tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

}
