// Reductions that a script spells out are known by what they compute.
// RUN: cgx-opt %s --split-input-file --cgx-recognize-reductions | FileCheck %s

#g = #cgx.groups<[[0, 1, 2, 3]]>
#x = #cgx.layer<"", other>
module attributes {cgx.mesh = #cgx.mesh<["data" = 4]>, cgx.num_ranks = 4 : i64} {

// The input has three hops, a sum in each, and a mean after them.
// CHECK-LABEL: func @ring
// CHECK-SAME: (%[[G:[a-z0-9]+]]: tensor<32x64xf32>
func.func @ring(%g: tensor<32x64xf32>) -> tensor<32x64xf32> {
  // CHECK-NOT: cgx.permute
  // CHECK: %[[SUM:.*]] = cgx.all_reduce sum(%[[G]]) {{.*}}groups([
  // CHECK-SAME: [0, 1, 2, 3]
  // CHECK: %[[C:.*]] = stablehlo.constant dense<2.500000e-01>
  // CHECK: %[[MEAN:.*]] = stablehlo.multiply %[[SUM]], %[[C]]
  // CHECK-NEXT: return %[[MEAN]]
  %0 = cgx.permute(%g) groups(#g) id(0) layer(#x) source_target_pairs([[0, 1], [1, 2], [2, 3], [3, 0]]) : tensor<32x64xf32>
  %1 = stablehlo.add %g, %0 : tensor<32x64xf32>
  %2 = cgx.permute(%0) groups(#g) id(1) layer(#x) source_target_pairs([[0, 1], [1, 2], [2, 3], [3, 0]]) : tensor<32x64xf32>
  %3 = stablehlo.add %1, %2 : tensor<32x64xf32>
  %4 = cgx.permute(%2) groups(#g) id(2) layer(#x) source_target_pairs([[0, 1], [1, 2], [2, 3], [3, 0]]) : tensor<32x64xf32>
  %5 = stablehlo.add %3, %4 : tensor<32x64xf32>
  %c = stablehlo.constant dense<4.0> : tensor<32x64xf32>
  %6 = stablehlo.divide %5, %c : tensor<32x64xf32>
  return %6 : tensor<32x64xf32>
}

// By distances of 2 and 1, halved each time, the larger sum is one reduction, not two.
// CHECK-LABEL: func @butterfly
// CHECK-SAME: (%[[G:[a-z0-9]+]]: tensor<32x64xf32>
func.func @butterfly(%g: tensor<32x64xf32>) -> tensor<32x64xf32> {
  // CHECK: %[[SUM:.*]] = cgx.all_reduce sum(%[[G]])
  // CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<2.500000e-01>
  // CHECK-NEXT: %[[MEAN:.*]] = stablehlo.multiply %[[SUM]], %[[C]]
  // CHECK-NEXT: return %[[MEAN]]
  %half = stablehlo.constant dense<0.5> : tensor<32x64xf32>
  %0 = cgx.permute(%g) groups(#g) id(0) layer(#x) source_target_pairs([[0, 2], [2, 0], [1, 3], [3, 1]]) : tensor<32x64xf32>
  %1 = stablehlo.add %g, %0 : tensor<32x64xf32>
  %2 = stablehlo.multiply %1, %half : tensor<32x64xf32>
  %3 = cgx.permute(%2) groups(#g) id(1) layer(#x) source_target_pairs([[0, 1], [1, 0], [2, 3], [3, 2]]) : tensor<32x64xf32>
  %4 = stablehlo.add %2, %3 : tensor<32x64xf32>
  %5 = stablehlo.multiply %4, %half : tensor<32x64xf32>
  return %5 : tensor<32x64xf32>
}

// Up a tree to rank 0, and down again: each rank takes what it gets by its number.
// CHECK-LABEL: func @tree
// CHECK-SAME: (%[[G:[a-z0-9]+]]: tensor<32x64xf32>
func.func @tree(%g: tensor<32x64xf32>) -> tensor<32x64xf32> {
  // CHECK-NOT: cgx.permute
  // CHECK: %[[SUM:.*]] = cgx.all_reduce sum(%[[G]])
  // CHECK-NEXT: return %[[SUM]]
  %rank = stablehlo.partition_id : tensor<ui32>
  %one = stablehlo.constant dense<1> : tensor<ui32>
  %two = stablehlo.constant dense<2> : tensor<ui32>
  %0 = cgx.permute(%g) groups(#g) id(0) layer(#x) source_target_pairs([[1, 0], [3, 2]]) : tensor<32x64xf32>
  %1 = stablehlo.add %g, %0 : tensor<32x64xf32>
  %2 = cgx.permute(%1) groups(#g) id(1) layer(#x) source_target_pairs([[2, 0]]) : tensor<32x64xf32>
  %3 = stablehlo.add %1, %2 : tensor<32x64xf32>
  %4 = cgx.permute(%3) groups(#g) id(2) layer(#x) source_target_pairs([[0, 2]]) : tensor<32x64xf32>
  %5 = stablehlo.compare EQ, %rank, %two, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
  %6 = stablehlo.select %5, %4, %3 : tensor<i1>, tensor<32x64xf32>
  %7 = cgx.permute(%6) groups(#g) id(3) layer(#x) source_target_pairs([[0, 1], [2, 3]]) : tensor<32x64xf32>
  %8 = stablehlo.and %rank, %one : tensor<ui32>
  %9 = stablehlo.compare EQ, %8, %one, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
  %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i1>) -> tensor<32x64xi1>
  %11 = stablehlo.select %10, %7, %6 : tensor<32x64xi1>, tensor<32x64xf32>
  return %11 : tensor<32x64xf32>
}

// Pairs of ranks are groups. Who needs the hop, too, keeps it.
// CHECK-LABEL: func @pairs
// CHECK-SAME: (%[[G:[a-z0-9]+]]: tensor<32x64xf32>
func.func @pairs(%g: tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>) {
  // CHECK: %[[HOP:.*]] = cgx.permute(%[[G]])
  // CHECK: %[[SUM:.*]] = cgx.all_reduce sum(%[[G]]) {{.*}}groups({{.*}}[0, 1], [2, 3]
  // CHECK: return %[[SUM]], %[[HOP]]
  %0 = cgx.permute(%g) groups([[0, 1], [2, 3]]) id(0) layer(#x) source_target_pairs([[0, 1], [1, 0], [2, 3], [3, 2]]) : tensor<32x64xf32>
  %1 = stablehlo.add %g, %0 : tensor<32x64xf32>
  return %1, %0 : tensor<32x64xf32>, tensor<32x64xf32>
}

// Not all ranks, not alike, not the same value, and what is no sum: none of them is a reduction.
// CHECK-LABEL: func @no_reduction
// CHECK-NOT: cgx.all_reduce
// CHECK: return
func.func @no_reduction(%g: tensor<32x64xf32>, %h: tensor<32x64xf32>)
    -> (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>) {
  %c = stablehlo.constant dense<3.0> : tensor<32x64xf32>
  %0 = cgx.permute(%g) groups(#g) id(0) layer(#x) source_target_pairs([[0, 1], [1, 2], [2, 3], [3, 0]]) : tensor<32x64xf32>
  %1 = stablehlo.add %g, %0 : tensor<32x64xf32>
  %2 = stablehlo.multiply %g, %c : tensor<32x64xf32>
  %3 = cgx.permute(%g) groups(#g) id(1) layer(#x) source_target_pairs([[0, 1], [1, 0], [2, 3], [3, 2]]) : tensor<32x64xf32>
  %4 = stablehlo.add %2, %3 : tensor<32x64xf32>
  %5 = stablehlo.add %h, %3 : tensor<32x64xf32>
  %6 = stablehlo.multiply %g, %3 : tensor<32x64xf32>
  return %1, %4, %5, %6 : tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>
}

// CHECK-LABEL: func @gathers
// CHECK-SAME: (%[[G:[a-z0-9]+]]: tensor<32x64xf32>
func.func @gathers(%g: tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>) {
  // CHECK-NOT: cgx.all_gather
  // CHECK: %[[A:.*]] = cgx.all_reduce sum
  // CHECK: %[[B:.*]] = cgx.all_reduce sum(%[[G]])
  // CHECK: return %[[A]], %[[B]]
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reshape %g : (tensor<32x64xf32>) -> tensor<1x32x64xf32>
  %1 = cgx.all_gather(%0) dim(0) groups(#g) id(0) layer(#x) : (tensor<1x32x64xf32>) -> tensor<4x32x64xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x32x64xf32>, tensor<f32>) -> tensor<32x64xf32>
  %3 = cgx.all_gather(%g) dim(0) groups(#g) id(1) layer(#x) : (tensor<32x64xf32>) -> tensor<128x64xf32>
  %4 = stablehlo.reshape %3 : (tensor<128x64xf32>) -> tensor<4x32x64xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x32x64xf32>, tensor<f32>) -> tensor<32x64xf32>
  return %2, %5 : tensor<32x64xf32>, tensor<32x64xf32>
}

// Other dimensions, other reductions, and gathers that somebody else reads stay.
// CHECK-LABEL: func @other_gathers
// CHECK-NOT: cgx.all_reduce
// CHECK: return
func.func @other_gathers(%g: tensor<4x64xf32>) -> (tensor<64xf32>, tensor<16xf32>, tensor<64xf32>, tensor<16x64xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = cgx.all_gather(%g) dim(0) groups(#g) id(0) layer(#x) : (tensor<4x64xf32>) -> tensor<16x64xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<16x64xf32>, tensor<f32>) -> tensor<64xf32>
  %2 = cgx.all_gather(%g) dim(0) groups(#g) id(1) layer(#x) : (tensor<4x64xf32>) -> tensor<16x64xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<16x64xf32>, tensor<f32>) -> tensor<16xf32>
  %4 = stablehlo.slice %g [0:1, 0:64] : (tensor<4x64xf32>) -> tensor<1x64xf32>
  %5 = cgx.all_gather(%4) dim(0) groups(#g) id(2) layer(#x) : (tensor<1x64xf32>) -> tensor<4x64xf32>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<4x64xf32>, tensor<f32>) -> tensor<64xf32>
  return %1, %3, %6, %0 : tensor<64xf32>, tensor<16xf32>, tensor<64xf32>, tensor<16x64xf32>
}

// CHECK-LABEL: func @exchanges
// CHECK-SAME: (%[[G:[a-z0-9]+]]: tensor<32x64xf32>, %[[H:[a-z0-9]+]]: tensor<4x8x64xf32>
func.func @exchanges(%g: tensor<32x64xf32>, %h: tensor<4x8x64xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  // CHECK-NOT: cgx.all_to_all
  // CHECK: %[[A:.*]] = cgx.reduce_scatter sum(%[[H]]) {{.*}}dim(0){{.*}} : (tensor<4x8x64xf32>) -> tensor<1x8x64xf32>
  // CHECK: %[[B:.*]] = stablehlo.reshape %[[A]] : (tensor<1x8x64xf32>) -> tensor<8x64xf32>
  // CHECK: %[[C:.*]] = cgx.reduce_scatter sum(%[[G]]) {{.*}}dim(0){{.*}} : (tensor<32x64xf32>) -> tensor<8x64xf32>
  // CHECK: return %[[B]], %[[C]]
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = cgx.all_to_all(%h) split_dim(0) concat_dim(0) groups(#g) id(0) layer(#x) : (tensor<4x8x64xf32>) -> tensor<4x8x64xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x8x64xf32>, tensor<f32>) -> tensor<8x64xf32>
  %2 = cgx.all_to_all(%g) split_dim(0) concat_dim(0) groups(#g) id(1) layer(#x) : (tensor<32x64xf32>) -> tensor<32x64xf32>
  %3 = stablehlo.reshape %2 : (tensor<32x64xf32>) -> tensor<4x8x64xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x8x64xf32>, tensor<f32>) -> tensor<8x64xf32>
  return %1, %4 : tensor<8x64xf32>, tensor<8x64xf32>
}
}
