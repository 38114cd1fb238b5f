// A carried value stays in its buffer; values that change places are copied before the first write.
// RUN: cgx-opt %s --split-input-file --cgx-carry-loop-values | FileCheck %s
// RUN: cgx-opt %s --split-input-file --cgx-carry-loop-values --one-shot-bufferize=bufferize-function-boundaries \
// RUN:   --canonicalize | FileCheck %s --check-prefix=BUFFER

// CHECK-LABEL: @swap
// CHECK: ^bb0(%[[A:.*]]: tensor<7xf32>, %[[B:.*]]: tensor<7xf32>):
// CHECK: %[[OLD_B:.*]] = bufferization.alloc_tensor() copy(%[[B]])
// CHECK: %[[OLD_A:.*]] = bufferization.alloc_tensor() copy(%[[A]])
// CHECK: %[[NEXT_A:.*]] = bufferization.materialize_in_destination %[[OLD_B]] in %[[A]]
// CHECK: %[[NEXT_B:.*]] = bufferization.materialize_in_destination %[[OLD_A]] in %[[B]]
// CHECK: scf.yield %[[NEXT_A]], %[[NEXT_B]]
// No value is lost: two buffers hold the old values while the two that are carried are written.
// BUFFER-LABEL: @swap
// BUFFER: do
// BUFFER-COUNT-2: memref.alloc
// BUFFER: scf.yield
func.func @swap(%a: tensor<7xf32>, %b: tensor<7xf32>, %go: i1) -> (tensor<7xf32>, tensor<7xf32>) {
  %r:2 = scf.while (%x = %a, %y = %b) : (tensor<7xf32>, tensor<7xf32>) -> (tensor<7xf32>, tensor<7xf32>) {
    scf.condition(%go) %x, %y : tensor<7xf32>, tensor<7xf32>
  } do {
  ^bb0(%x: tensor<7xf32>, %y: tensor<7xf32>):
    scf.yield %y, %x : tensor<7xf32>, tensor<7xf32>
  }
  return %r#0, %r#1 : tensor<7xf32>, tensor<7xf32>
}

// -----

// A value that stays where it is needs nothing; a computed one is written straight to its place.
// CHECK-LABEL: @accumulate
// CHECK: ^bb0(%[[X:.*]]: tensor<7xf32>, %[[SUM:.*]]: tensor<7xf32>):
// CHECK-NOT: alloc_tensor
// CHECK: %[[ADDED:.*]] = linalg.add
// CHECK: %[[NEXT:.*]] = bufferization.materialize_in_destination %[[ADDED]] in %[[SUM]]
// CHECK: scf.yield %[[X]], %[[NEXT]]
func.func @accumulate(%a: tensor<7xf32>, %go: i1) -> tensor<7xf32> {
  %r:2 = scf.while (%x = %a, %sum = %a) : (tensor<7xf32>, tensor<7xf32>) -> (tensor<7xf32>, tensor<7xf32>) {
    scf.condition(%go) %x, %sum : tensor<7xf32>, tensor<7xf32>
  } do {
  ^bb0(%x: tensor<7xf32>, %sum: tensor<7xf32>):
    %e = tensor.empty() : tensor<7xf32>
    %next = linalg.add ins(%sum, %x : tensor<7xf32>, tensor<7xf32>) outs(%e : tensor<7xf32>) -> tensor<7xf32>
    scf.yield %x, %next : tensor<7xf32>, tensor<7xf32>
  }
  return %r#1 : tensor<7xf32>
}

// -----

// Simplifications may drop what only the condition reads; the loop gets it back.
// CHECK-LABEL: @dropped
// CHECK: scf.condition(%{{.*}}) %[[COUNT:.*]], %[[X:.*]] : tensor<i32>, tensor<7xf32>
// CHECK: ^bb0(%{{.*}}: tensor<i32>, %{{.*}}: tensor<7xf32>):
func.func @dropped(%n: tensor<i32>, %a: tensor<7xf32>) -> tensor<7xf32> {
  %r = scf.while (%count = %n, %x = %a) : (tensor<i32>, tensor<7xf32>) -> tensor<7xf32> {
    %c0 = arith.constant 0 : i32
    %value = tensor.extract %count[] : tensor<i32>
    %go = arith.cmpi sgt, %value, %c0 : i32
    scf.condition(%go) %x : tensor<7xf32>
  } do {
  ^bb0(%x: tensor<7xf32>):
    scf.yield %n, %x : tensor<i32>, tensor<7xf32>
  }
  return %r : tensor<7xf32>
}
