// Text as earlier versions of cgx-opt wrote it is read, and written as it is now.
// RUN: cgx-opt %s | FileCheck %s
// RUN: cgx-opt %s | cgx-opt --verify-roundtrip | FileCheck %s
// RUN: cgx-opt %s --mlir-print-op-generic | cgx-opt | FileCheck %s

#groups = #cgx.groups<[[0, 1]]>
#q = #cgx.quantize<bits = 4, bucket = 128, rounding = stochastic, scale = bf16>
module attributes {cgx.num_ranks = 2 : i64} {
  // CHECK-LABEL: @main
  func.func public @main(%arg0: tensor<64x128xf32>, %arg1: tensor<128xf32>) -> (tensor<64x128xf32>, tensor<128xf32>, tensor<64x128xf32>) {
    // CHECK: cgx.all_reduce mean(%arg0, %arg1) exact_reasons("", "1-D parameter") origins(3, 0, 2, 0) codec(
    // CHECK-NOT: cgx.exact_reason
    // CHECK-NOT: cgx.origins
    %0:2 = cgx.all_reduce mean(%arg0, %arg1) {cgx.exact_reason = ["", "1-D parameter"], cgx.origins = array<i64: 3, 0, 2, 0>, codecs = [#q, #cgx.identity], groups = #groups, id = 2 : i64, layers = [#cgx.layer<"w", gradient, [64, 128]>, #cgx.layer<"b", gradient, [128]>]} : tensor<64x128xf32>, tensor<128xf32>
    // CHECK: cgx.start all_reduce mean(%arg0) algorithm(ring) exact_reasons("") codec(
    %1 = cgx.start all_reduce mean(%arg0) {algorithm = #cgx.algorithm<ring>, cgx.exact_reason = [""], codecs = [#q], groups = #groups, id = 4 : i64, layers = [#cgx.layer<"v", gradient, [64, 128]>]} : tensor<64x128xf32>
    %2 = cgx.wait %1 : !cgx.handle<tensor<64x128xf32>>
    // CHECK: cgx.compress %arg1 phase(contribution) origins(7, 1) id(5) layer("u", gradient, [128]) operand_number(0)
    %3 = cgx.compress %arg1 phase(contribution) {cgx.origins = array<i64: 7, 1>, id = 5 : i64, layer = #cgx.layer<"u", gradient, [128]>, operand_number = 0 : i64} : tensor<128xf32> -> !cgx.payload<128xf32, #cgx.identity, chunks = 2>
    return %0#0, %0#1, %2 : tensor<64x128xf32>, tensor<128xf32>, tensor<64x128xf32>
  }

  // Attributes stood in a dictionary.
  // CHECK-LABEL: @dictionaries
  func.func @dictionaries(%arg0: tensor<8x16xf32>) {
    // CHECK: cgx.all_reduce sum(%arg0) algorithm(hierarchical) codec(identity) groups({{\[\[}}0, 1]]) hierarchy(local = 2, inside = #cgx.identity, leaders = all) id(10) layer("", other) : tensor<8x16xf32>
    %0 = cgx.all_reduce sum(%arg0) {algorithm = #cgx.algorithm<hierarchical>, codecs = [#cgx.identity], groups = #groups, hierarchy = #cgx.hierarchy<local = 2>, id = 10 : i64, layers = [#cgx.layer<"", other>]} : tensor<8x16xf32>
    // CHECK: cgx.all_gather(%arg0) codec(identity) dim(1) groups({{\[\[}}0, 1]]) id(11) layer("w", weight, [8, 32]) : (tensor<8x16xf32>) -> tensor<8x32xf32>
    %1 = cgx.all_gather(%arg0) {codecs = [#cgx.identity], dim = 1 : i64, groups = #groups, id = 11 : i64, layers = [#cgx.layer<"w", weight, [8, 32]>]} : (tensor<8x16xf32>) -> tensor<8x32xf32>
    // CHECK: cgx.reduce_scatter mean(%arg0) codec(identity) dim(0) groups({{\[\[}}0, 1]]) id(12) layer("", other) : (tensor<8x16xf32>) -> tensor<4x16xf32>
    %2 = cgx.reduce_scatter mean(%arg0) {codecs = [#cgx.identity], dim = 0 : i64, groups = #groups, id = 12 : i64, layers = [#cgx.layer<"", other>]} : (tensor<8x16xf32>) -> tensor<4x16xf32>
    // CHECK: cgx.all_to_all(%arg0) codec(identity) concat_dim(1) groups({{\[\[}}0, 1]]) id(13) layer("", other) split_dim(0) : (tensor<8x16xf32>) -> tensor<4x32xf32>
    %3 = cgx.all_to_all(%arg0) {codecs = [#cgx.identity], concat_dim = 1 : i64, groups = #groups, id = 13 : i64, layers = [#cgx.layer<"", other>], split_dim = 0 : i64} : (tensor<8x16xf32>) -> tensor<4x32xf32>
    // CHECK: cgx.broadcast(%arg0) codec(identity) groups({{\[\[}}0, 1]]) id(14) layer("", other) root(1) : tensor<8x16xf32>
    %4 = cgx.broadcast(%arg0) {codecs = [#cgx.identity], groups = #groups, id = 14 : i64, layers = [#cgx.layer<"", other>], root = 1 : i64} : tensor<8x16xf32>
    // CHECK: cgx.permute(%arg0) codec(identity) groups({{\[\[}}0, 1]]) id(15) layer("", other) source_target_pairs({{\[\[}}0, 1], [1, 0]]) : tensor<8x16xf32>
    %5 = cgx.permute(%arg0) {codecs = [#cgx.identity], groups = #groups, id = 15 : i64, layers = [#cgx.layer<"", other>], source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>} : tensor<8x16xf32>
    // CHECK: cgx.bind_optimizer_state parameter(%arg0 : tensor<8x16xf32>) id(2) operand_number(0)
    cgx.provide parameter(%arg0 : tensor<8x16xf32>) {id = 2 : i64, operand_number = 0 : i64}
    // CHECK: cgx.payload_all_to_all %{{.*}} groups({{\[\[}}0, 1]]) id(16) operand_number(0) : !cgx.payload<
    %6 = cgx.compress %arg0 phase(contribution) {id = 16 : i64, layer = #cgx.layer<"", other>, operand_number = 0 : i64} : tensor<8x16xf32> -> !cgx.payload<8x16xf32, #cgx.identity, chunks = 2>
    %7 = cgx.payload_all_to_all %6 {groups = #groups, id = 16 : i64, operand_number = 0 : i64} : !cgx.payload<8x16xf32, #cgx.identity, chunks = 2> -> !cgx.payload<8x16xf32, #cgx.identity, chunks = 2, slots = 2>
    return
  }
}
