// Every operand that may be compressed gets the codec of the options, the others identity.
// RUN: cgx-opt %s --cgx-assign-codecs | FileCheck %s
// RUN: cgx-opt %s --cgx-assign-codecs="codec=quantize bits=8 bucket=512 rounding=nearest scale=f32 checksum" | FileCheck %s --check-prefix=OPTIONS
// RUN: cgx-opt %s --cgx-assign-codecs="codec=quantize<bits=8,bucket=512,rounding=nearest,scale=f32,checksum>" | FileCheck %s --check-prefix=OPTIONS
// RUN: cgx-opt %s --cgx-assign-codecs="codec='quantize<bits = 8, bucket = 512>' rounding=nearest scale=f32 checksum" | FileCheck %s --check-prefix=OPTIONS
// RUN: cgx-opt %s --cgx-assign-codecs="codec=identity" | FileCheck %s --check-prefix=IDENTITY
// RUN: not cgx-opt %s --cgx-assign-codecs="bits=9" 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not cgx-opt %s --cgx-assign-codecs="bucket=0" 2>&1 | FileCheck %s --check-prefix=BUCKET
// RUN: not cgx-opt %s --cgx-assign-codecs="codec=zip" 2>&1 | FileCheck %s --check-prefix=CODEC
// RUN: cgx-opt %s --cgx-assign-codecs="codec=sign bucket=64 magnitude=norm" | FileCheck %s --check-prefix=SIGN
// RUN: cgx-opt %s --cgx-assign-codecs="codec=cast format=fp8_e4m3 checksum" | FileCheck %s --check-prefix=CAST
// RUN: cgx-opt %s --cgx-assign-codecs="codec=topk density=0.05 error-feedback=f32" | FileCheck %s --check-prefix=TOPK
// RUN: cgx-opt %s --cgx-assign-codecs="codec=adaptive_threshold threshold=0.25" | FileCheck %s --check-prefix=THRESHOLD
// RUN: cgx-opt %s --cgx-assign-codecs="codec=eden bits=3" | FileCheck %s --check-prefix=EDEN
// RUN: cgx-opt %s --cgx-assign-codecs="codec=lossless checksum" | FileCheck %s --check-prefix=EVERY-BIT
// RUN: cgx-opt %s --cgx-assign-codecs="codec=gcomp optimizer=adamw learning-rate=0.01 weight-decay=0.1 beta1=0.8 beta2=0.99 epsilon=1e-6 truncation=5" | FileCheck %s --check-prefix=GCOMP
// RUN: cgx-opt %s --cgx-assign-codecs="codec=gcomp optimizer=momentum momentum=0.5 dampening=0.25" | FileCheck %s --check-prefix=MOMENTUM
// RUN: not cgx-opt %s --cgx-assign-codecs="codec=gcomp" 2>&1 | FileCheck %s --check-prefix=OPTIMIZER
// RUN: cgx-opt %s --cgx-assign-codecs="codec=lowrank rank=2 error-feedback=f32" | FileCheck %s --check-prefix=LOWRANK
// RUN: cgx-opt %s --cgx-assign-codecs="codec=topk back-codec=quantize<bits=8> error-feedback=f32" | FileCheck %s --check-prefix=BACK
// RUN: not cgx-opt %s --cgx-assign-codecs="codec=topk back-codec=zip" 2>&1 | FileCheck %s --check-prefix=CODEC
// RUN: not cgx-opt %s --cgx-assign-codecs="codec=lowrank back-codec=natural" 2>&1 | FileCheck %s --check-prefix=ONEWAY
// RUN: cgx-opt %s --cgx-assign-codecs="scaling=max_abs levels=exponential" | FileCheck %s --check-prefix=EXPONENTIAL
// RUN: not cgx-opt %s --cgx-assign-codecs="codec=natural bits=8" 2>&1 | FileCheck %s --check-prefix=PARAMETER
// RUN: not cgx-opt %s --cgx-assign-codecs="codec=mesh" 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: not cgx-opt %s --cgx-assign-codecs="codec=identity bits=4" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not cgx-opt %s --cgx-assign-codecs="rounding=up" 2>&1 | FileCheck %s --check-prefix=ROUNDING
// RUN: not cgx-opt %s --cgx-assign-codecs="scale=f64" 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: cgx-opt %s --cgx-assign-codecs="bits=1 error-feedback=bf16 error-feedback-decay=0.5" | FileCheck %s --check-prefix=FEEDBACK
// RUN: not cgx-opt %s --cgx-assign-codecs="error-feedback=yes" 2>&1 | FileCheck %s --check-prefix=STORAGE
// RUN: not cgx-opt %s --cgx-assign-codecs="error-feedback=f32 codec=identity" 2>&1 | FileCheck %s --check-prefix=LOSSLESS

