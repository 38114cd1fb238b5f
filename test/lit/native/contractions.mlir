// Products of narrow floats are products of f32, which BLAS computes.
// RUN: cgx-opt %s --cgx-stablehlo-to-linalg --cgx-matmul-to-blas | FileCheck %s

// CHECK-LABEL: @narrow
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: cgx_rt.matmul ins(%{{.*}}, %{{.*}} : tensor<32x48xf32>, tensor<48x16xf32>)
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @narrow(%a: tensor<32x48xbf16>, %b: tensor<48x16xbf16>) -> tensor<32x16xbf16> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<32x48xbf16>, tensor<48x16xbf16>) -> tensor<32x16xbf16>
  return %0 : tensor<32x16xbf16>
}
