// Tokens on their way to experts and back have codecs of their own, by direction, with a scale for each token.
// RUN: cgx-opt %s --cgx-compress | FileCheck %s --check-prefix=USUAL
// RUN: cgx-opt %s --cgx-compress="dispatch=bits=8 combine=bits=4 min-elements=1" | FileCheck %s --check-prefix=TOKENS
// RUN: cgx-opt %s --cgx-compress="dispatch='bits=8 bucket=64' combine=fp8_e4m3 combine-gradient=bits=6 min-elements=1" | FileCheck %s --check-prefix=OWN
// RUN: cgx-opt %s --cgx-compress="activation=bits=8 activation-gradient=bits=6 combine='cast format=fp8_e5m2 bucket=row' min-elements=1" | FileCheck %s --check-prefix=ACTIVATION
// RUN: cgx-opt %s --cgx-compress="kinds=gradient,dispatch bits=3 bucket=row min-elements=1" | FileCheck %s --check-prefix=KINDS
// RUN: cgx-opt %s --cgx-compress="dispatch=bits=8 min-elements=1" --cgx-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: not cgx-opt %s --cgx-compress="combine='bits=8 bucket=column'" 2>&1 | FileCheck %s --check-prefix=BUCKET
// RUN: not cgx-opt %s --cgx-compress="dispatch='natural bucket=row'" 2>&1 | FileCheck %s --check-prefix=FAMILY
// RUN: not cgx-opt %s --cgx-compress="kinds=tokens" 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: cgx-opt %s --cgx-compress="activation-gradient=bits=8 dispatch=bits=8 dispatch-gradient=bits=4" 2>&1 | FileCheck %s --check-prefix=PRESENT

// BUCKET: error: combine=bits=8 bucket=column: expected integer value
// FAMILY: error: dispatch=natural bucket=row: {{.*}}bucket
// KIND: error: expected kinds to be gradient, weight, activation, other, outer_gradient, activation_gradient, dispatch, dispatch_gradient, combine or combine_gradient, got tokens
// PRESENT-NOT: compresses nothing

#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.mesh = #cgx.mesh<["expert" = 2]>, cgx.num_ranks = 2 : i64} {
// USUAL-LABEL: func public @main
func.func public @main(%a: tensor<4x8x48xf32>, %b: tensor<4x8x48xbf16>, %s: tensor<32x96xf32>)
    -> (tensor<2x16x48xf32>, tensor<2x16x48xbf16>, tensor<2x16x48xf32>, tensor<4x4x96xf32>, tensor<32x96xf32>) {
  // USUAL: exact_reasons("kind dispatch")
  // TOKENS: codec(quantize<bits = 8, bucket = 48,
  // OWN: codec(quantize<bits = 8, bucket = 64,
  // ACTIVATION: codec(quantize<bits = 8, bucket = 128,
  // KINDS: codec(quantize<bits = 3, bucket = 48,
  // REPORT-DAG: experts/up{{ +}}combine{{ +}}4x8x48xbf16{{ +.*}}1.00x{{ +}}kind combine
  // REPORT-DAG: experts/up{{ +}}dispatch{{ +}}4x8x48xf32{{ +.*}}[1]
  // REPORT-DAG: [1] quantize bits=8 bucket=48
  // REPORT-DAG: experts/up{{ +}}dispatch_gradient{{ +}}4x8x48xf32{{ +.*}}[1]
  %0 = cgx.all_to_all(%a) concat_dim(1) groups(#g) id(0) layer("experts/up", dispatch) split_dim(0)
      : (tensor<4x8x48xf32>) -> tensor<2x16x48xf32>
  // USUAL: exact_reasons("kind combine")
  // TOKENS: codec(quantize<bits = 4, bucket = 48,
  // OWN: codec(cast<format = fp8_e4m3, bucket = 48,
  // ACTIVATION: codec(cast<format = fp8_e5m2, bucket = 48,
  // KINDS: exact_reasons("kind combine")
  %1 = cgx.all_to_all(%b) concat_dim(1) groups(#g) id(1) layer("experts/up", combine) split_dim(0)
      : (tensor<4x8x48xbf16>) -> tensor<2x16x48xbf16>
  // TOKENS: codec(quantize<bits = 8, bucket = 48,
  // OWN: codec(quantize<bits = 8, bucket = 64,
  // ACTIVATION: codec(quantize<bits = 6, bucket = 128,
  // KINDS: codec(quantize<bits = 3, bucket = 48,
  %2 = cgx.all_to_all(%a) concat_dim(1) groups(#g) id(2) layer("experts/up", dispatch_gradient) split_dim(0)
      : (tensor<4x8x48xf32>) -> tensor<2x16x48xf32>
  // Rows that are split: of the pieces that ranks get.
  // TOKENS: codec(quantize<bits = 4, bucket = 24,
  // OWN: codec(quantize<bits = 6, bucket = 24,
  // ACTIVATION: codec(cast<format = fp8_e5m2, bucket = 24,
  %t = stablehlo.reshape %s : (tensor<32x96xf32>) -> tensor<2x16x96xf32>
  %u = stablehlo.slice %t [0:2, 0:16, 0:48] : (tensor<2x16x96xf32>) -> tensor<2x16x48xf32>
  %3 = cgx.all_to_all(%u) concat_dim(0) groups(#g) id(3) layer("experts/up", combine_gradient) split_dim(2)
      : (tensor<2x16x48xf32>) -> tensor<4x16x24xf32>
  // USUAL: exact_reasons("kind activation_gradient")
  // TOKENS: exact_reasons("kind activation_gradient")
  // ACTIVATION: codec(quantize<bits = 6, bucket = 128,
  %4 = cgx.all_reduce sum(%s) groups(#g) id(4) layer("params/up", activation_gradient) : tensor<32x96xf32>
  %5 = stablehlo.reshape %3 : (tensor<4x16x24xf32>) -> tensor<4x4x96xf32>
  return %0, %1, %2, %5, %4 : tensor<2x16x48xf32>, tensor<2x16x48xbf16>, tensor<2x16x48xf32>, tensor<4x4x96xf32>, tensor<32x96xf32>
}
}