// RUN: not cgx-opt %s --cgx-assign-codecs="codec=quantze" 2>&1 | FileCheck %s --check-prefix=MEANT
// RUN: not cgx-opt %s --cgx-assign-codecs="codec=quantize<bits=3" 2>&1 | FileCheck %s --check-prefix=UNCLOSED
// RUN: not cgx-opt %s --cgx-assign-codecs="codec=quantize<bits=3 bits=4" 2>&1 | FileCheck %s --check-prefix=UNCLOSED
// RUN: not cgx-opt %s --cgx-assign-codecs="gradient=quantize<bits=3" 2>&1 | FileCheck %s --check-prefix=UNCLOSED
// RUN: not cgx-opt %s --cgx-assign-codecs="back-codec=quantize<bits=3" 2>&1 | FileCheck %s --check-prefix=UNCLOSED

// MEANT: error: expected codec to be one of {{.*}}, got quantze (did you mean 'quantize'?)
// UNCLOSED: error: {{.*}}expected a '>' for each '<', got quantize<bits=3
// STORAGE: error: expected error-feedback to be none, f32, bf16 or int8, got yes
// LOSSLESS: error: expected error feedback of a lossy codec, got #cgx.identity
// ONEWAY: error: expected a codec for one way, without error feedback, got #cgx.lowrank<rank = 4>
// OPTIMIZER: error: expected an optimizer: sgd, momentum, nesterov, adagrad, rmsprop, adam or adamw, whichever the step has
// BITS: error: expected bits in 1..8, got 9
// BUCKET: error: expected bucket in 1..4294967295, got 0
// CODEC: error: expected codec to be one of adaptive_threshold, cast, {{.*}}, topk, two_way, got zip
// MESH: error: expected codec to be one of {{.*}}, got mesh
// NONE: error: expected no parameters
// PARAMETER: error: expected rotate or checksum, got bits
// ROUNDING: error: expected nearest, stochastic or random_shift, got up
// SCALE: error: expected bf16 or f32, got f64

