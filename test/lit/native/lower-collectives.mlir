// A collective whose operand has no later use runs in place.
// RUN: cgx-opt %S/Inputs/step.mlir --cgx-lower-collectives | FileCheck %s

// CHECK: %[[G:.*]] = stablehlo.dot_general
// CHECK: cgx_rt.run 0 outs(%{{.*}} : tensor<32x16xf32>) -> tensor<32x16xf32>
// CHECK-NOT: cgx.all_reduce
