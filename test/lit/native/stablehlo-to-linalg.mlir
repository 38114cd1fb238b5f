// Every op of StableHLO becomes a loop nest on tensors, or a product.
// RUN: cgx-opt %S/Inputs/step.mlir --cgx-lower-collectives --cgx-stablehlo-to-linalg | FileCheck %s

// CHECK: linalg.contract
// CHECK: math.tanh
// CHECK: linalg.contract
// CHECK: arith.subf
// CHECK-NOT: stablehlo.