#g = #cgx.groups<[[0, 1]]>
#x = #cgx.layer<"", other>
module attributes {cgx.num_ranks = 2 : i64} {

// CHECK-LABEL: func @reasons
// OPTIONS-LABEL: func @reasons
// IDENTITY-LABEL: func @reasons
func.func @reasons(%w: tensor<64x128xf32>, %b: tensor<128xf32>) {
  // CHECK: exact_reasons("", "1-D parameter")
  // CHECK-SAME: codec(quantize<bits = 4, bucket = 128, rounding = stochastic, scale = bf16>, identity)
  // OPTIONS: codec(quantize<bits = 8, bucket = 512, rounding = nearest, scale = f32, checksum>, identity)
  // IDENTITY: codec(identity, identity)
  // SIGN: codec(sign<bucket = 64, magnitude = norm, scale = bf16>, identity)
  // TOPK: codec(error_feedback<#cgx.topk<density = 5.000000e-02>, decay = 1.000000e+00, storage = f32>, identity)
  // THRESHOLD: codec(adaptive_threshold<bucket = 512, threshold = 2.500000e-01>, identity)
  // EDEN: codec(eden<bits = 3, bucket = 128, scale = bf16>, identity)
  // EVERY-BIT: codec(lossless<checksum>, identity)
  // GCOMP: codec(gcomp<optimizer = adamw, learning_rate = 1.000000e-02, weight_decay = 1.000000e-01, beta1 = 8.000000e-01, beta2 = 0.98999999999999999, epsilon = 9.9999999999999995E-7, truncation = 5>, identity)
  // MOMENTUM: codec(gcomp<optimizer = momentum, weight_decay = 0.000000e+00, momentum = 5.000000e-01, dampening = 2.500000e-01>, identity)
  // BACK: codec(error_feedback<#cgx.two_way<there = #cgx.topk<density = 1.000000e-02>, back = #cgx.quantize<bits = 8, bucket = 128, rounding = stochastic, scale = bf16>>, decay = 1.000000e+00, storage = f32>, identity)
  // LOWRANK: codec(error_feedback<#cgx.lowrank<rank = 2>, decay = 1.000000e+00, storage = f32>, identity)
  // CAST: codec(cast<format = fp8_e4m3, bucket = 128, scale = bf16, checksum>, identity)
  // EXPONENTIAL: codec(quantize<bits = 4, bucket = 128, rounding = stochastic, scale = bf16, scaling = max_abs, levels = exponential>, identity)
  // FEEDBACK: codec(error_feedback<#cgx.quantize<bits = 1, bucket = 128, rounding = stochastic, scale = bf16>, decay = 5.000000e-01, storage = bf16>, identity)
  %0:2 = cgx.all_reduce mean(%w, %b) exact_reasons("", "1-D parameter") groups(#g) id(0) layer(#x) layer(#x)
      : tensor<64x128xf32>, tensor<128xf32>
  return
}

// Without a filter, everything that can be is compressed; what cannot be says why.
// CHECK-LABEL: func @refusals
func.func @refusals(%w: tensor<64x128xf32>, %i: tensor<128xi32>, %h: tensor<2xbf16>) {
  // CHECK: cgx.all_reduce sum
  // CHECK-SAME: exact_reasons("", "element type i32", "")
  // CHECK-SAME: codec(quantize<{{.*}}>, identity, quantize<{{.*}}>)
  %0:3 = cgx.all_reduce sum(%w, %i, %h) groups(#g) id(0) layer(#x) layer(#x) layer(#x)
      : tensor<64x128xf32>, tensor<128xi32>, tensor<2xbf16>
  // CHECK: cgx.all_reduce max
  // CHECK-SAME: exact_reasons("reduction max")
  // CHECK-SAME: codec(identity)
  // EVERY-BIT: cgx.all_reduce max
  // EVERY-BIT-SAME: exact_reasons("")
  // EVERY-BIT-SAME: codec(lossless<checksum>)
  %1 = cgx.all_reduce max(%w) groups(#g) id(1) layer(#x) : tensor<64x128xf32>
  // LOWRANK-LABEL: func @refusals
  // LOWRANK: exact_reasons("", "element type i32", "factors of rank 2 are no shorter than a matrix of 1x2")
  // LOWRANK: exact_reasons("reduction max")
  // LOWRANK: exact_reasons("all_gather with lowrank")
  // CHECK: cgx.all_gather
  // CHECK-SAME: codec(quantize<{{.*}}>)
  %2 = cgx.all_gather(%w) dim(0) groups(#g) id(2) layer(#x) : (tensor<64x128xf32>) -> tensor<128x128xf32>
  return
}

// A codec that was assigned before is replaced.
// IDENTITY-LABEL: func @replaced
func.func @replaced(%w: tensor<64x128xf32>) {
  // IDENTITY: codec(identity)
  %0 = cgx.all_reduce sum(%w) codec(quantize) groups(#g) id(0) layer(#x) : tensor<64x128xf32>
  return
}
}
