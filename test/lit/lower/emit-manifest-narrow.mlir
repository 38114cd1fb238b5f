// Narrow types are called as in MLIR, in lower case; unsigned integers as wide ones are.
// RUN: cgx-opt %s --cgx-emit-manifest | FileCheck %s

// CHECK: cgx_rt.manifest = "
// CHECK-SAME: \22dtype\22:\22f8e4m3fn\22
// CHECK-SAME: \22dtype\22:\22f8e5m2fnuz\22
// CHECK-SAME: \22dtype\22:\22i4\22
// CHECK-SAME: \22dtype\22:\22u2\22
// CHECK-SAME: \22dtype\22:\22f4e2m1fn\22
func.func @main(%a: tensor<4xf8E4M3FN>, %b: tensor<f8E5M2FNUZ>, %c: tensor<3xi4>, %d: tensor<2xui2>) -> tensor<4xf4E2M1FN> {
  %0 = stablehlo.convert %a : (tensor<4xf8E4M3FN>) -> tensor<4xf4E2M1FN>
  return %0 : tensor<4xf4E2M1FN>
}
