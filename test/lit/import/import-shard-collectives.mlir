// RUN: cgx-opt %s --split-input-file --cgx-import-shard-collectives --verify-diagnostics | FileCheck %s

// CHECK-NOT: shard.grid
shard.grid @grid(shape = 2x4)

// CHECK-LABEL: func.func @collectives
func.func @collectives(%x: tensor<8x4xf32>) {
  // CHECK: cgx.all_reduce sum(%arg0) codec(identity) groups({{\[\[0, 4\], \[1, 5\], \[2, 6\], \[3, 7\]\]}}) id(0) layer("", other) : tensor<8x4xf32>
  %0 = shard.all_reduce %x on @grid grid_axes = [0] : tensor<8x4xf32> -> tensor<8x4xf32>
  // CHECK: cgx.all_reduce mean(%arg0) {{.*}}groups({{\[\[0, 1, 2, 3\], \[4, 5, 6, 7\]\]}}) id(1)
  %1 = shard.all_reduce %x on @grid grid_axes = [1] reduction = average : tensor<8x4xf32> -> tensor<8x4xf32>
  // CHECK: cgx.all_gather(%arg0) codec(identity) dim(1) groups({{\[\[0, 1, 2, 3, 4, 5, 6, 7\]\]}}) id(2){{.*}} : (tensor<8x4xf32>) -> tensor<8x32xf32>
  %2 = shard.all_gather %x on @grid grid_axes = [0, 1] gather_axis = 1 : tensor<8x4xf32> -> tensor<8x32xf32>
  // CHECK: cgx.reduce_scatter max(%arg0) codec(identity) dim(0){{.*}} : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %3 = shard.reduce_scatter %x on @grid grid_axes = [0] reduction = max scatter_axis = 0 : tensor<8x4xf32> -> tensor<4x4xf32>
  // CHECK: cgx.all_to_all(%arg0) codec(identity) concat_dim(1){{.*}}split_dim(0) : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %4 = shard.all_to_all %x on @grid grid_axes = [0] split_axis = 0 concat_axis = 1 : tensor<8x4xf32> -> tensor<4x8xf32>
  return
}

// -----

// An op without a counterpart in cgx stays, and so does its grid.
// CHECK: shard.grid @grid
shard.grid @grid(shape = 2)
func.func @unknown_reduction(%x: tensor<8xi32>) -> tensor<8xi32> {
  // CHECK: shard.all_reduce
  // expected-remark@+1 {{'shard.all_reduce' stays as it is: cgx has no reduction 'bitwise_or'}}
  %0 = shard.all_reduce %x on @grid grid_axes = [0] reduction = bitwise_or : tensor<8xi32> -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----

shard.grid @grid(shape = 2x?)
func.func @dynamic_grid(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{communicates over @grid, whose shape is not static; the ranks of a group must be known}}
  %0 = shard.all_reduce %x on @grid grid_axes = [0] : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
