// Temporaries are parts of one scratch buffer; nothing is allocated, nothing copied.
// RUN: cgx-opt %S/Inputs/step.mlir --cgx-emit-manifest --canonicalize --cse --cgx-lower-collectives --cgx-stablehlo-to-linalg --cgx-matmul-to-blas --cgx-fuse-elementwise --canonicalize --cse --cgx-destination-passing --eliminate-empty-tensors '--one-shot-bufferize=bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map' --canonicalize --cse --cgx-plan-memory | FileCheck %s

// CHECK: func.func public @main({{.*}}, %[[SCRATCH:.*]]: memref<{{[0-9]+}}xi8>
// CHECK: memref.view %[[SCRATCH]]
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
