// Reductions of gradients move after products that have fewer bytes, and stay otherwise.
// RUN: cgx-opt %s --split-input-file --cgx-reduce-products | FileCheck %s

// Low-rank adapters: both products are reduced, and have the names of their parameters.
// CHECK-LABEL: @adapters
// CHECK:         @main(%[[A:.*]]: tensor<64x4xf32> {{.*}}, %[[B:.*]]: tensor<4x128xf32> {{.*}}, %[[X:.*]]: tensor<16x64xf32>
module @adapters attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(
      %a: tensor<64x4xf32> {cgx.name = "state['l0']['a']", cgx.sharding = #cgx.sharding<[[], []]>},
      %b: tensor<4x128xf32> {cgx.name = "state['l0']['b']", cgx.sharding = #cgx.sharding<[[], []]>},
      %x: tensor<16x64xf32> {cgx.name = "batch['x']"}, %base: tensor<64x128xf32> {cgx.name = "base"})
      -> (tensor<64x4xf32> {cgx.name = "result[0]['l0']['a']", cgx.feeds = 0 : i64},
          tensor<4x128xf32> {cgx.name = "result[0]['l0']['b']", cgx.feeds = 1 : i64}) {
    // CHECK: %[[Y:.*]] = stablehlo.dot_general %[[X]]
    // CHECK-NEXT: %[[DW:.*]] = stablehlo.dot_general %[[Y]], %[[X]]
    // CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %[[DW]]
    // CHECK: %[[M:.*]] = stablehlo.multiply %[[T]]
    // CHECK-NEXT: %[[DA:.*]] = stablehlo.dot_general %[[M]], %[[B]]
    // CHECK-NEXT: %[[RA:.*]] = cgx.all_reduce sum(%[[DA]]) {{.*}}id(1) layer("l0/a", gradient, [64, 4]) : tensor<64x4xf32>
    // CHECK-NEXT: %[[DB:.*]] = stablehlo.dot_general %[[A]], %[[M]]
    // CHECK-NEXT: %[[RB:.*]] = cgx.all_reduce sum(%[[DB]]) {{.*}}id(2) layer("l0/b", gradient, [4, 128]) : tensor<4x128xf32>
    // CHECK-NEXT: stablehlo.subtract %[[A]], %[[RA]]
    // CHECK-NEXT: stablehlo.subtract %[[B]], %[[RB]]
    %ab = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x4xf32>, tensor<4x128xf32>) -> tensor<64x128xf32>
    %w = stablehlo.add %base, %ab : tensor<64x128xf32>
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x64xf32>, tensor<64x128xf32>) -> tensor<16x128xf32>
    %dw = stablehlo.dot_general %y, %x, contracting_dims = [0] x [0] : (tensor<16x128xf32>, tensor<16x64xf32>) -> tensor<128x64xf32>
    %g = cgx.all_reduce sum(%dw) groups([[0, 1]]) id(0) layer("l0", gradient, [128, 64]) : tensor<128x64xf32>
    %t = stablehlo.transpose %g, dims = [1, 0] : (tensor<128x64xf32>) -> tensor<64x128xf32>
    %half = stablehlo.constant dense<0.5> : tensor<64x128xf32>
    %mean = stablehlo.multiply %t, %half : tensor<64x128xf32>
    %da = stablehlo.dot_general %mean, %b, contracting_dims = [1] x [1] : (tensor<64x128xf32>, tensor<4x128xf32>) -> tensor<64x4xf32>
    %db = stablehlo.dot_general %a, %mean, contracting_dims = [0] x [0] : (tensor<64x4xf32>, tensor<64x128xf32>) -> tensor<4x128xf32>
    %a1 = stablehlo.subtract %a, %da : tensor<64x4xf32>
    %b1 = stablehlo.subtract %b, %db : tensor<4x128xf32>
    return %a1, %b1 : tensor<64x4xf32>, tensor<4x128xf32>
  }
}

// -----

