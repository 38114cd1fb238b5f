// f16 and bf16 are computed in f32 and rounded after each operation, also where several share a loop.
// RUN: cgx-opt %s --math-extend-to-supported-types --arith-emulate-unsupported-floats="source-types=bf16,f16 target-type=f32" --cgx-keep-roundings --canonicalize | FileCheck %s

// CHECK-LABEL: @chain
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: math.exp {{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.mulf {{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @chain(%x: bf16, %y: bf16) -> bf16 {
  %0 = arith.addf %x, %y : bf16
  %1 = math.exp %0 : bf16
  %2 = arith.mulf %1, %y : bf16
  return %2 : bf16
}
