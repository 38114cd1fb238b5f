// Ranks that differ along other axes of the mesh train together: what stays inside of such an island is kept, what is
// reduced over both keeps the part inside.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics --cgx-local-steps="every=2 axes=replica" | FileCheck %s

#within = #cgx.groups<[[0, 1], [2, 3]]>
#across = #cgx.groups<[[0, 2], [1, 3]]>
#all = #cgx.groups<[[0, 1, 2, 3]]>
module attributes {cgx.mesh = #cgx.mesh<["replica" = 2, "shard" = 2]>, cgx.num_ranks = 4 : i64} {
  // CHECK-LABEL: func.func public @main
  // CHECK: cgx.reduce_scatter sum(%arg2) {{.*}} groups({{\[\[}}0, 1], [2, 3]]) {{.*}} layer("w", gradient, [2])
  // CHECK-NOT: cgx.all_reduce {{.*}} layer("w", gradient
  // CHECK: cgx.all_reduce mean(%arg3) {{.*}} groups({{\[\[}}0, 1], [2, 3]]) {{.*}} layer("b", gradient, [4])
  // CHECK-NOT: layer("b", gradient, [4])
  // CHECK: stablehlo.if
  // CHECK-DAG: cgx.all_reduce mean({{.*}} groups({{\[\[}}0, 2], [1, 3]]) {{.*}} layer("w", outer_gradient, [2])
  // CHECK-DAG: cgx.all_reduce mean({{.*}} groups({{\[\[}}0, 2], [1, 3]]) {{.*}} layer("b", outer_gradient, [4])
  func.func public @main(
      %w: tensor<2xf32> {cgx.name = "params['w']", cgx.sharding = #cgx.sharding<[["shard"]]>, cgx.global_type = tensor<4xf32>},
      %b: tensor<4xf32> {cgx.name = "params['b']"}, %x: tensor<4xf32> {cgx.name = "x"}, %y: tensor<4xf32> {cgx.name = "y"})
      -> (tensor<2xf32> {cgx.name = "result['w']", cgx.feeds = 0 : i64}, tensor<4xf32> {cgx.name = "result['b']", cgx.feeds = 1 : i64}) {
    %s = cgx.reduce_scatter sum(%x) dim(0) groups(#within) id(0) layer("w", gradient, [2]) : (tensor<4xf32>) -> tensor<2xf32>
    %g = cgx.all_reduce mean(%s) groups(#across) id(1) layer("w", gradient, [2]) : tensor<2xf32>
    %h = cgx.all_reduce mean(%y) groups(#all) id(2) layer("b", gradient, [4]) : tensor<4xf32>
    %w1 = stablehlo.subtract %w, %g : tensor<2xf32>
    %b1 = stablehlo.subtract %b, %h : tensor<4xf32>
    return %w1, %b1 : tensor<2xf32>, tensor<4xf32>
  }
}

// -----

#within = #cgx.groups<[[0, 1], [2, 3]]>
module attributes {cgx.mesh = #cgx.mesh<["replica" = 2, "shard" = 2]>, cgx.num_ranks = 4 : i64} {
  // expected-error @below {{local steps: expected gradients that are all-reduced along axes [replica], found none in the step}}
  func.func public @main(%w: tensor<4xf32> {cgx.name = "params['w']"}, %x: tensor<4xf32> {cgx.name = "x"})
      -> (tensor<4xf32> {cgx.name = "result['w']", cgx.feeds = 0 : i64}) {
    %g = cgx.all_reduce mean(%x) groups(#within) id(0) layer("w", gradient, [4]) : tensor<4xf32>
    %w1 = stablehlo.subtract %w, %g : tensor<4xf32>
    return %w1 : tensor<4xf32>
  }
}

// -----

module attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  // expected-error @below {{local steps: expected axes to be some of the mesh #cgx.mesh<["data" = 2]>, got 'replica'}}
  func.func public @main(%w: tensor<4xf32> {cgx.name = "params['w']"}, %x: tensor<4xf32> {cgx.name = "x"})
      -> (tensor<4xf32> {cgx.name = "result['w']", cgx.feeds = 0 : i64}) {
    %g = cgx.all_reduce mean(%x) groups(#cgx.groups<[[0, 1]]>) id(0) layer("w", gradient, [4]) : tensor<4xf32>
    %w1 = stablehlo.subtract %w, %g : tensor<4xf32>
    return %w1 : tensor<4xf32>
  }
}

// -----

#all = #cgx.groups<[[0, 1, 2, 3]]>
module attributes {cgx.mesh = #cgx.mesh<["replica" = 2, "shard" = 2]>, cgx.num_ranks = 4 : i64} {
  func.func public @main(%w: tensor<4xf32> {cgx.name = "params['w']"}, %x: tensor<16xf32> {cgx.name = "x"})
      -> (tensor<4xf32> {cgx.name = "result['w']", cgx.feeds = 0 : i64}) {
    // expected-error @below {{local steps: layer 'w': expected a gradient that leaves the ranks that train together to be all-reduced over all ranks along axes [replica], by sum or mean, got reduce_scatter over #cgx.groups<[[0, 1, 2, 3]]>}}
    %g = cgx.reduce_scatter sum(%x) dim(0) groups(#all) id(0) layer("w", gradient, [4]) : (tensor<16xf32>) -> tensor<4xf32>
    %w1 = stablehlo.subtract %w, %g : tensor<4xf32>
    return %w1 : tensor<4xf32>
  }
}
