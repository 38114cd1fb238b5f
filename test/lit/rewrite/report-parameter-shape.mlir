// People know a layer by the shape of its parameter: JAX adds up the gradient of a kernel of 256x128 as 128x256. What
// does not travel whole has the shape that travels, and JSON always has that.
// RUN: cgx-opt %s --cgx-report -o /dev/null 2>&1 | FileCheck %s
// RUN: cgx-opt %s --cgx-report=format=json -o /dev/null 2>&1 | FileCheck %s --check-prefix=JSON
// CHECK: kernel gradient 256x128xf32
// CHECK: bias gradient 128xf32
// CHECK: split gradient 64x32xf32
// JSON: "layer": "kernel"
// JSON: "shape": [
// JSON-NEXT: 128,
// JSON-NEXT: 256
module attributes {cgx.num_ranks = 2 : i64} {
  func.func public @main(%w: tensor<128x256xf32>, %b: tensor<1x128xf32>, %s: tensor<64x32xf32>) -> (tensor<128x256xf32>, tensor<1x128xf32>, tensor<64x32xf32>) {
    %r:3 = cgx.all_reduce mean(%w, %b, %s) exact_reasons("", "1-D parameter", "")
        codec(quantize<bits = 4, bucket = 128>, identity, quantize<bits = 4, bucket = 128>) groups([[0, 1]]) id(0)
        layer("kernel", gradient, [256, 128]) layer("bias", gradient, [128]) layer("split", gradient, [128, 32])
        : tensor<128x256xf32>, tensor<1x128xf32>, tensor<64x32xf32>
    return %r#0, %r#1, %r#2 : tensor<128x256xf32>, tensor<1x128xf32>, tensor<64x32xf32>
  }
}
