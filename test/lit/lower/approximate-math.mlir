// exp and tanh become arithmetic that vectorizes; sin, whose polynomial fails for large arguments, stays.
// RUN: cgx-opt %s --cgx-approximate-math | FileCheck %s

// CHECK-LABEL: @main
// CHECK-NOT: math.exp 
// CHECK-NOT: math.tanh
// CHECK: math.sin
func.func @main(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  %1 = math.tanh %0 : f32
  %2 = math.sin %1 : f32
  return %2 : f32
}
