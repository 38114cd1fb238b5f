// Runtime ops become calls whose arguments are integers.
// RUN: cgx-opt %S/Inputs/step.mlir --cgx-emit-manifest --canonicalize --cse --cgx-lower-collectives --cgx-stablehlo-to-linalg --cgx-matmul-to-blas --cgx-fuse-elementwise --canonicalize --cse --cgx-destination-passing --eliminate-empty-tensors '--one-shot-bufferize=bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map' --canonicalize --cse --cgx-plan-memory --cgx-emit-runtime-calls | FileCheck %s

// CHECK: call @cgx_native_matmul_f32(
// CHECK: call @cgx_rt_operand(%arg0,
// CHECK: call @cgx_rt_run(%arg0,
// CHECK-NOT: cgx_rt.run
// CHECK: func.func private @cgx_rt_run(i64, i64)
