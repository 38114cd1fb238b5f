// Lines have at most 100 columns: a long codec is a note, and a long name of a layer has a line of its own.
// RUN: cgx-opt %s --cgx-report -o /dev/null 2>&1 | FileCheck %s --strict-whitespace
// RUN: cgx-opt %s --cgx-report -o /dev/null 2>&1 | not grep -E '^.{101}'

// CHECK:      layer{{ +}}kind      tensor      raw bytes  wire bytes  ratio  codec, why exact
// CHECK-NEXT: {{^}}encoder/layers/self_attention/multi_head_attention/query/kernel{{$}}
// CHECK-NEXT: {{^ +}}gradient  64x128xf32      32768        5848  5.60x  [1]{{$}}
// CHECK-NEXT: encoder/query/kernel{{ +}}gradient  64x128xf32      32768        5848  5.60x  [1]{{$}}
// CHECK-NEXT: encoder/query/bias  {{ +}}gradient  128xf32           512         512  1.00x  1-D parameter{{$}}
// CHECK-NEXT: encoder/value/kernel{{ +}}gradient  64x128xf32      32768       32768  1.00x  [2]{{$}}
// CHECK-NEXT: encoder/out/kernel  {{ +}}gradient  64x128xf32      32768       16400  2.00x  cast format=bf16{{$}}
// CHECK-NEXT: total
// CHECK-NEXT: [1] quantize bits=3 bucket=512 rounding=nearest scale=f32 back=(quantize bits=8 rotate=hadamard)
// CHECK-NEXT: {{^}}    error_feedback=bf16 decay=0.9{{$}}
// CHECK-NEXT: [2] excluded by 'exclude=encoder/value/*,decoder/*'{{$}}
module attributes {cgx.num_ranks = 2 : i64} {
func.func public @main(%w: tensor<64x128xf32>, %b: tensor<128xf32>) {
  %r:5 = cgx.all_reduce mean(%w, %w, %b, %w, %w)
      exact_reasons("", "", "1-D parameter", "excluded by 'exclude=encoder/value/*,decoder/*'", "")
      codec(error_feedback<#cgx.two_way<there = #cgx.quantize<bits = 3, bucket = 512, rounding = nearest, scale = f32>, back = #cgx.quantize<bits = 8, rotate = hadamard>>, decay = 9.0e-01, storage = bf16>, error_feedback<#cgx.two_way<there = #cgx.quantize<bits = 3, bucket = 512, rounding = nearest, scale = f32>, back = #cgx.quantize<bits = 8, rotate = hadamard>>, decay = 9.0e-01, storage = bf16>, identity, identity, cast<format = bf16>)
      groups([[0, 1]]) id(0)
      layer("encoder/layers/self_attention/multi_head_attention/query/kernel", gradient, [64, 128])
      layer("encoder/query/kernel", gradient, [64, 128]) layer("encoder/query/bias", gradient, [128])
      layer("encoder/value/kernel", gradient, [64, 128]) layer("encoder/out/kernel", gradient, [64, 128])
      : tensor<64x128xf32>, tensor<64x128xf32>, tensor<128xf32>, tensor<64x128xf32>, tensor<64x128xf32>
  return
}
}
