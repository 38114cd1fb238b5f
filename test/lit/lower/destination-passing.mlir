// Results go to buffers of the caller; the context comes first.
// RUN: cgx-opt %S/Inputs/step.mlir --cgx-emit-manifest --canonicalize --cse --cgx-lower-collectives --cgx-stablehlo-to-linalg --cgx-matmul-to-blas --cgx-fuse-elementwise --canonicalize --cse --cgx-destination-passing | FileCheck %s

// CHECK: func.func public @main(%[[CONTEXT:.*]]: i64, %{{.*}}: memref<32x16xf32>{{.*}}, %{{.*}}: memref<64x32xf32>{{.*}}, %[[OUT:.*]]: memref<32x16xf32>
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[OUT]]
