// Collectives under generic passes: an unused one may go on all ranks alike; none is merged,
// and none is executed where the program does not execute it.
// RUN: cgx-opt %s --canonicalize --cse --loop-invariant-code-motion | FileCheck %s

// CHECK-LABEL: func @unused_is_erased
// CHECK-NEXT: return
func.func @unused_is_erased(%a: tensor<4xf32>) {
  %0 = cgx.all_reduce sum(%a) groups([[0, 1]]) id(0) : tensor<4xf32>
  return
}

// CHECK-LABEL: func @ids_keep_collectives_apart
func.func @ids_keep_collectives_apart(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: cgx.all_reduce sum(%{{[^,)]*}}) {{.*}}id(0)
  %0 = cgx.all_reduce sum(%a) groups([[0, 1]]) id(0) : tensor<4xf32>
  // CHECK: cgx.all_reduce sum(%{{[^,)]*}}) {{.*}}id(1)
  %1 = cgx.all_reduce sum(%a) groups([[0, 1]]) id(1) : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func @not_hoisted
func.func @not_hoisted(%a: tensor<4xf32>, %low: index, %high: index, %step: index) -> tensor<4xf32> {
  // CHECK: scf.for
  %0 = scf.for %i = %low to %high step %step iter_args(%x = %a) -> tensor<4xf32> {
    // CHECK-NEXT: cgx.all_reduce
    %1 = cgx.all_reduce sum(%a) groups([[0, 1]]) id(0) : tensor<4xf32>
    %2 = arith.addf %1, %x : tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// A gather whose payloads are decoded again stays, though nothing uses its results.
// CHECK-LABEL: func @kept_payloads
func.func @kept_payloads(%a: tensor<4xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: cgx.all_gather({{.*}}keeps_payloads
  %0 = cgx.all_gather(%a) codec(quantize<bits = 4>) dim(0) groups([[0, 1]]) id(0) keeps_payloads
      : (tensor<4xf32>) -> tensor<8xf32>
  // CHECK-NEXT: cgx.all_gather({{.*}}decodes_again
  %1 = cgx.all_gather(%a) decodes_again(0) dim(0) groups([[0, 1]]) id(1) : (tensor<4xf32>) -> tensor<8xf32>
  // CHECK-NEXT: return
  %2 = cgx.all_gather(%a) decodes_again(0) dim(0) groups([[0, 1]]) id(2) : (tensor<4xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
