// Copies of strided buffers become loops; dense ones stay.
// RUN: cgx-opt %s --cgx-expand-copies | FileCheck %s

// CHECK-LABEL: @strided
// CHECK-NOT: memref.copy
// CHECK: linalg.generic
func.func @strided(%x: memref<4x8xf32>, %y: memref<4x8xf32, strided<[16, 1], offset: 8>>) {
  memref.copy %x, %y : memref<4x8xf32> to memref<4x8xf32, strided<[16, 1], offset: 8>>
  return
}

// CHECK-LABEL: @dense
// CHECK: memref.copy
func.func @dense(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  memref.copy %x, %y : memref<4x8xf32> to memref<4x8xf32>
  return
}
