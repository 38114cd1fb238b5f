// Outer gradients are compressed as gradients are, whatever other kinds have, and may have a codec of their own.
// RUN: cgx-opt %s --cgx-compress="bits=2 weight=bits=8" | FileCheck %s --check-prefix=SHARED
// RUN: cgx-opt %s --cgx-compress="bits=4 outer-gradient='bits=2 error-feedback=f32'" | FileCheck %s --check-prefix=OWN
// RUN: cgx-opt %s --cgx-compress="kinds=gradient weight=bits=8" | FileCheck %s --check-prefix=KINDS

#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
// SHARED: cgx.all_reduce
// SHARED-SAME: codec(quantize<bits = 2,
// OWN: cgx.all_reduce
// OWN-SAME: codec(error_feedback<#cgx.quantize<bits = 2,
// KINDS: cgx.all_reduce
// KINDS-SAME: exact_reasons("kind outer_gradient")
func.func public @main(%o: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %0 = cgx.all_reduce mean(%o) groups(#g) id(0) layer("w", outer_gradient, [64, 128]) : tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}
}
