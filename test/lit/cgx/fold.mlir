// What folds, and what must not.
// RUN: cgx-opt %s --canonicalize | FileCheck %s

// Groups of one rank send nothing: the results are the operands, also with a lossy codec.
// CHECK-LABEL: func @trivial_groups
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<8xf32>)
func.func @trivial_groups(%a: tensor<4xf32>, %b: tensor<8xf32>)
    -> (tensor<4xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0:2 = cgx.all_reduce mean(%a, %b) {id = 0 : i64, groups = #cgx.groups<[[0], [1]]>,
      codecs = [#cgx.identity, #cgx.quantize], layers = [#cgx.layer<"", other>, #cgx.layer<"", other>]}
      : tensor<4xf32>, tensor<8xf32>
  %1 = cgx.all_gather(%a) {dim = 0 : i64, id = 1 : i64, groups = #cgx.groups<[[0], [1]]>, codecs = [#cgx.identity],
      layers = [#cgx.layer<"", other>]} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = cgx.reduce_scatter sum(%a) {dim = 0 : i64, id = 2 : i64, groups = #cgx.groups<[]>, codecs = [#cgx.identity],
      layers = [#cgx.layer<"", other>]} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = cgx.all_to_all(%a) {split_dim = 0 : i64, concat_dim = 0 : i64, id = 3 : i64, groups = #cgx.groups<[]>,
      codecs = [#cgx.identity], layers = [#cgx.layer<"", other>]} : (tensor<4xf32>) -> tensor<4xf32>
  %4 = cgx.broadcast(%a) {root = 0 : i64, id = 4 : i64, groups = #cgx.groups<[]>, codecs = [#cgx.identity],
      layers = [#cgx.layer<"", other>]} : tensor<4xf32>
  // CHECK: return %[[A]], %[[B]], %[[A]], %[[A]], %[[A]], %[[A]]
  return %0#0, %0#1, %1, %2, %3, %4
      : tensor<4xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func @larger_groups
func.func @larger_groups(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: cgx.all_reduce
  %0 = cgx.all_reduce sum(%a) {id = 0 : i64, groups = #cgx.groups<[[0], [1, 2]]>, codecs = [#cgx.identity],
      layers = [#cgx.layer<"", other>]} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @permute_to_itself
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32>)
func.func @permute_to_itself(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = cgx.permute(%a) {source_target_pairs = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>, id = 0 : i64,
      groups = #cgx.groups<[[0, 1]]>, codecs = [#cgx.identity], layers = [#cgx.layer<"", other>]} : tensor<4xf32>
  // Rank 1 gets zeros.
  // CHECK: %[[P:.*]] = cgx.permute
  %1 = cgx.permute(%a) {source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>, id = 1 : i64,
      groups = #cgx.groups<[[0, 1]]>, codecs = [#cgx.identity], layers = [#cgx.layer<"", other>]} : tensor<4xf32>
  // CHECK: return %[[A]], %[[P]]
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func @decompress_of_exact_compress
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32>)
func.func @decompress_of_exact_compress(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = cgx.compress %a phase(contribution) {id = 0 : i64, operand_number = 0 : i64, layer = #cgx.layer<"", other>}
      : tensor<4xf32> -> !cgx.payload<4xf32, #cgx.identity, chunks = 2>
  %1 = cgx.decompress %0 {id = 0 : i64, operand_number = 0 : i64}
      : !cgx.payload<4xf32, #cgx.identity, chunks = 2> -> tensor<4xf32>
  // CHECK: return %[[A]]
  return %1 : tensor<4xf32>
}

// The error of a lossy codec is part of the program.
// CHECK-LABEL: func @decompress_of_lossy_compress
func.func @decompress_of_lossy_compress(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: cgx.compress
  %0 = cgx.compress %a phase(contribution) {id = 0 : i64, operand_number = 0 : i64, layer = #cgx.layer<"", other>}
      : tensor<4xf32> -> !cgx.payload<4xf32, #cgx.quantize, chunks = 2>
  // CHECK: %[[D:.*]] = cgx.decompress
  %1 = cgx.decompress %0 {id = 0 : i64, operand_number = 0 : i64}
      : !cgx.payload<4xf32, #cgx.quantize, chunks = 2> -> tensor<4xf32>
  // CHECK: return %[[D]]
  return %1 : tensor<4xf32>
}
