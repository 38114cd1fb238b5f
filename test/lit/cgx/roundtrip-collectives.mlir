// Every collective and every attribute reads back what it prints, in both forms.
// RUN: cgx-opt %s --verify-roundtrip | FileCheck %s
// RUN: cgx-opt %s --mlir-print-op-generic | cgx-opt | FileCheck %s

// CHECK: module attributes {cgx.mesh = #cgx.mesh<["data" = 4, "model" = 2]>, cgx.num_ranks = 8 : i64}
module attributes {cgx.mesh = #cgx.mesh<["data" = 4, "model" = 2]>, cgx.num_ranks = 8 : i64} {

// CHECK-LABEL: func @all_reduce
func.func @all_reduce(%a: tensor<4xf32>, %b: tensor<64x128xf32>) -> (tensor<4xf32>, tensor<64x128xf32>) {
  // CHECK: cgx.all_reduce sum(%{{[^,)]*}}, %{{[^,)]*}})
  // CHECK-SAME: algorithm(scatter_reduce_allgather)
  // CHECK-SAME: codec(identity, quantize<bits = 4, bucket = 128, rounding = stochastic, scale = bf16>)
  // CHECK-SAME: groups({{\[\[}}0, 1, 2, 3], [4, 5, 6, 7]])
  // CHECK-SAME: id(0)
  // CHECK-SAME: layer("params/l1/b", gradient, [4]) layer("params/l1/w", gradient, [64, 128], stacked = 1)
  // CHECK-SAME: : tensor<4xf32>, tensor<64x128xf32>
  %r:2 = cgx.all_reduce sum(%a, %b) algorithm(scatter_reduce_allgather)
      codec(identity, quantize<bits = 4, bucket = 128, rounding = stochastic, scale = bf16>)
      groups([[0, 1, 2, 3], [4, 5, 6, 7]]) id(0) layer("params/l1/b", gradient, [4])
      layer("params/l1/w", gradient, [64, 128], stacked = 1) : tensor<4xf32>, tensor<64x128xf32>
  return %r#0, %r#1 : tensor<4xf32>, tensor<64x128xf32>
}

// CHECK-LABEL: func @algorithms
func.func @algorithms(%a: tensor<4xf32>) {
  // CHECK: algorithm(ring)
  %0 = cgx.all_reduce sum(%a) algorithm(ring) groups([[0, 1, 2, 3]]) id(30) : tensor<4xf32>
  // CHECK: algorithm(tree)
  %1 = cgx.all_reduce sum(%a) algorithm(tree) groups([[0, 1, 2, 3]]) id(31) : tensor<4xf32>
  // CHECK: algorithm(hierarchical)
  // CHECK-SAME: hierarchy(local = 2, inside = #cgx.identity, leaders = all)
  %2 = cgx.all_reduce sum(%a) algorithm(hierarchical) groups([[0, 1, 2, 3]]) hierarchy(local = 2) id(32) : tensor<4xf32>
  // CHECK: hierarchy(local = 4, inside = #cgx.natural, leaders = one)
  %h = cgx.start all_reduce sum(%a) algorithm(hierarchical) groups([[0, 1, 2, 3]])
      hierarchy(local = 4, inside = #cgx.natural, leaders = one) id(33) : tensor<4xf32>
  %3 = cgx.wait %h : !cgx.handle<tensor<4xf32>>
  return
}

// All reductions, on element types that codecs of other reductions would refuse.
// CHECK-LABEL: func @reductions
func.func @reductions(%a: tensor<3xi1>, %b: tensor<3xui8>, %c: tensor<f64>, %d: tensor<0x2xbf16>) {
  // CHECK: cgx.all_reduce max(
  %0 = cgx.all_reduce max(%a) groups([[0, 1], [2]]) id(0) : tensor<3xi1>
  // CHECK: cgx.all_reduce min(
  %1 = cgx.all_reduce min(%b) groups([[0, 1], [2]]) id(1) : tensor<3xui8>
  // CHECK: cgx.all_reduce product(
  %2 = cgx.all_reduce product(%c) groups([[0, 1], [2]]) id(2) layer("scale", weight, []) : tensor<f64>
  // CHECK: cgx.all_reduce mean(
  %3 = cgx.all_reduce mean(%d) codec(quantize<bits = 8, bucket = 1, rounding = nearest, scale = f32, checksum>)
      groups([[0, 1], [2]]) id(3) layer("a \22quoted\22/name", activation) : tensor<0x2xbf16>
  // CHECK-SAME: codec(quantize<bits = 8, bucket = 1, rounding = nearest, scale = f32, checksum>)
  // CHECK-SAME: layer("a \22quoted\22/name", activation)
  return
}

// A program for one rank has no groups and still communicates with itself.
// CHECK-LABEL: func @no_groups
func.func @no_groups(%a: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK: groups([])
  %0 = cgx.all_reduce sum(%a) groups([]) id(0) : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func @decoded_again
func.func @decoded_again(%a: tensor<8x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  // CHECK: cgx.all_gather(%arg0) {{.*}}keeps_payloads
  %0 = cgx.all_gather(%a) codec(quantize<bits = 4>) dim(0) groups([[0, 1], [2, 3]]) id(0) keeps_payloads
      layer("w", weight) : (tensor<8x16xf32>) -> tensor<16x16xf32>
  // CHECK: cgx.all_gather(%arg0) {{.*}}decodes_again(0)
  %1 = cgx.all_gather(%a) decodes_again(0) dim(0) groups([[0, 1], [2, 3]]) id(1) layer("w", weight)
      : (tensor<8x16xf32>) -> tensor<16x16xf32>
  return %0, %1 : tensor<16x16xf32>, tensor<16x16xf32>
}

// CHECK-LABEL: func @data_movement
func.func @data_movement(%a: tensor<8x16xf32>) {
  // CHECK: cgx.all_gather(%{{[^,)]*}}) {{.*}}dim(1){{.*}} : (tensor<8x16xf32>) -> tensor<8x32xf32>
  %0 = cgx.all_gather(%a) dim(1) groups([[0, 1], [2, 3]]) id(0) : (tensor<8x16xf32>) -> tensor<8x32xf32>
  // CHECK: cgx.reduce_scatter mean(%{{[^,)]*}}) {{.*}}dim(0){{.*}} : (tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = cgx.reduce_scatter mean(%a) codec(quantize<bits = 4, bucket = 128, rounding = stochastic, scale = bf16>) dim(0)
      groups([[0, 1], [2, 3]]) id(1) : (tensor<8x16xf32>) -> tensor<4x16xf32>
  // CHECK: cgx.all_to_all(%{{[^,)]*}}) {{.*}}concat_dim(1){{.*}}split_dim(0){{.*}} : (tensor<8x16xf32>) -> tensor<4x32xf32>
  %2 = cgx.all_to_all(%a) concat_dim(1) groups([[0, 1], [2, 3]]) id(2) split_dim(0)
      : (tensor<8x16xf32>) -> tensor<4x32xf32>
  // CHECK: cgx.broadcast(%{{[^,)]*}}) {{.*}}root(1){{.*}} : tensor<8x16xf32>
  %3 = cgx.broadcast(%a) groups([[0, 1], [2, 3]]) id(3) root(1) : tensor<8x16xf32>
  // CHECK: cgx.permute(%{{[^,)]*}}) {{.*}}source_target_pairs({{\[\[}}0, 1], [1, 0]]){{.*}} : tensor<8x16xf32>
  %4 = cgx.permute(%a) groups([[0, 1], [2, 3]]) id(4) source_target_pairs([[0, 1], [1, 0]]) : tensor<8x16xf32>
  // CHECK: cgx.permute(%{{[^,)]*}}) {{.*}}sends("110", "011") source_target_pairs({{\[\[}}0, 1], [1, 0]]){{.*}} : tensor<8x16xf32>
  %5 = cgx.permute(%a) groups([[0, 1], [2, 3]]) id(5) source_target_pairs([[0, 1], [1, 0]]) sends("110", "011") : tensor<8x16xf32>
  return
}

// CHECK-LABEL: func @signature(
// CHECK-SAME: cgx.global_type = tensor<64x4xf32>, cgx.name = "batch['x']", cgx.sharding = #cgx.sharding<{{\[\[}}"data", "model"], []]>
// CHECK-SAME: -> (tensor<f32> {cgx.feeds = 0 : i64, cgx.global_type = tensor<f32>, cgx.name = "result[0]", cgx.sharding = #cgx.sharding<[]>})
func.func @signature(
    %a: tensor<f32>,
    %x: tensor<8x4xf32> {cgx.name = "batch['x']", cgx.global_type = tensor<64x4xf32>,
                         cgx.sharding = #cgx.sharding<[["data", "model"], []]>})
    -> (tensor<f32> {cgx.feeds = 0 : i64, cgx.name = "result[0]", cgx.global_type = tensor<f32>,
                     cgx.sharding = #cgx.sharding<[]>}) {
  return %a : tensor<f32>
}

// Parameters that are left out take the documented values, in any order.
// CHECK-LABEL: func @quantize_defaults
// CHECK-SAME: a = #cgx.quantize<bits = 4, bucket = 128, rounding = stochastic, scale = bf16>
// CHECK-SAME: b = #cgx.quantize<bits = 2, bucket = 128, rounding = stochastic, scale = f32, checksum>
func.func @quantize_defaults() attributes {a = #cgx.quantize, b = #cgx.quantize<checksum, scale = f32, bits = 2>} {
  return
}

}
