// While a collective is pending, nothing overwrites its operands and nothing reads its results.
// RUN: cgx-opt %s --cgx-lower-collectives --split-input-file | FileCheck %s --check-prefix=TENSORS
// RUN: cgx-opt %s --cgx-lower-collectives '--one-shot-bufferize=bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map' --canonicalize --cse --split-input-file | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// Nothing else happens: the runtime works in place, and nothing is copied.
// TENSORS-LABEL: func @in_place
// TENSORS: %[[TICKET:.*]], %[[T:.*]] = cgx_rt.start 0 outs(%[[G:.*]] : tensor<8xf32>) -> tensor<8xf32>
// TENSORS: %[[R:.*]] = cgx_rt.wait %[[TICKET]] outs(%[[T]] : tensor<8xf32>) -> tensor<8xf32>
// TENSORS: return %[[R]]
// CHECK-LABEL: func @in_place
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: %[[TICKET:.*]] = cgx_rt.start 0 outs(%[[G:.*]] : memref<8xf32>)
// CHECK-NEXT: cgx_rt.wait %[[TICKET]] outs(%[[G]] : memref<8xf32>)
// CHECK-NEXT: return %[[G]]
func.func @in_place(%g: tensor<8xf32> {bufferization.writable = true}) -> tensor<8xf32> {
  %h = cgx.start all_reduce sum(%g) groups([[0, 1]]) id(0) : tensor<8xf32>
  %r = cgx.wait %h : !cgx.handle<tensor<8xf32>>
  return %r : tensor<8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// The operand is read while the collective is pending, which must not write to it then.
// CHECK-LABEL: func @operand_is_read_in_flight
// CHECK-SAME: (%[[G:.*]]: memref<8xf32>)
// CHECK: %[[COPY:.*]] = memref.alloc
// CHECK: memref.copy %[[G]], %[[COPY]]
// CHECK: %[[TICKET:.*]] = cgx_rt.start 0 outs(%[[COPY]] : memref<8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[G]] : memref<8xf32>)
// CHECK: cgx_rt.wait %[[TICKET]] outs(%[[COPY]] : memref<8xf32>)
func.func @operand_is_read_in_flight(%g: tensor<8xf32> {bufferization.writable = true}) -> (tensor<8xf32>, tensor<8xf32>) {
  %h = cgx.start all_reduce sum(%g) groups([[0, 1]]) id(0) : tensor<8xf32>
  %empty = tensor.empty() : tensor<8xf32>
  %twice = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%g : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %r = cgx.wait %h : !cgx.handle<tensor<8xf32>>
  return %r, %twice : tensor<8xf32>, tensor<8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Another op overwrites the operand of a collective that works in place: one of the two gets a copy.
// CHECK-LABEL: func @operand_is_updated_in_flight
// CHECK-SAME: (%[[G:.*]]: memref<8xf32>)
// CHECK: %[[COPY:.*]] = memref.alloc
// CHECK: memref.copy %[[G]], %[[COPY]]
// CHECK: %[[TICKET:.*]] = cgx_rt.start 0 outs(%[[COPY]] : memref<8xf32>)
// CHECK: linalg.generic {{.*}} outs(%[[G]] : memref<8xf32>)
// CHECK: cgx_rt.wait %[[TICKET]] outs(%[[COPY]] : memref<8xf32>)
func.func @operand_is_updated_in_flight(%g: tensor<8xf32> {bufferization.writable = true}) -> (tensor<8xf32>, tensor<8xf32>) {
  %h = cgx.start all_reduce sum(%g) groups([[0, 1]]) id(0) : tensor<8xf32>
  %twice = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%g : tensor<8xf32>) {
  ^bb0(%out: f32):
    %s = arith.addf %out, %out : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %r = cgx.wait %h : !cgx.handle<tensor<8xf32>>
  return %r, %twice : tensor<8xf32>, tensor<8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Here the collective only reads the operand: an op that would update it in place after a call must
// not do so while the call is pending.
// TENSORS-LABEL: func @gathered_operand_is_updated_in_flight
// TENSORS-SAME: (%[[A:.*]]: tensor<8xf32>
// TENSORS: %[[TICKET:.*]], %[[T:.*]] = cgx_rt.start 0 ins(%[[A]] : tensor<8xf32>) outs(%{{.*}} : tensor<16xf32>) -> tensor<16xf32>
// TENSORS: cgx_rt.wait %[[TICKET]] ins(%[[A]] : tensor<8xf32>) outs(%[[T]] : tensor<16xf32>) -> tensor<16xf32>
// CHECK-LABEL: func @gathered_operand_is_updated_in_flight
// CHECK-SAME: (%[[A:.*]]: memref<8xf32>)
// CHECK: %[[TICKET:.*]] = cgx_rt.start 0 ins(%[[A]] : memref<8xf32>) outs(%[[R:.*]] : memref<16xf32>)
// CHECK: memref.copy %[[A]], %[[COPY:.*]] :
// CHECK: linalg.generic {{.*}} outs(%[[COPY]] : memref<8xf32>)
// CHECK: cgx_rt.wait %[[TICKET]] ins(%[[A]] : memref<8xf32>) outs(%[[R]] : memref<16xf32>)
func.func @gathered_operand_is_updated_in_flight(%a: tensor<8xf32> {bufferization.writable = true}) -> (tensor<16xf32>, tensor<8xf32>) {
  %h = cgx.start all_gather(%a) dim(0) groups([[0, 1]]) id(0) : (tensor<8xf32>) -> tensor<16xf32>
  %twice = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : tensor<8xf32>) {
  ^bb0(%out: f32):
    %s = arith.addf %out, %out : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %r = cgx.wait %h : !cgx.handle<tensor<16xf32>>
  return %r, %twice : tensor<16xf32>, tensor<8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// After the wait, the update is in place.
// CHECK-LABEL: func @gathered_operand_is_updated_later
// CHECK-NOT: memref.copy
func.func @gathered_operand_is_updated_later(%a: tensor<8xf32> {bufferization.writable = true}) -> (tensor<16xf32>, tensor<8xf32>) {
  %h = cgx.start all_gather(%a) dim(0) groups([[0, 1]]) id(0) : (tensor<8xf32>) -> tensor<16xf32>
  %r = cgx.wait %h : !cgx.handle<tensor<16xf32>>
  %twice = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : tensor<8xf32>) {
  ^bb0(%out: f32):
    %s = arith.addf %out, %out : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r, %twice : tensor<16xf32>, tensor<8xf32>
}

// -----

// A slice with gaps is copied on the way in at the start and on the way out after the wait, not before.
// CHECK-LABEL: func @strided
// CHECK-SAME: (%[[M:.*]]: memref<4x8xf32>)
// CHECK: %[[PART:.*]] = memref.subview %[[M]]
// CHECK: memref.copy %[[PART]], %[[DENSE:.*]] :
// CHECK: %[[TICKET:.*]] = cgx_rt.start 0 outs(%[[DENSE]] : memref<4x2xf32>)
// CHECK-NEXT: cgx_rt.wait %[[TICKET]] outs(%[[DENSE]] : memref<4x2xf32>)
// CHECK-NEXT: memref.copy %[[DENSE]], %[[PART]]
// CHECK: return %[[M]]
func.func @strided(%m: tensor<4x8xf32> {bufferization.writable = true}) -> tensor<4x8xf32> {
  %part = tensor.extract_slice %m[0, 0] [4, 2] [1, 1] : tensor<4x8xf32> to tensor<4x2xf32>
  %h = cgx.start all_reduce sum(%part) groups([[0, 1]]) id(0) : tensor<4x2xf32>
  %r = cgx.wait %h : !cgx.handle<tensor<4x2xf32>>
  %whole = tensor.insert_slice %r into %m[0, 0] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x8xf32>
  return %whole : tensor<4x8xf32>
}
