// The report counts the bytes of either form alike, as text and as JSON.
// RUN: cgx-opt %s --cgx-report -o /dev/null 2>&1 | FileCheck %s
// RUN: cgx-opt %s --cgx-decompose-collectives --cgx-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLICIT
// RUN: cgx-opt %s --cgx-report=format=json -o /dev/null 2>&1 | FileCheck %s --check-prefix=JSON
// RUN: sed 's/quantize<bits = 4, bucket = 128>/threshold/' %s | cgx-opt --cgx-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=VARYING
// RUN: sed 's/quantize<bits = 4, bucket = 128>/lowrank<rank = 2>/' %s | cgx-opt --cgx-decompose-collectives --cgx-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOWRANK
// RUN: sed 's/{cgx.num_ranks/{cgx.folded = [{layer = "loss", kind = "other", operation = "all_reduce", reason = "computed from constants alone"}], cgx.num_ranks/' %s | cgx-opt --cgx-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=FOLDED
// RUN: sed 's/{cgx.num_ranks/{cgx.folded = [{layer = "loss", kind = "other", operation = "all_reduce", reason = "computed from constants alone"}], cgx.num_ranks/' %s | cgx-opt --cgx-report=format=json -o /dev/null 2>&1 | FileCheck %s --check-prefix=FOLDED-JSON
// RUN: not cgx-opt %s --cgx-report=format=xml -o /dev/null 2>&1 | FileCheck %s --check-prefix=FORMAT

// CHECK: cgx report: 4 ranks, 1 collective, 2 operands; bytes per rank and step (mean over ranks)
// CHECK: params/l1/w gradient 64x128xf32 49152 6576 7.47x quantize bits=4{{$}}
// CHECK: params/l1/b gradient 128xf32 768 768 1.00x 1-D parameter
// CHECK: total 49920 7344 6.80x
// EXPLICIT: params/l1/w gradient 64x128xf32 49152 6576 7.47x quantize bits=4{{$}}
// EXPLICIT: total 49920 7344 6.80x
// VARYING: params/l1/w gradient 64x128xf32 49152 <= 50{{.*}} 0.97x threshold threshold=0.001
// VARYING: <=: how many depends on the data
// 2 * 3/4 of two vectors of 64 and two of 128, in f32; there is no explicit form of it.
// LOWRANK: params/l1/w gradient 64x128xf32 49152 2304 21.33x lowrank rank=2
// JSON: "layer": "params/l1/w"
// JSON: "codec": "quantize bits=4 bucket=128 rounding=stochastic scale=bf16"
// JSON: "exact_reason": "1-D parameter"
// JSON: "wire_bytes_by_rank"
// FOLDED: folded, since ranks hold the same already: all_reduce of 'loss', computed from constants alone
// FOLDED-JSON: "folded": [
// FOLDED-JSON: "reason": "computed from constants alone"
// FORMAT: expected 'text' or 'json' as format of the report, got 'xml'
module attributes {cgx.num_ranks = 4 : i64} {
  func.func public @main(%w: tensor<64x128xf32>, %b: tensor<128xf32>) -> (tensor<64x128xf32>, tensor<128xf32>) {
    %r:2 = cgx.all_reduce mean(%w, %b) exact_reasons("", "1-D parameter")
        codec(quantize<bits = 4, bucket = 128>, identity) groups([[0, 1, 2, 3]]) id(0)
        layer("params/l1/w", gradient, [64, 128]) layer("params/l1/b", gradient, [128])
        : tensor<64x128xf32>, tensor<128xf32>
    return %r#0, %r#1 : tensor<64x128xf32>, tensor<128xf32>
  }
}
