// Checks which ops fold, and which must not.
// RUN: cgx-opt %s --canonicalize | FileCheck %s

// Groups of one rank send nothing: the results are the operands, also with a lossy codec.
// CHECK-LABEL: func @trivial_groups
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<8xf32>)
func.func @trivial_groups(%a: tensor<4xf32>, %b: tensor<8xf32>)
    -> (tensor<4xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0:2 = cgx.all_reduce mean(%a, %b) codec(identity, quantize) groups([[0], [1]]) id(0) : tensor<4xf32>, tensor<8xf32>
  %1 = cgx.all_gather(%a) dim(0) groups([[0], [1]]) id(1) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = cgx.reduce_scatter sum(%a) dim(0) groups([]) id(2) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = cgx.all_to_all(%a) concat_dim(0) groups([]) id(3) split_dim(0) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = cgx.broadcast(%a) groups([]) id(4) root(0) : tensor<4xf32>
  // CHECK: return %[[A]], %[[B]], %[[A]], %[[A]], %[[A]], %[[A]]
  return %0#0, %0#1, %1, %2, %3, %4
      : tensor<4xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func @larger_groups
func.func @larger_groups(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: cgx.all_reduce
  %0 = cgx.all_reduce sum(%a) groups([[0], [1, 2]]) id(0) : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @permute_to_itself
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32>)
func.func @permute_to_itself(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = cgx.permute(%a) groups([[0, 1]]) id(0) source_target_pairs([[0, 0], [1, 1]]) : tensor<4xf32>
  // Rank 1 gets zeros.
  // CHECK: %[[P:.*]] = cgx.permute
  %1 = cgx.permute(%a) groups([[0, 1]]) id(1) source_target_pairs([[0, 0]]) : tensor<4xf32>
  // CHECK: return %[[A]], %[[P]]
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func @decompress_of_exact_compress
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32>)
func.func @decompress_of_exact_compress(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = cgx.compress %a phase(contribution) id(0) layer("", other) operand_number(0)
      : tensor<4xf32> -> !cgx.payload<4xf32, #cgx.identity, chunks = 2>
  %1 = cgx.decompress %0 id(0) operand_number(0) : !cgx.payload<4xf32, #cgx.identity, chunks = 2> -> tensor<4xf32>
  // CHECK: return %[[A]]
  return %1 : tensor<4xf32>
}

// The error of a lossy codec is part of the program.
// CHECK-LABEL: func @decompress_of_lossy_compress
func.func @decompress_of_lossy_compress(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: cgx.compress
  %0 = cgx.compress %a phase(contribution) id(0) layer("", other) operand_number(0)
      : tensor<4xf32> -> !cgx.payload<4xf32, #cgx.quantize, chunks = 2>
  // CHECK: %[[D:.*]] = cgx.decompress
  %1 = cgx.decompress %0 id(0) operand_number(0) : !cgx.payload<4xf32, #cgx.quantize, chunks = 2> -> tensor<4xf32>
  // CHECK: return %[[D]]
  return %1 : tensor<4xf32>
}
