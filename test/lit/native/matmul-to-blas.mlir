// Products of f32 go to BLAS, transposed where their maps say so; small ones stay.
// RUN: cgx-opt %S/Inputs/step.mlir --cgx-lower-collectives --cgx-stablehlo-to-linalg --cgx-matmul-to-blas | FileCheck %s
// RUN: cgx-opt %S/Inputs/step.mlir --cgx-lower-collectives --cgx-stablehlo-to-linalg '--cgx-matmul-to-blas=min-multiplications=1000000' | FileCheck %s --check-prefix=SMALL

// CHECK: cgx_rt.matmul {{.*}} transpose_a = false transpose_b = false
// CHECK: cgx_rt.matmul {{.*}} transpose_a = true transpose_b = false
// CHECK-NOT: linalg.contract

// SMALL-COUNT-2: linalg.contract
// SMALL-NOT: cgx_rt.matmul
