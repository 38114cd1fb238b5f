// Reductions of which each rank keeps a slice become reduce-scatters.
// RUN: cgx-opt %s --cgx-scatter-reductions --split-input-file | FileCheck %s

#g = #cgx.groups<[[0, 1, 2, 3]]>
#x = #cgx.layer<"", other>
module attributes {cgx.mesh = #cgx.mesh<["data" = 4]>, cgx.num_ranks = 4 : i64, mhlo.num_partitions = 4 : i32} {

// lax.pmean, axis_index and dynamic_slice_in_dim, as JAX prints them.
// CHECK-LABEL: @zero_of_jax
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<32x8xf32>
func.func @zero_of_jax(%a: tensor<32x8xf32>) -> tensor<8x8xf32> {
  // CHECK: %[[S:.*]] = cgx.reduce_scatter sum(%[[A]])
  // CHECK-SAME: dim(0) groups({{\[}}[0, 1, 2, 3]])
  // CHECK-SAME: : (tensor<32x8xf32>) -> tensor<8x8xf32>
  // CHECK: %[[M:.*]] = stablehlo.divide %[[S]], %{{.*}} : tensor<8x8xf32>
  // CHECK-NOT: all_reduce
  // CHECK: return %[[M]]
  %0 = cgx.all_reduce sum(%a) groups(#g) id(0) layer(#x) : tensor<32x8xf32>
  %n = stablehlo.constant dense<4.0> : tensor<f32>
  %nb = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<f32>) -> tensor<32x8xf32>
  %1 = stablehlo.divide %0, %nb : tensor<32x8xf32>
  %c1 = stablehlo.constant dense<1> : tensor<ui32>
  %c4 = stablehlo.constant dense<4> : tensor<ui32>
  %2 = stablehlo.partition_id : tensor<ui32>
  %3 = stablehlo.divide %2, %c1 : tensor<ui32>
  %4 = stablehlo.remainder %3, %c4 : tensor<ui32>
  %5 = stablehlo.convert %4 : (tensor<ui32>) -> tensor<i32>
  %c8 = stablehlo.constant dense<8> : tensor<i32>
  %6 = stablehlo.multiply %5, %c8 : tensor<i32>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %7 = stablehlo.compare LT, %6, %c0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %c32 = stablehlo.constant dense<32> : tensor<i32>
  %8 = stablehlo.add %6, %c32 : tensor<i32>
  %9 = stablehlo.select %7, %8, %6 : tensor<i1>, tensor<i32>
  %10 = stablehlo.dynamic_slice %1, %9, %c0, sizes = [8, 8] : (tensor<32x8xf32>, tensor<i32>, tensor<i32>) -> tensor<8x8xf32>
  return %10 : tensor<8x8xf32>
}

// A table with an offset for each rank, as XLA's partitioner prints it, along the second dimension.
// CHECK-LABEL: @table
// CHECK: cgx.reduce_scatter mean(%{{[^,)]*}}) {{.*}}dim(1)
func.func @table(%a: tensor<8x32xf32>) -> tensor<8x8xf32> {
  %0 = cgx.all_reduce mean(%a) groups(#g) id(0) layer(#x) : tensor<8x32xf32>
  %table = stablehlo.constant dense<[0, 8, 16, 24]> : tensor<4xi32>
  %rank = stablehlo.partition_id : tensor<ui32>
  %1 = stablehlo.dynamic_slice %table, %rank, sizes = [1] : (tensor<4xi32>, tensor<ui32>) -> tensor<1xi32>
  %2 = stablehlo.reshape %1 : (tensor<1xi32>) -> tensor<i32>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %3 = stablehlo.dynamic_slice %0, %c0, %2, sizes = [8, 8] : (tensor<8x32xf32>, tensor<i32>, tensor<i32>) -> tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// Flattened and padded, used by two.
// CHECK-LABEL: @flat
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<3x5xf32>
func.func @flat(%a: tensor<3x5xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[V:.*]] = stablehlo.reshape %[[A]] : (tensor<3x5xf32>) -> tensor<15xf32>
  // CHECK: %[[P:.*]] = stablehlo.pad %[[V]]
  // CHECK: %[[S:.*]] = cgx.reduce_scatter sum(%[[P]]) {{.*}} : (tensor<16xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[N:.*]] = stablehlo.negate %[[S]]
  // CHECK-NEXT: return %[[S]], %[[N]]
  %0 = cgx.all_reduce sum(%a) groups(#g) id(0) layer(#x) : tensor<3x5xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reshape %0 : (tensor<3x5xf32>) -> tensor<15xf32>
  %2 = stablehlo.pad %1, %z, low = [0], high = [1], interior = [0] : (tensor<15xf32>, tensor<f32>) -> tensor<16xf32>
  %rank = stablehlo.partition_id : tensor<ui32>
  %c4 = stablehlo.constant dense<4> : tensor<ui32>
  %i = stablehlo.multiply %rank, %c4 : tensor<ui32>
  %3 = stablehlo.dynamic_slice %2, %i, sizes = [4] : (tensor<16xf32>, tensor<ui32>) -> tensor<4xf32>
  %4 = stablehlo.negate %2 : tensor<16xf32>
  %5 = stablehlo.dynamic_slice %4, %i, sizes = [4] : (tensor<16xf32>, tensor<ui32>) -> tensor<4xf32>
  return %3, %5 : tensor<4xf32>, tensor<4xf32>
}

// Slices in reverse order: the group is reversed.
// CHECK-LABEL: @reversed
// CHECK: cgx.reduce_scatter sum(%{{[^,)]*}}) {{.*}}groups({{\[}}[3, 2, 1, 0]])
func.func @reversed(%a: tensor<16xf32>) -> tensor<4xf32> {
  %0 = cgx.all_reduce sum(%a) groups(#g) id(0) layer(#x) : tensor<16xf32>
  %rank = stablehlo.partition_id : tensor<ui32>
  %c3 = stablehlo.constant dense<3> : tensor<ui32>
  %c4 = stablehlo.constant dense<4> : tensor<ui32>
  %1 = stablehlo.subtract %c3, %rank : tensor<ui32>
  %i = stablehlo.multiply %1, %c4 : tensor<ui32>
  %2 = stablehlo.dynamic_slice %0, %i, sizes = [4] : (tensor<16xf32>, tensor<ui32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// One operand of two; the other one stays.
// CHECK-LABEL: @variadic
// CHECK: cgx.all_reduce sum(%{{[^,)]*}}) {{.*}} : tensor<f32>
// CHECK: cgx.reduce_scatter sum
func.func @variadic(%a: tensor<16xf32>, %l: tensor<f32>) -> (tensor<4xf32>, tensor<f32>) {
  %0:2 = cgx.all_reduce sum(%a, %l) groups(#g) id(0) layer(#x) layer(#x) : tensor<16xf32>, tensor<f32>
  %rank = stablehlo.partition_id : tensor<ui32>
  %c4 = stablehlo.constant dense<4> : tensor<ui32>
  %i = stablehlo.multiply %rank, %c4 : tensor<ui32>
  %2 = stablehlo.dynamic_slice %0#0, %i, sizes = [4] : (tensor<16xf32>, tensor<ui32>) -> tensor<4xf32>
  return %2, %0#1 : tensor<4xf32>, tensor<f32>
}

// The second operand of two; the first one stays.
// CHECK-LABEL: @variadic_second
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<16xf32>, %[[L:[a-z0-9]+]]: tensor<f32>
// CHECK-DAG: %[[S:.*]] = cgx.all_reduce sum(%[[L]]) {{.*}} : tensor<f32>
// CHECK-DAG: %[[P:.*]] = cgx.reduce_scatter sum(%[[A]])
// CHECK: return %[[P]], %[[S]]
func.func @variadic_second(%a: tensor<16xf32>, %l: tensor<f32>) -> (tensor<4xf32>, tensor<f32>) {
  %0:2 = cgx.all_reduce sum(%l, %a) groups(#g) id(0) layer(#x) layer(#x) : tensor<f32>, tensor<16xf32>
  %rank = stablehlo.partition_id : tensor<ui32>
  %c4 = stablehlo.constant dense<4> : tensor<ui32>
  %i = stablehlo.multiply %rank, %c4 : tensor<ui32>
  %2 = stablehlo.dynamic_slice %0#1, %i, sizes = [4] : (tensor<16xf32>, tensor<ui32>) -> tensor<4xf32>
  return %2, %0#0 : tensor<4xf32>, tensor<f32>
}

// Two ranks keep the same slice; an index that nobody knows; slices that overlap; the whole is read, too;
// slices in two dimensions; an index that is clamped onto the last slice for two ranks.
// CHECK-LABEL: @not_own
// CHECK-COUNT-6: cgx.all_reduce
// CHECK-NOT: cgx.reduce_scatter
// CHECK: return
func.func @not_own(%a: tensor<16xf32>, %j: tensor<i32>, %m: tensor<4x4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<16xf32>, tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>) {
  %rank = stablehlo.partition_id : tensor<ui32>
  %c2 = stablehlo.constant dense<2> : tensor<ui32>
  %c4 = stablehlo.constant dense<4> : tensor<ui32>
  %c8 = stablehlo.constant dense<8> : tensor<ui32>
  %half = stablehlo.divide %rank, %c2 : tensor<ui32>
  %i0 = stablehlo.multiply %half, %c4 : tensor<ui32>
  %0 = cgx.all_reduce sum(%a) groups(#g) id(0) layer(#x) : tensor<16xf32>
  %r0 = stablehlo.dynamic_slice %0, %i0, sizes = [4] : (tensor<16xf32>, tensor<ui32>) -> tensor<4xf32>
  %1 = cgx.all_reduce sum(%a) groups(#g) id(1) layer(#x) : tensor<16xf32>
  %r1 = stablehlo.dynamic_slice %1, %j, sizes = [4] : (tensor<16xf32>, tensor<i32>) -> tensor<4xf32>
  %i2 = stablehlo.multiply %rank, %c2 : tensor<ui32>
  %2 = cgx.all_reduce sum(%a) groups(#g) id(2) layer(#x) : tensor<16xf32>
  %r2 = stablehlo.dynamic_slice %2, %i2, sizes = [4] : (tensor<16xf32>, tensor<ui32>) -> tensor<4xf32>
  %i3 = stablehlo.multiply %rank, %c4 : tensor<ui32>
  %3 = cgx.all_reduce sum(%a) groups(#g) id(3) layer(#x) : tensor<16xf32>
  %r3 = stablehlo.dynamic_slice %3, %i3, sizes = [4] : (tensor<16xf32>, tensor<ui32>) -> tensor<4xf32>
  %odd = stablehlo.remainder %rank, %c2 : tensor<ui32>
  %i4 = stablehlo.multiply %half, %c2 : tensor<ui32>
  %i5 = stablehlo.multiply %odd, %c2 : tensor<ui32>
  %4 = cgx.all_reduce sum(%m) groups(#g) id(4) layer(#x) : tensor<4x4xf32>
  %r4 = stablehlo.dynamic_slice %4, %i4, %i5, sizes = [2, 2] : (tensor<4x4xf32>, tensor<ui32>, tensor<ui32>) -> tensor<2x2xf32>
  %i6 = stablehlo.multiply %rank, %c8 : tensor<ui32>
  %5 = cgx.all_reduce sum(%a) groups(#g) id(5) layer(#x) : tensor<16xf32>
  %r5 = stablehlo.dynamic_slice %5, %i6, sizes = [4] : (tensor<16xf32>, tensor<ui32>) -> tensor<4xf32>
  return %r0, %r1, %r2, %3, %r3, %r4, %r5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<16xf32>, tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>
}
}

// -----

// Two axes: slices over the second axis of reductions over it, and over both, the first one fastest.
#x = #cgx.layer<"", other>
module attributes {cgx.mesh = #cgx.mesh<["data" = 2, "model" = 2]>, cgx.num_ranks = 4 : i64, mhlo.num_partitions = 4 : i32} {
// CHECK-LABEL: @two_axes
// CHECK: cgx.reduce_scatter sum(%{{[^,)]*}}) {{.*}}groups({{\[}}[0, 1], [2, 3]])
// CHECK: cgx.reduce_scatter sum(%{{[^,)]*}}) {{.*}}groups({{\[}}[0, 2, 1, 3]])
// CHECK: cgx.all_reduce sum(%{{[^,)]*}}) {{.*}}groups({{\[}}[0, 2], [1, 3]])
func.func @two_axes(%a: tensor<16xf32>) -> (tensor<8xf32>, tensor<4xf32>, tensor<8xf32>) {
  %rank = stablehlo.partition_id : tensor<ui32>
  %c2 = stablehlo.constant dense<2> : tensor<ui32>
  %c4 = stablehlo.constant dense<4> : tensor<ui32>
  %c8 = stablehlo.constant dense<8> : tensor<ui32>
  %data = stablehlo.divide %rank, %c2 : tensor<ui32>
  %model = stablehlo.remainder %rank, %c2 : tensor<ui32>
  %i0 = stablehlo.multiply %model, %c8 : tensor<ui32>
  %0 = cgx.all_reduce sum(%a) groups([[0, 1], [2, 3]]) id(0) layer(#x) : tensor<16xf32>
  %r0 = stablehlo.dynamic_slice %0, %i0, sizes = [8] : (tensor<16xf32>, tensor<ui32>) -> tensor<8xf32>
  %m2 = stablehlo.multiply %model, %c2 : tensor<ui32>
  %index = stablehlo.add %m2, %data : tensor<ui32>
  %i1 = stablehlo.multiply %index, %c4 : tensor<ui32>
  %1 = cgx.all_reduce sum(%a) groups([[0, 1, 2, 3]]) id(1) layer(#x) : tensor<16xf32>
  %r1 = stablehlo.dynamic_slice %1, %i1, sizes = [4] : (tensor<16xf32>, tensor<ui32>) -> tensor<4xf32>
  // The slices are those of the other axis.
  %2 = cgx.all_reduce sum(%a) groups([[0, 2], [1, 3]]) id(2) layer(#x) : tensor<16xf32>
  %r2 = stablehlo.dynamic_slice %2, %i0, sizes = [8] : (tensor<16xf32>, tensor<ui32>) -> tensor<8xf32>
  return %r0, %r1, %r2 : tensor<8xf32>, tensor<4xf32>, tensor<8xf32>
}
}

// -----

// Two slices, each kept by two of four ranks: hybrid sharding.
#x = #cgx.layer<"", other>
module attributes {cgx.mesh = #cgx.mesh<["replica" = 2, "shard" = 2]>, cgx.num_ranks = 4 : i64, mhlo.num_partitions = 4 : i32} {

// The slice is that of the position along the minor axis.
// CHECK-LABEL: @kept_along_the_minor_axis
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<8x4xf32>
func.func @kept_along_the_minor_axis(%a: tensor<8x4xf32>) -> tensor<4x4xf32> {
  // CHECK: %[[S:.*]] = cgx.reduce_scatter mean(%[[A]])
  // CHECK-SAME: dim(0) groups({{\[}}[0, 1], [2, 3]])
  // CHECK-SAME: : (tensor<8x4xf32>) -> tensor<4x4xf32>
  // CHECK: %[[R:.*]] = cgx.all_reduce mean(%[[S]])
  // CHECK-SAME: groups({{\[}}[0, 2], [1, 3]])
  // CHECK-SAME: : tensor<4x4xf32>
  // CHECK-NOT: all_reduce
  // CHECK: return %[[R]]
  %0 = cgx.all_reduce mean(%a) groups([[0, 1, 2, 3]]) id(0) layer(#x) : tensor<8x4xf32>
  %rank = stablehlo.partition_id : tensor<ui32>
  %c0 = stablehlo.constant dense<0> : tensor<ui32>
  %c2 = stablehlo.constant dense<2> : tensor<ui32>
  %c4 = stablehlo.constant dense<4> : tensor<ui32>
  %1 = stablehlo.remainder %rank, %c2 : tensor<ui32>
  %2 = stablehlo.multiply %1, %c4 : tensor<ui32>
  %3 = stablehlo.dynamic_slice %0, %2, %c0, sizes = [4, 4] : (tensor<8x4xf32>, tensor<ui32>, tensor<ui32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// Along the major axis, the upper slice first.
// CHECK-LABEL: @kept_along_the_major_axis
// CHECK: cgx.reduce_scatter sum(%{{[^,)]*}}) {{.*}}dim(1) groups({{\[}}[2, 0], [3, 1]])
// CHECK: cgx.all_reduce sum(%{{[^,)]*}}) {{.*}}groups({{\[}}[2, 3], [0, 1]])
func.func @kept_along_the_major_axis(%a: tensor<4x8xf32>) -> tensor<4x4xf32> {
  %0 = cgx.all_reduce sum(%a) groups([[0, 1, 2, 3]]) id(0) layer(#x) : tensor<4x8xf32>
  %table = stablehlo.constant dense<[4, 4, 0, 0]> : tensor<4xi32>
  %rank = stablehlo.partition_id : tensor<ui32>
  %1 = stablehlo.dynamic_slice %table, %rank, sizes = [1] : (tensor<4xi32>, tensor<ui32>) -> tensor<1xi32>
  %2 = stablehlo.reshape %1 : (tensor<1xi32>) -> tensor<i32>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %3 = stablehlo.dynamic_slice %0, %c0, %2, sizes = [4, 4] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// Three ranks keep one slice and one the other.
// CHECK-LABEL: @kept_unevenly
// CHECK: cgx.all_reduce
// CHECK-NOT: cgx.reduce_scatter
func.func @kept_unevenly(%a: tensor<4x8xf32>) -> tensor<4x4xf32> {
  %0 = cgx.all_reduce sum(%a) groups([[0, 1, 2, 3]]) id(0) layer(#x) : tensor<4x8xf32>
  %table = stablehlo.constant dense<[0, 0, 0, 4]> : tensor<4xi32>
  %rank = stablehlo.partition_id : tensor<ui32>
  %1 = stablehlo.dynamic_slice %table, %rank, sizes = [1] : (tensor<4xi32>, tensor<ui32>) -> tensor<1xi32>
  %2 = stablehlo.reshape %1 : (tensor<1xi32>) -> tensor<i32>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %3 = stablehlo.dynamic_slice %0, %c0, %2, sizes = [4, 4] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}
}

// -----

// A rank that the program does not have: what cgx-verify-program refuses.
#x = #cgx.layer<"", other>
module attributes {cgx.num_ranks = 4 : i64, mhlo.num_partitions = 4 : i32} {
// CHECK-LABEL: @rank_beyond
// CHECK: cgx.all_reduce
// CHECK-NOT: cgx.reduce_scatter
func.func @rank_beyond(%a: tensor<8xf32>) -> tensor<4xf32> {
  %0 = cgx.all_reduce sum(%a) groups([[0, 1], [2, 999999999]]) id(0) layer(#x) : tensor<8xf32>
  %table = stablehlo.constant dense<[0, 4, 0, 4]> : tensor<4xi32>
  %rank = stablehlo.partition_id : tensor<ui32>
  %1 = stablehlo.dynamic_slice %table, %rank, sizes = [1] : (tensor<4xi32>, tensor<ui32>) -> tensor<1xi32>
  %2 = stablehlo.reshape %1 : (tensor<1xi32>) -> tensor<i32>
  %3 = stablehlo.dynamic_slice %0, %2, sizes = [4] : (tensor<8xf32>, tensor<i32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
}
