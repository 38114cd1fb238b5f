// Codecs by axis of the mesh: inside of a host and between hosts.
// RUN: cgx-opt %s --cgx-compress="along='shard<gradient=bits=8 weight=quantize<bits=8 bucket=64>> host<gradient=bits=4>' bits=2" | FileCheck %s
// RUN: cgx-opt %s --cgx-compress="qsdp along='host<gradient=bits=4> host+shard<gradient=bits=5>'" | FileCheck %s --check-prefix=QSDP
// RUN: cgx-opt %s --cgx-compress="along=host<activation=bits=8>" 2>&1 | FileCheck %s --check-prefix=EXACT
// RUN: cgx-opt %s --cgx-compress="along='shard<gradient=bits=8 weight=\"bits=4 delta=bf16\"> host<gradient=\"bits=4 error-feedback=f32\" weight=bits=6>'" | FileCheck %s --check-prefix=DELTA
// RUN: not cgx-opt %s --cgx-compress="along='shard<weight=\"bits=4 delta=bf16 samples=2\">'" 2>&1 | FileCheck %s --check-prefix=SAMPLES
// RUN: not cgx-opt %s --cgx-compress="along='shard<weight bits=4>'" 2>&1 | FileCheck %s --check-prefix=WORDS
// RUN: not cgx-opt %s --cgx-compress="along=rack<gradient=bits=4>" 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not cgx-opt %s --cgx-compress="along=host<tokens=bits=4>" 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not cgx-opt %s --cgx-compress="along=host" 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not cgx-opt %s --cgx-compress="along=host<gradient=bits=9>" 2>&1 | FileCheck %s --check-prefix=BITS

// SAMPLES: error: along=shard<weight="bits=4 delta=bf16 samples=2">: expected delta of weights without samples
// WORDS: error: {{.*}}expected the codec of a kind, such as gradient=bits=4, or weight="bits=4 delta=bf16", got weight along shard
// AXIS: error: along=rack<gradient=bits=4>: expected axes of the mesh, which has "host", "shard", got rack
// KIND: error: along=host<tokens=bits=4>: expected the kind to be gradient, {{.*}}, got tokens
// FORM: error: along=host: expected codecs of an axis of the mesh, such as host<gradient=bits=4>, got host
// BITS: error: along=host<gradient=bits=9>: expected bits in 1..8, got 9

#hosts = #cgx.groups<[[0, 2], [1, 3]]>
#shards = #cgx.groups<[[0, 1], [2, 3]]>
#all = #cgx.groups<[[0, 1, 2, 3]]>
module attributes {cgx.mesh = #cgx.mesh<["host" = 2, "shard" = 2]>, cgx.num_ranks = 4 : i64} {
// CHECK-LABEL: func public @main
func.func public @main(%w: tensor<64x128xf32>, %g: tensor<128x128xf32>)
    -> (tensor<128x128xf32>, tensor<64x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>) {
  // CHECK: codec(quantize<bits = 8, bucket = 64,
  // QSDP: codec(quantize<bits = 8, bucket = 1024, rounding = random_shift
  // EXACT: exact_reasons("kind weight")
  // DELTA: codec(delta<#cgx.quantize<bits = 4, {{.*}}>, samples = 1, storage = bf16>)
  %0 = cgx.all_gather(%w) dim(0) groups(#shards) id(0) layer("w", weight, [128, 128])
      : (tensor<64x128xf32>) -> tensor<128x128xf32>
  // CHECK: cgx.reduce_scatter
  // CHECK-SAME: codec(quantize<bits = 8, bucket = 128,
  // DELTA: cgx.reduce_scatter
  // DELTA-SAME: codec(quantize<bits = 8,
  // QSDP: cgx.reduce_scatter
  // QSDP-SAME: codec(quantize<bits = 8, bucket = 1024, rounding = stochastic
  %1 = cgx.reduce_scatter sum(%g) dim(0) groups(#shards) id(1) layer("w", gradient, [128, 128])
      : (tensor<128x128xf32>) -> tensor<64x128xf32>
  // CHECK: cgx.all_reduce
  // CHECK-SAME: codec(quantize<bits = 4, bucket = 128,
  // DELTA: cgx.all_reduce
  // DELTA-SAME: codec(error_feedback<#cgx.quantize<bits = 4,
  // QSDP: cgx.all_reduce
  // QSDP-SAME: codec(quantize<bits = 4, bucket = 128,
  %2 = cgx.all_reduce sum(%1) groups(#hosts) id(2) layer("w", gradient, [128, 128]) : tensor<64x128xf32>
  // CHECK: cgx.all_gather
  // CHECK-SAME: codec(identity)
  // DELTA: cgx.all_gather
  // DELTA-SAME: codec(quantize<bits = 6,
  // QSDP: cgx.all_gather
  // QSDP-SAME: codec(quantize<bits = 8, bucket = 1024, rounding = random_shift
  %3 = cgx.all_gather(%w) dim(0) groups(#hosts) id(3) layer("v", weight, [128, 128])
      : (tensor<64x128xf32>) -> tensor<128x128xf32>
  // CHECK: cgx.all_reduce
  // CHECK-SAME: codec(quantize<bits = 2, bucket = 128,
  // QSDP: cgx.all_reduce
  // QSDP-SAME: codec(quantize<bits = 5, bucket = 128,
  %4 = cgx.all_reduce sum(%g) groups(#all) id(4) layer("u", gradient, [128, 128]) : tensor<128x128xf32>
  return %0, %2, %3, %4 : tensor<128x128xf32>, tensor<64x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>
}
}
