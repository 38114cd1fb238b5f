// Collectives that are started and waited for read back what they print, in both forms, and keep their
// place: they are neither erased nor merged nor moved.
// RUN: cgx-opt %s --verify-roundtrip --canonicalize --cse --loop-invariant-code-motion | FileCheck %s
// RUN: cgx-opt %s --mlir-print-op-generic | cgx-opt | FileCheck %s

module attributes {cgx.num_ranks = 4 : i64} {

// CHECK-LABEL: func @all_reduce
func.func @all_reduce(%a: tensor<4xf32>, %b: tensor<64x128xf32>) -> (tensor<4xf32>, tensor<64x128xf32>) {
  // CHECK: %[[H:.*]] = cgx.all_reduce_start sum(%{{[^,)]*}}, %{{[^,)]*}})
  // CHECK-SAME: codec(identity, quantize<bits = 4, bucket = 128, rounding = stochastic, scale = bf16>)
  // CHECK-SAME: id(0)
  // CHECK-SAME: : (tensor<4xf32>, tensor<64x128xf32>) -> !cgx.handle<tensor<4xf32>, tensor<64x128xf32>>
  %h = cgx.all_reduce_start sum(%a, %b) codec(identity, quantize) groups([[0, 1, 2, 3]]) id(0)
      layer("params/l1/b", gradient, [4]) layer("params/l1/w", gradient, [64, 128])
      : (tensor<4xf32>, tensor<64x128xf32>) -> !cgx.handle<tensor<4xf32>, tensor<64x128xf32>>
  // CHECK: %[[R:.*]]:2 = cgx.wait %[[H]] : !cgx.handle<tensor<4xf32>, tensor<64x128xf32>>
  %r:2 = cgx.wait %h : !cgx.handle<tensor<4xf32>, tensor<64x128xf32>>
  // CHECK: return %[[R]]#0, %[[R]]#1
  return %r#0, %r#1 : tensor<4xf32>, tensor<64x128xf32>
}

// CHECK-LABEL: func @data_movement
func.func @data_movement(%a: tensor<8x16xf32>) {
  // CHECK: cgx.all_gather_start(%{{[^,)]*}}) {{.*}} : (tensor<8x16xf32>) -> !cgx.handle<tensor<8x32xf32>>
  %0 = cgx.all_gather_start(%a) dim(1) groups([[0, 1], [2, 3]]) id(0)
      : (tensor<8x16xf32>) -> !cgx.handle<tensor<8x32xf32>>
  // CHECK: cgx.reduce_scatter_start mean(%{{[^,)]*}}) {{.*}} : (tensor<8x16xf32>) -> !cgx.handle<tensor<4x16xf32>>
  %1 = cgx.reduce_scatter_start mean(%a) dim(0) groups([[0, 1], [2, 3]]) id(1)
      : (tensor<8x16xf32>) -> !cgx.handle<tensor<4x16xf32>>
  // CHECK: cgx.all_to_all_start(%{{[^,)]*}}) {{.*}} : (tensor<8x16xf32>) -> !cgx.handle<tensor<4x32xf32>>
  %2 = cgx.all_to_all_start(%a) concat_dim(1) groups([[0, 1], [2, 3]]) id(2) split_dim(0)
      : (tensor<8x16xf32>) -> !cgx.handle<tensor<4x32xf32>>
  // CHECK: cgx.broadcast_start(%{{[^,)]*}}) {{.*}} : (tensor<8x16xf32>) -> !cgx.handle<tensor<8x16xf32>>
  %3 = cgx.broadcast_start(%a) groups([[0, 1], [2, 3]]) id(3) root(1)
      : (tensor<8x16xf32>) -> !cgx.handle<tensor<8x16xf32>>
  // CHECK: cgx.permute_start(%{{[^,)]*}}) {{.*}} : (tensor<8x16xf32>) -> !cgx.handle<tensor<8x16xf32>>
  %4 = cgx.permute_start(%a) groups([[0, 1], [2, 3]]) id(4) source_target_pairs([[0, 1]])
      : (tensor<8x16xf32>) -> !cgx.handle<tensor<8x16xf32>>
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
  // CHECK: cgx.all_reduce_start sum() {{.*}} : () -> !cgx.handle
  %h = cgx.all_reduce_start sum() codec() groups([[0, 1, 2, 3]]) id(0) : () -> !cgx.handle
  // CHECK: cgx.wait %{{.*}} : !cgx.handle
  cgx.wait %h : !cgx.handle
  return
}

// CHECK-LABEL: func @not_hoisted
func.func @not_hoisted(%a: tensor<4xf32>, %low: index, %high: index, %step: index) -> tensor<4xf32> {
  // CHECK: scf.for
  %0 = scf.for %i = %low to %high step %step iter_args(%x = %a) -> tensor<4xf32> {
    // CHECK-NEXT: cgx.all_reduce_start
    %h = cgx.all_reduce_start sum(%a) groups([[0, 1, 2, 3]]) id(0) : (tensor<4xf32>) -> !cgx.handle<tensor<4xf32>>
    // CHECK-NEXT: cgx.wait
    %1 = cgx.wait %h : !cgx.handle<tensor<4xf32>>
    %2 = arith.addf %1, %x : tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

}
