// Tokens travel to their experts and back, forward and backward; what a router made is exact; sums over the axis of the
// experts' columns are activations.
// RUN: cgx-opt %s --cgx-label-layers --split-input-file | FileCheck %s

#g = #cgx.groups<[[0, 1]]>
#u = #cgx.layer<"", other>
// CHECK-LABEL: @experts
module @experts attributes {cgx.mesh = #cgx.mesh<["expert" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(
      %up: tensor<1x4x8xf32> {cgx.name = "state['experts']['up']", cgx.sharding = #cgx.sharding<[["expert"], [], []]>},
      %router: tensor<4x2xf32> {cgx.name = "state['params']['router']", cgx.sharding = #cgx.sharding<[[], []]>},
      %input: tensor<4x4xf32> {cgx.name = "state['params']['input']", cgx.sharding = #cgx.sharding<[[], []]>},
      %x: tensor<6x4xf32> {cgx.name = "batch['x']", cgx.sharding = #cgx.sharding<[["expert"], []]>})
      -> (tensor<1x4x8xf32> {cgx.name = "result[0]['experts']['up']", cgx.feeds = 0 : i64},
          tensor<4x2xf32> {cgx.name = "result[0]['params']['router']", cgx.feeds = 1 : i64},
          tensor<4x4xf32> {cgx.name = "result[0]['params']['input']", cgx.feeds = 2 : i64},
          tensor<f32> {cgx.name = "result[1]['loss']"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %izero = stablehlo.constant dense<0> : tensor<i32>
    %t = stablehlo.dot_general %x, %input, contracting_dims = [1] x [0] : (tensor<6x4xf32>, tensor<4x4xf32>) -> tensor<6x4xf32>
    // Two largest, and where each goes.
    %logits = stablehlo.dot_general %t, %router, contracting_dims = [1] x [0] : (tensor<6x4xf32>, tensor<4x2xf32>) -> tensor<6x2xf32>
    %p = stablehlo.logistic %logits : tensor<6x2xf32>
    %ids = stablehlo.iota dim = 1 : tensor<6x2xi32>
    %best:2 = stablehlo.reduce(%p init: %zero), (%ids init: %izero) across dimensions = [1]
        : (tensor<6x2xf32>, tensor<6x2xi32>, tensor<f32>, tensor<i32>) -> (tensor<6xf32>, tensor<6xi32>)
        reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
      %more = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %va = stablehlo.select %more, %a, %b : tensor<i1>, tensor<f32>
      %ia = stablehlo.select %more, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %va, %ia : tensor<f32>, tensor<i32>
    }
    %chosen = stablehlo.broadcast_in_dim %best#1, dims = [0] : (tensor<6xi32>) -> tensor<6x2xi32>
    %is = stablehlo.compare EQ, %chosen, %ids : (tensor<6x2xi32>, tensor<6x2xi32>) -> tensor<6x2xi1>
    %mask = stablehlo.convert %is : (tensor<6x2xi1>) -> tensor<6x2xf32>
    %spread = stablehlo.broadcast_in_dim %mask, dims = [0, 1] : (tensor<6x2xf32>) -> tensor<6x2x4xf32>
    %wide = stablehlo.broadcast_in_dim %t, dims = [0, 2] : (tensor<6x4xf32>) -> tensor<6x2x4xf32>
    %sent = stablehlo.multiply %spread, %wide : tensor<6x2x4xf32>
    // CHECK: cgx.all_to_all({{.*}}id({{[0-9]+}}) layer("", other)
    %mask1 = cgx.all_to_all(%mask) concat_dim(0) groups(#g) id(9) layer(#u) split_dim(1)
        : (tensor<6x2xf32>) -> tensor<12x1xf32>
    // CHECK: cgx.all_to_all({{.*}}id({{[0-9]+}}) layer("", other)
    %gates = cgx.all_to_all(%p) concat_dim(0) groups(#g) id(8) layer(#u) split_dim(1)
        : (tensor<6x2xf32>) -> tensor<12x1xf32>
    // CHECK: cgx.all_to_all({{.*}}id({{[0-9]+}}) layer("experts/up", dispatch)
    %inbox = cgx.all_to_all(%sent) concat_dim(0) groups(#g) id(0) layer(#u) split_dim(1)
        : (tensor<6x2x4xf32>) -> tensor<12x1x4xf32>
    %moved = stablehlo.transpose %inbox, dims = [1, 0, 2] : (tensor<12x1x4xf32>) -> tensor<1x12x4xf32>
    %done = stablehlo.dot_general %moved, %up, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x12x4xf32>, tensor<1x4x8xf32>) -> tensor<1x12x8xf32>
    %weights = stablehlo.multiply %gates, %mask1 : tensor<12x1xf32>
    %weight = stablehlo.reshape %weights : (tensor<12x1xf32>) -> tensor<1x12xf32>
    %weightw = stablehlo.broadcast_in_dim %weight, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x8xf32>
    %scaled = stablehlo.multiply %done, %weightw : tensor<1x12x8xf32>
    // CHECK: cgx.all_to_all({{.*}}id({{[0-9]+}}) layer("experts/up", combine)
    %outbox = cgx.all_to_all(%scaled) concat_dim(0) groups(#g) id(1) layer(#u) split_dim(1)
        : (tensor<1x12x8xf32>) -> tensor<2x6x8xf32>
    %squares = stablehlo.multiply %outbox, %outbox : tensor<2x6x8xf32>
    %mine = stablehlo.reduce(%squares init: %zero) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<f32>
    %loss = cgx.all_reduce mean(%mine) groups(#g) id(2) layer(#u) : tensor<f32>
    // Backward.
    %two = stablehlo.constant dense<2.0> : tensor<2x6x8xf32>
    %c0 = stablehlo.multiply %two, %outbox : tensor<2x6x8xf32>
    // CHECK: cgx.all_to_all({{.*}}id({{[0-9]+}}) layer("experts/up", combine_gradient)
    %c1 = cgx.all_to_all(%c0) concat_dim(1) groups(#g) id(3) layer(#u) split_dim(0)
        : (tensor<2x6x8xf32>) -> tensor<1x12x8xf32>
    %c2 = stablehlo.multiply %c1, %weightw : tensor<1x12x8xf32>
    %gup = stablehlo.dot_general %moved, %c2, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<1x12x4xf32>, tensor<1x12x8xf32>) -> tensor<1x4x8xf32>
    %c3 = stablehlo.dot_general %c2, %up, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<1x12x8xf32>, tensor<1x4x8xf32>) -> tensor<1x12x4xf32>
    %c4 = stablehlo.transpose %c3, dims = [1, 0, 2] : (tensor<1x12x4xf32>) -> tensor<12x1x4xf32>
    // CHECK: cgx.all_to_all({{.*}}id({{[0-9]+}}) layer("experts/up", dispatch_gradient)
    %c5 = cgx.all_to_all(%c4) concat_dim(1) groups(#g) id(4) layer(#u) split_dim(0)
        : (tensor<12x1x4xf32>) -> tensor<6x2x4xf32>
    %c6 = stablehlo.multiply %c5, %spread : tensor<6x2x4xf32>
    %c7 = stablehlo.reduce(%c6 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<6x2x4xf32>, tensor<f32>) -> tensor<6x4xf32>
    %ginput = stablehlo.dot_general %x, %c7, contracting_dims = [0] x [0] : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
    // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("params/input", gradient, [4, 4]) :
    %ginput1 = cgx.all_reduce mean(%ginput) groups(#g) id(5) layer(#u) : tensor<4x4xf32>
    // The gate's gradient goes the way of the gate.
    %dgate0 = stablehlo.multiply %done, %c1 : tensor<1x12x8xf32>
    %dgate1 = stablehlo.reduce(%dgate0 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<1x12x8xf32>, tensor<f32>) -> tensor<1x12xf32>
    %dgate2 = stablehlo.reshape %dgate1 : (tensor<1x12xf32>) -> tensor<12x1xf32>
    // CHECK: cgx.all_to_all({{.*}}id({{[0-9]+}}) layer("", other)
    %dgate = cgx.all_to_all(%dgate2) concat_dim(1) groups(#g) id(7) layer(#u) split_dim(0)
        : (tensor<12x1xf32>) -> tensor<6x2xf32>
    %grouter = stablehlo.dot_general %t, %dgate, contracting_dims = [0] x [0] : (tensor<6x4xf32>, tensor<6x2xf32>) -> tensor<4x2xf32>
    // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("params/router", gradient, [4, 2]) :
    %grouter1 = cgx.all_reduce mean(%grouter) groups(#g) id(6) layer(#u) : tensor<4x2xf32>
    %up1 = stablehlo.subtract %up, %gup : tensor<1x4x8xf32>
    %router1 = stablehlo.subtract %router, %grouter1 : tensor<4x2xf32>
    %input1 = stablehlo.subtract %input, %ginput1 : tensor<4x4xf32>
    return %up1, %router1, %input1, %loss : tensor<1x4x8xf32>, tensor<4x2xf32>, tensor<4x4xf32>, tensor<f32>
  }
}
