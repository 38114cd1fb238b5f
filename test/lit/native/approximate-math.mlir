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

// expm1 and log1p, which would lose all digits of a small x as exp(x) - 1 and log(1 + x), call the C library.
// CHECK-LABEL: @small_arguments
// CHECK: call @expm1(%{{.+}}) : (f64) -> f64
// CHECK: call @log1p(%{{.+}}) : (f64) -> f64
func.func @small_arguments(%x: f64) -> f64 {
  %0 = math.expm1 %x : f64
  %1 = math.log1p %0 : f64
  return %1 : f64
}

// On f32 they become the polynomials of exp and log, without a branch, so that they vectorize.
// CHECK-LABEL: @small_arguments_of_f32
// CHECK-NOT: call
// CHECK-NOT: scf.if
// CHECK: return
func.func @small_arguments_of_f32(%x: f32) -> f32 {
  %0 = math.expm1 %x : f32
  %1 = math.log1p %0 : f32
  return %1 : f32
}

// Zeros have an order here.
// CHECK-LABEL: @extrema
// CHECK: llvm.intr.maximum(%{{.+}}, %{{.+}}) : (f32, f32) -> f32
// CHECK: llvm.intr.minimum(%{{.+}}, %{{.+}}) : (vector<4xf64>, vector<4xf64>) -> vector<4xf64>
func.func @extrema(%x: f32, %y: f32, %v: vector<4xf64>, %w: vector<4xf64>) -> (f32, vector<4xf64>) {
  %0 = arith.maximumf %x, %y : f32
  %1 = arith.minimumf %v, %w : vector<4xf64>
  return %0, %1 : f32, vector<4xf64>
}
