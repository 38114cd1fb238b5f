// The whole pipeline, on a program that is per rank already: what the options say reaches the passes.
// RUN: cgx-opt %s --cgx-compress="bits=2 bucket=256 exclude=*/head" | FileCheck %s
// RUN: cgx-opt %s --cgx-compress="bits=2 bucket=256 exclude=*/head group-bytes=0" | FileCheck %s --check-prefix=SINGLE
// RUN: cgx-opt %s --cgx-compress=decompose | FileCheck %s --check-prefix=EXPLICIT
// RUN: not cgx-opt %s --cgx-compress="bits=9" 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not cgx-opt %s --cgx-compress="bits=x" 2>&1 | FileCheck %s --check-prefix=LETTER
// RUN: not cgx-opt %s --cgx-compress="min-elements=x" 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not cgx-opt %s --cgx-compress="bitz=4" 2>&1 | FileCheck %s --check-prefix=MEANT
// RUN: not cgx-opt %s --cgx-compress="zebra=4" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not cgx-opt %s --cgx-compress="bits=4 plan=" 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not cgx-opt %s --cgx-compress="weight='bits=8' exclude='' bits=4" 2>&1 | FileCheck %s --check-prefix=EMPTY-QUOTED
// RUN: not cgx-opt %s --cgx-instrument="exclud=a" 2>&1 | FileCheck %s --check-prefix=INSTRUMENT
// RUN: not cgx-opt %s --cgx-assign-codecs="bit=4" 2>&1 | FileCheck %s --check-prefix=PASS
// RUN: not cgx-opt %s --cgx-merge-layers --cgx-group-collectives="bits=4" 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not cgx-opt %s --pass-pipeline="builtin.module(cgx-merge-layers,cgx-assign-codecs{buckets=4})" 2>&1 | FileCheck %s --check-prefix=WRITTEN
// RUN: not cgx-opt %s --cgx-filter-layers="exclud=a" 2>&1 | FileCheck %s --check-prefix=LIST
// RUN: cgx-opt %s --cgx-compress="codec=topk density=0.05" -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOST
// RUN: cgx-opt %s --cgx-compress="gradient='randk density=0.05' exclude=*/head" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: cgx-opt %s --cgx-compress="codec=topk error-feedback=bf16" -o /dev/null 2>&1 | FileCheck %s --check-prefix=KEPT --allow-empty
// RUN: cgx-opt %s --cgx-compress="bits=2" -o /dev/null 2>&1 | FileCheck %s --check-prefix=KEPT --allow-empty
// A remark names operands that are compressed already, unless they stay as they are.
// RUN: cgx-opt %s --cgx-compress="bits=4" --cgx-compress="bits=2" -o /dev/null 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: cgx-opt %s --cgx-compress="bits=2" --cgx-compress="bits=2" -o /dev/null 2>&1 | FileCheck %s --check-prefix=KEPT --allow-empty
// Running it again decides the same.
// RUN: cgx-opt %s --cgx-compress --cgx-compress="bits=2 bucket=256 exclude=*/head" | FileCheck %s

// LOST: warning: params/w and one other travel by topk without error feedback: elements that are not sent are lost; error-feedback=f32 (or bf16, int8) sends them in later steps
// ONE: warning: params/w travels by randk without error feedback
// KEPT-NOT: warning
// AGAIN: warning: the program is compressed already: params/w and 1 other had codecs such as #cgx.quantize<bits = 4{{.*}}>, which this replaces
// MEANT: {{^}}cgx-opt: error: cgx-compress: no such option bitz (did you mean 'bits'?)
// UNKNOWN: {{^}}cgx-opt: error: cgx-compress: no such option zebra; it has {{.*}}bits, {{.*}}
// EMPTY: {{^}}cgx-opt: error: cgx-compress: expected a value for the option plan{{$}}
// EMPTY-QUOTED: {{^}}cgx-opt: error: cgx-compress: expected a value for the option exclude{{$}}
// INSTRUMENT: {{^}}cgx-opt: error: cgx-instrument: no such option exclud (did you mean 'exclude'?)
// PASS: {{^}}cgx-opt: error: cgx-assign-codecs: no such option bit (did you mean 'bits'?)
// OTHER: {{^}}cgx-opt: error: cgx-group-collectives: no such option bits; it has {{.*}}group-bytes{{.*}}
// WRITTEN: {{^}}cgx-opt: error: cgx-assign-codecs: no such option buckets (did you mean 'bucket'?)
// LIST: {{^}}cgx-opt: error: cgx-filter-layers: no such option exclud (did you mean 'exclude'?)
// BITS: error: expected bits in 1..8, got 9
// LETTER: error: expected integer value, got quantize<bits=x>
// TYPE: for the --min-elements option: 'x' value invalid
// TYPE: {{^}}cgx-opt: error: cgx-compress: the value of this option is of another type{{$}}

#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {

// CHECK-LABEL: func public @main
// CHECK: cgx.all_reduce mean(%{{[^,)]*}}, %{{[^,)]*}}, %{{[^,)]*}})
// CHECK-SAME: exact_reasons("", "excluded by 'exclude=*/head'", "1-D parameter")
// CHECK-SAME: codec(quantize<bits = 2, bucket = 256, rounding = stochastic, scale = bf16>, identity, identity)
// CHECK-NOT: cgx.all_reduce

// SINGLE-LABEL: func public @main
// SINGLE-COUNT-3: cgx.all_reduce mean
// SINGLE-NOT: cgx.all_reduce

// EXPLICIT-LABEL: func public @main
// EXPLICIT-NOT: cgx.all_reduce
// EXPLICIT-COUNT-3: cgx.decompress %
func.func public @main(%w: tensor<64x128xf32>, %h: tensor<64x128xf32>, %b: tensor<1x128xf32>)
    -> (tensor<64x128xf32>, tensor<64x128xf32>, tensor<1x128xf32>) {
  %0 = cgx.all_reduce mean(%w) groups(#g) id(0) layer("params/w", gradient, [64, 128]) : tensor<64x128xf32>
  %1 = cgx.all_reduce mean(%h) groups(#g) id(1) layer("params/head", gradient, [64, 128]) : tensor<64x128xf32>
  %2 = cgx.all_reduce mean(%b) groups(#g) id(2) layer("params/b", gradient, [128]) : tensor<1x128xf32>
  // The mean of means is folded.
  %3 = cgx.all_reduce mean(%0) groups(#g) id(3) layer("params/w", gradient, [64, 128]) : tensor<64x128xf32>
  return %3, %1, %2 : tensor<64x128xf32>, tensor<64x128xf32>, tensor<1x128xf32>
}
}
