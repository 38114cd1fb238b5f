// An error in an option of a module without a location has none.
// RUN: not cgx-opt %s --cgx-compress=bits=9 2>&1 | FileCheck %s
// CHECK: {{^}}cgx-opt: error: expected bits in 1..8, got 9

module attributes {cgx.num_ranks = 2 : i64} {
  func.func public @main(%w: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %0 = cgx.all_reduce sum(%w) {id = 0 : i64, groups = #cgx.groups<[[0, 1]]>, codecs = [#cgx.identity],
                                 layers = [#cgx.layer<"w", gradient>]} : tensor<64x64xf32>
    return %0 : tensor<64x64xf32>
  }
} loc(unknown)
