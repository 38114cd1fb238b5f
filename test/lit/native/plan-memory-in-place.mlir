// A buffer that an elementwise operation reads for the last time is written over, by one name for both; one that it
// also reads elsewhere, or at other places, is not.
// RUN: cgx-opt %s --cgx-plan-memory --split-input-file | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#swapped = affine_map<(i, j) -> (j, i)>

// Three buffers of 1024 bytes in a chain, the second seen as another shape: one place.
// CHECK-LABEL: @main
// CHECK-SAME: %[[SCRATCH:[a-z0-9]+]]: memref<1024xi8>
// CHECK: linalg.generic {{.*}} outs(%[[A:.*]] : memref<16x16xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[B:.*]] : memref<16x16xf32>) outs(%[[B]] : memref<16x16xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[C:.*]] : memref<256xf32>) outs(%[[C]] : memref<256xf32>)
func.func public @main(%context: i64, %x: memref<16x16xf32>, %out: memref<256xf32>) {
  %a = memref.alloc() : memref<16x16xf32>
  %b = memref.alloc() : memref<16x16xf32>
  %c = memref.alloc() : memref<256xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<16x16xf32>) outs(%a : memref<16x16xf32>) {
  ^bb0(%in: f32, %old: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<16x16xf32>) outs(%b : memref<16x16xf32>) {
  ^bb0(%in: f32, %old: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  }
  %flat = memref.collapse_shape %b [[0, 1]] : memref<16x16xf32> into memref<256xf32>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%flat : memref<256xf32>) outs(%c : memref<256xf32>) {
  ^bb0(%in: f32, %old: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  }
  memref.copy %c, %out : memref<256xf32> to memref<256xf32>
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#swapped = affine_map<(i, j) -> (j, i)>

// Read across, read twice, read again: two places each.
// CHECK-LABEL: @main
// CHECK-SAME: memref<2048xi8>
// CHECK-NOT: ins(%[[SAME:.*]] : memref<16x16xf32>) outs(%[[SAME]] :
func.func public @main(%context: i64, %x: memref<16x16xf32>, %out: memref<16x16xf32>) {
  %across = memref.alloc() : memref<16x16xf32>
  memref.copy %x, %across : memref<16x16xf32> to memref<16x16xf32>
  %r0 = memref.alloc() : memref<16x16xf32>
  linalg.generic {indexing_maps = [#swapped, #id], iterator_types = ["parallel", "parallel"]}
      ins(%across : memref<16x16xf32>) outs(%r0 : memref<16x16xf32>) {
  ^bb0(%in: f32, %old: f32):
    linalg.yield %in : f32
  }
  memref.copy %r0, %out : memref<16x16xf32> to memref<16x16xf32>

  %twice = memref.alloc() : memref<16x16xf32>
  memref.copy %x, %twice : memref<16x16xf32> to memref<16x16xf32>
  %r1 = memref.alloc() : memref<16x16xf32>
  linalg.generic {indexing_maps = [#id, #swapped, #id], iterator_types = ["parallel", "parallel"]}
      ins(%twice, %twice : memref<16x16xf32>, memref<16x16xf32>) outs(%r1 : memref<16x16xf32>) {
  ^bb0(%in: f32, %other: f32, %old: f32):
    %sum = arith.addf %in, %other : f32
    linalg.yield %sum : f32
  }
  memref.copy %r1, %out : memref<16x16xf32> to memref<16x16xf32>

  %again = memref.alloc() : memref<16x16xf32>
  memref.copy %x, %again : memref<16x16xf32> to memref<16x16xf32>
  %r2 = memref.alloc() : memref<16x16xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%again : memref<16x16xf32>) outs(%r2 : memref<16x16xf32>) {
  ^bb0(%in: f32, %old: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  }
  memref.copy %r2, %out : memref<16x16xf32> to memref<16x16xf32>
  memref.copy %again, %out : memref<16x16xf32> to memref<16x16xf32>
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// An argument is not ours to write over, and a result is where the caller wants it.
// CHECK-LABEL: @main
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<16x16xf32>, %[[OUT:[a-z0-9]+]]: memref<16x16xf32>
// CHECK-SAME: memref<1024xi8>
// CHECK: linalg.generic {{.*}} ins(%[[X]] : memref<16x16xf32>) outs(%[[A:.*]] : memref<16x16xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[A]] : memref<16x16xf32>) outs(%[[OUT]] : memref<16x16xf32>)
func.func public @main(%context: i64, %x: memref<16x16xf32>, %out: memref<16x16xf32>) {
  %a = memref.alloc() : memref<16x16xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<16x16xf32>) outs(%a : memref<16x16xf32>) {
  ^bb0(%in: f32, %old: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<16x16xf32>) outs(%out : memref<16x16xf32>) {
  ^bb0(%in: f32, %old: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  }
  return
}