// Factors of full rank: the products are more bytes than the gradient.
// CHECK-LABEL: @full_rank
// CHECK: %[[G:.*]] = cgx.all_reduce sum({{.*}}layer("l0", gradient, [8, 8]) : tensor<8x8xf32>
// CHECK: stablehlo.dot_general %[[G]]
// CHECK-NOT: cgx.all_reduce
module @full_rank attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(
      %a: tensor<8x8xf32> {cgx.name = "state['l0']['a']", cgx.sharding = #cgx.sharding<[[], []]>},
      %b: tensor<8x8xf32> {cgx.name = "state['l0']['b']", cgx.sharding = #cgx.sharding<[[], []]>}, %x: tensor<8x8xf32>)
      -> (tensor<8x8xf32> {cgx.feeds = 0 : i64}, tensor<8x8xf32> {cgx.feeds = 1 : i64}) {
    %g = cgx.all_reduce sum(%x) groups([[0, 1]]) id(0) layer("l0", gradient, [8, 8]) : tensor<8x8xf32>
    %da = stablehlo.dot_general %g, %b, contracting_dims = [1] x [1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %db = stablehlo.dot_general %a, %g, contracting_dims = [0] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %a1 = stablehlo.subtract %a, %da : tensor<8x8xf32>
    %b1 = stablehlo.subtract %b, %db : tensor<8x8xf32>
    return %a1, %b1 : tensor<8x8xf32>, tensor<8x8xf32>
  }
}

// -----

// The gradient is used as a whole, too: by the weight itself.
// CHECK-LABEL: @used_elsewhere
// CHECK: %[[G:.*]] = cgx.all_reduce sum({{.*}}layer("w", gradient, [64, 128]) : tensor<64x128xf32>
// CHECK: stablehlo.dot_general %[[G]]
// CHECK-NOT: cgx.all_reduce
module @used_elsewhere attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(
      %w: tensor<64x128xf32> {cgx.sharding = #cgx.sharding<[[], []]>},
      %b: tensor<4x128xf32> {cgx.sharding = #cgx.sharding<[[], []]>}, %a: tensor<64x4xf32> {cgx.sharding = #cgx.sharding<[[], []]>},
      %x: tensor<64x128xf32>)
      -> (tensor<64x128xf32> {cgx.feeds = 0 : i64}, tensor<4x128xf32> {cgx.feeds = 1 : i64}, tensor<64x4xf32> {cgx.feeds = 2 : i64}) {
    %g = cgx.all_reduce sum(%x) groups([[0, 1]]) id(0) layer("w", gradient, [64, 128]) : tensor<64x128xf32>
    %da = stablehlo.dot_general %g, %b, contracting_dims = [1] x [1] : (tensor<64x128xf32>, tensor<4x128xf32>) -> tensor<64x4xf32>
    %w1 = stablehlo.subtract %w, %g : tensor<64x128xf32>
    %a1 = stablehlo.subtract %a, %da : tensor<64x4xf32>
    return %w1, %b, %a1 : tensor<64x128xf32>, tensor<4x128xf32>, tensor<64x4xf32>
  }
}

// -----

// A factor that each rank has of its own.
// CHECK-LABEL: @own_factors
// CHECK: %[[G:.*]] = cgx.all_reduce sum({{.*}}layer("w", gradient, [64, 128]) : tensor<64x128xf32>
// CHECK: stablehlo.dot_general %[[G]]
// CHECK-NOT: cgx.all_reduce
module @own_factors attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(
      %a: tensor<64x4xf32> {cgx.sharding = #cgx.sharding<[[], []]>},
      %b: tensor<4x128xf32> {cgx.sharding = #cgx.sharding<[["data"], []]>}, %x: tensor<64x128xf32>)
      -> (tensor<64x4xf32> {cgx.feeds = 0 : i64}, tensor<4x128xf32> {cgx.feeds = 1 : i64}) {
    %g = cgx.all_reduce sum(%x) groups([[0, 1]]) id(0) layer("w", gradient, [64, 128]) : tensor<64x128xf32>
    %da = stablehlo.dot_general %g, %b, contracting_dims = [1] x [1] : (tensor<64x128xf32>, tensor<4x128xf32>) -> tensor<64x4xf32>
    %a1 = stablehlo.subtract %a, %da : tensor<64x4xf32>
    return %a1, %b : tensor<64x4xf32>, tensor<4x128xf32>
  }
}
