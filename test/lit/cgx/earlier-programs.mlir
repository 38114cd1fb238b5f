// Text as cgx-opt wrote it when reasons and origins were discardable is read, and written as it is now.
// RUN: cgx-opt %s | FileCheck %s
// RUN: cgx-opt %s | cgx-opt --verify-roundtrip | FileCheck %s
// RUN: cgx-opt %s --mlir-print-op-generic | cgx-opt | FileCheck %s

#groups = #cgx.groups<[[0, 1]]>
#q = #cgx.quantize<bits = 4, bucket = 128, rounding = stochastic, scale = bf16>
module attributes {cgx.num_ranks = 2 : i64} {
  // CHECK-LABEL: @main
  func.func public @main(%arg0: tensor<64x128xf32>, %arg1: tensor<128xf32>) -> (tensor<64x128xf32>, tensor<128xf32>, tensor<64x128xf32>) {
    // CHECK: cgx.all_reduce mean(%arg0, %arg1) {exact_reasons = ["", "1-D parameter"], origins = array<i64: 3, 0, 2, 0>, codecs = [
    // CHECK-NOT: cgx.exact_reason
    // CHECK-NOT: cgx.origins
    %0:2 = cgx.all_reduce mean(%arg0, %arg1) {cgx.exact_reason = ["", "1-D parameter"], cgx.origins = array<i64: 3, 0, 2, 0>, codecs = [#q, #cgx.identity], groups = #groups, id = 2 : i64, layers = [#cgx.layer<"w", gradient, [64, 128]>, #cgx.layer<"b", gradient, [128]>]} : tensor<64x128xf32>, tensor<128xf32>
    // CHECK: cgx.all_reduce_start mean(%arg0) {algorithm = #cgx.algorithm<ring>, exact_reasons = [""], codecs = [
    %1 = cgx.all_reduce_start mean(%arg0) {algorithm = #cgx.algorithm<ring>, cgx.exact_reason = [""], codecs = [#q], groups = #groups, id = 4 : i64, layers = [#cgx.layer<"v", gradient, [64, 128]>]} : (tensor<64x128xf32>) -> !cgx.handle<tensor<64x128xf32>>
    %2 = cgx.wait %1 : !cgx.handle<tensor<64x128xf32>>
    // CHECK: cgx.compress %arg1 phase(contribution) {id = 5 : i64, origins = array<i64: 7, 1>, layer = #cgx.layer<"u", gradient, [128]>, operand_number = 0 : i64}
    %3 = cgx.compress %arg1 phase(contribution) {cgx.origins = array<i64: 7, 1>, id = 5 : i64, layer = #cgx.layer<"u", gradient, [128]>, operand_number = 0 : i64} : tensor<128xf32> -> !cgx.payload<128xf32, #cgx.identity, chunks = 2>
    return %0#0, %0#1, %2 : tensor<64x128xf32>, tensor<128xf32>, tensor<64x128xf32>
  }
}
