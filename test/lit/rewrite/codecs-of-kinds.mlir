// Each kind of layers has a codec of its own, where one is given, and is then compressed.
// RUN: cgx-opt %s --cgx-compress="bits=4 weight='quantize bits=8 bucket=1024 rounding=random_shift scale=f32'" | FileCheck %s
// RUN: cgx-opt %s --cgx-compress="bits=4 weight='quantize<bits=8 bucket=1024 rounding=random_shift scale=f32>'" | FileCheck %s
// RUN: cgx-opt %s --cgx-compress="gradient=bits=4 weight={quantize<bits = 8, bucket = 1024> rounding=random_shift scale=f32}" | FileCheck %s
// RUN: cgx-opt %s --cgx-compress | FileCheck %s --check-prefix=USUAL
// RUN: cgx-opt %s --cgx-compress=qsdp | FileCheck %s --check-prefix=QSDP
// RUN: cgx-opt %s --cgx-compress="qsdp weight=bits=6 gradient='bits=4 error-feedback=bf16'" | FileCheck %s --check-prefix=W6G4
// RUN: cgx-opt %s --cgx-compress="qsdp weight='levels=learned rounding=stochastic bits=5'" | FileCheck %s --check-prefix=LEARNED
// RUN: cgx-opt %s --cgx-compress="weight=mxfp8 activation=natural gradient=identity" | FileCheck %s --check-prefix=OTHERS
// RUN: cgx-opt %s --cgx-compress="kinds=gradient,weight bits=2 activation=bits=8" | FileCheck %s --check-prefix=SHARED
// RUN: cgx-opt %s --cgx-compress="combine=bits=8" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not cgx-opt %s --cgx-compress="weight=zip" 2>&1 | FileCheck %s --check-prefix=FAMILY
// RUN: not cgx-opt %s --cgx-compress="weight='bits=9'" 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not cgx-opt %s --cgx-compress="qsdp bits=4" 2>&1 | FileCheck %s --check-prefix=UNUSED
// RUN: not cgx-opt %s --cgx-compress="gradient=bits=2 error-feedback=f32" 2>&1 | FileCheck %s --check-prefix=FEEDBACK
// RUN: not cgx-opt %s --cgx-compress="weight='bits=8 error-feedback=yes'" 2>&1 | FileCheck %s --check-prefix=STORAGE
// RUN: not cgx-opt %s --cgx-assign-codecs="plan=plan.json weight=bits=8" 2>&1 | FileCheck %s --check-prefix=PLAN

// NONE: warning: combine=bits=8 compresses nothing: no collective of the step carries anything of kind combine; --cgx-report shows what they carry
// FAMILY: error: weight=zip: expected codec to be one of {{.*}}, got zip
// BITS: error: weight=bits=9: expected bits in 1..8, got 9
// UNUSED: error: nothing has the codec quantize<bits=4>, since each kind that is compressed has its own; write it into gradient='quantize<
// FEEDBACK: error: nothing has the codec quantize error-feedback=f32, since each kind that is compressed has its own; write it into gradient='bits=2'
// STORAGE: error: weight=bits=8 error-feedback=yes: expected error-feedback to be none, f32, bf16 or int8, got yes
// PLAN: error: expected a plan or codecs of kinds, got both: plan=plan.json and weight=bits=8

#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
// CHECK-LABEL: func public @main
func.func public @main(%w: tensor<64x128xf32>, %a: tensor<64x128xf32>, %g: tensor<128x128xf32>)
    -> (tensor<128x128xf32>, tensor<128x128xf32>, tensor<64x128xf32>) {
  // CHECK: cgx.all_gather
  // CHECK-SAME: codec(quantize<bits = 8, bucket = 1024, rounding = random_shift, scale = f32>)
  // USUAL: cgx.all_gather
  // USUAL-SAME: exact_reasons("kind weight")
  // QSDP: codec(quantize<bits = 8, bucket = 1024, rounding = random_shift, scale = f32>)
  // W6G4: codec(quantize<bits = 6, bucket = 1024, rounding = random_shift, scale = f32>)
  // LEARNED: codec(quantize<bits = 5, bucket = 1024, rounding = stochastic, scale = f32, levels = learned>)
  // OTHERS: codec(cast<format = mxfp8
  // SHARED: codec(quantize<bits = 2, bucket = 128, rounding = stochastic, scale = bf16>)
  %0 = cgx.all_gather(%w) dim(0) groups(#g) id(0) layer("w", weight, [128, 128])
      : (tensor<64x128xf32>) -> tensor<128x128xf32>
  // CHECK: cgx.all_gather
  // CHECK-SAME: exact_reasons("kind activation")
  // QSDP: exact_reasons("kind activation")
  // OTHERS: codec(natural)
  // SHARED: codec(quantize<bits = 8, bucket = 128, rounding = stochastic, scale = bf16>)
  %1 = cgx.all_gather(%a) dim(0) groups(#g) id(1) layer("", activation) : (tensor<64x128xf32>) -> tensor<128x128xf32>
  // CHECK: cgx.reduce_scatter
  // CHECK-SAME: codec(quantize<bits = 4, bucket = 128, rounding = stochastic, scale = bf16>)
  // USUAL: cgx.reduce_scatter
  // USUAL-SAME: codec(quantize<bits = 4, bucket = 128, rounding = stochastic, scale = bf16>)
  // QSDP: codec(quantize<bits = 8, bucket = 1024, rounding = stochastic, scale = f32>)
  // W6G4: codec(error_feedback<#cgx.quantize<bits = 4, bucket = 1024, rounding = stochastic, scale = f32>, decay = 1.000000e+00, storage = bf16>)
  // OTHERS: codec(identity)
  // SHARED: codec(quantize<bits = 2, bucket = 128, rounding = stochastic, scale = bf16>)
  %2 = cgx.reduce_scatter sum(%g) dim(0) groups(#g) id(2) layer("w", gradient, [128, 128])
      : (tensor<128x128xf32>) -> tensor<64x128xf32>
  return %0, %1, %2 : tensor<128x128xf32>, tensor<128x128xf32>, tensor<64x128xf32>
}
}
