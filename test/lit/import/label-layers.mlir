// RUN: cgx-opt %s --split-input-file --cgx-label-layers | FileCheck %s

// Momentum with clipping by the global norm. The scale is a scalar of the
// gradient: nothing is followed through it. The gradient reaches parameter and
// momentum; it is computed with the parameter.

// CHECK-LABEL: @clipped_momentum
module @clipped_momentum attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(
      %m: tensor<8x4xf32> {cgx.name = "state['mom']['w']"}, %w: tensor<8x4xf32> {cgx.name = "state['params']['w']"},
      %x: tensor<16x8xf32> {cgx.name = "batch"})
      -> (tensor<8x4xf32> {cgx.name = "result[0]['mom']['w']", cgx.feeds = 0 : i64},
          tensor<8x4xf32> {cgx.name = "result[0]['params']['w']", cgx.feeds = 1 : i64},
          tensor<f32> {cgx.name = "result[1]['loss']"}) {
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    %g0 = stablehlo.dot_general %y, %x, contracting_dims = [0] x [0] : (tensor<16x4xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
    %g1 = stablehlo.transpose %g0, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    // CHECK: cgx.all_reduce sum({{.*}}id({{[0-9]+}}) layer("params/w", gradient, [8, 4]) :
    %g = cgx.all_reduce sum(%g1) groups([[0, 1]]) id(0) : tensor<8x4xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %gg = stablehlo.multiply %g, %g : tensor<8x4xf32>
    %sq = stablehlo.reduce(%gg init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
    %norm = stablehlo.rsqrt %sq : tensor<f32>
    %scale = stablehlo.broadcast_in_dim %norm, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %clipped = stablehlo.multiply %g, %scale : tensor<8x4xf32>
    %m1 = stablehlo.add %m, %clipped : tensor<8x4xf32>
    %w1 = stablehlo.subtract %w, %m1 : tensor<8x4xf32>
    // CHECK: cgx.all_reduce sum({{.*}}id({{[0-9]+}}) layer("loss", other) : tensor<f32>
    %loss = cgx.all_reduce sum(%sq) groups([[0, 1]]) id(1) : tensor<f32>
    return %m1, %w1, %loss : tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>
  }
}

// -----

// JAX with check_vma sums a gradient twice: by automatic differentiation, as
// 1x4 before a reduction over that 1, and by the user's pmean. An operand in half
// precision; a variadic collective; a text whose arguments have no names.

// CHECK-LABEL: @summed_twice
module @summed_twice attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%b: tensor<4xf32> {cgx.name = "arg0"}, %c: tensor<4xf32> {cgx.name = "arg1"}, %x: tensor<16x4xf32> {cgx.name = "arg2"})
      -> (tensor<4xf32> {cgx.name = "result[0]['b']", cgx.feeds = 0 : i64}, tensor<4xf32> {cgx.name = "result[0]['c']", cgx.feeds = 1 : i64}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %bs = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xf32>) -> tensor<16x4xf32>
    %cs = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<4xf32>) -> tensor<16x4xf32>
    %y = stablehlo.add %x, %bs : tensor<16x4xf32>
    %z = stablehlo.multiply %y, %cs : tensor<16x4xf32>
    %s = stablehlo.reduce(%z init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<16x4xf32>, tensor<f32>) -> tensor<4xf32>
    %s1 = stablehlo.reshape %s : (tensor<4xf32>) -> tensor<1x4xf32>
    // CHECK: cgx.all_reduce sum({{.*}}id({{[0-9]+}}) layer("b", gradient, [4]) : tensor<1x4xf32>
    %g0 = cgx.all_reduce sum(%s1) groups([[0, 1]]) id(0) : tensor<1x4xf32>
    %g1 = stablehlo.reduce(%g0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1x4xf32>, tensor<f32>) -> tensor<4xf32>
    %h1 = stablehlo.convert %s : (tensor<4xf32>) -> tensor<4xbf16>
    // CHECK: cgx.all_reduce sum({{.*}}id({{[0-9]+}}) layer("b", gradient, [4]) layer("c", gradient, [4]) :
    %gh:2 = cgx.all_reduce sum(%g1, %h1) groups([[0, 1]]) id(1) : tensor<4xf32>, tensor<4xbf16>
    %h = stablehlo.convert %gh#1 : (tensor<4xbf16>) -> tensor<4xf32>
    %b1 = stablehlo.subtract %b, %gh#0 : tensor<4xf32>
    %c1 = stablehlo.subtract %c, %h : tensor<4xf32>
    return %b1, %c1 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// Batch normalization with statistics of the whole batch: they feed the running
// statistics, but the step computes with them; they are no gradient. Partial
// products summed over the model axis are activations.

// CHECK-LABEL: @statistics_and_activations
module @statistics_and_activations attributes {cgx.mesh = #cgx.mesh<["data" = 2, "model" = 2]>, cgx.num_ranks = 4 : i64} {
  func.func public @main(
      %mean: tensor<4xf32> {cgx.name = "state['batch_stats']['mean']"}, %w: tensor<8x4xf32> {cgx.name = "state['params']['w']"},
      %x: tensor<16x8xf32> {cgx.name = "batch"})
      -> (tensor<4xf32> {cgx.name = "result['batch_stats']['mean']", cgx.feeds = 0 : i64},
          tensor<8x4xf32> {cgx.name = "result['params']['w']", cgx.feeds = 1 : i64}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    // CHECK: cgx.all_reduce sum({{.*}}id({{[0-9]+}}) layer("params/w", activation) :
    %y = cgx.all_reduce sum(%p) groups([[0, 1], [2, 3]]) id(0) : tensor<16x4xf32>
    %s = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<16x4xf32>, tensor<f32>) -> tensor<4xf32>
    // CHECK: cgx.all_reduce sum({{.*}}id({{[0-9]+}}) layer("batch_stats/mean", other, [4]) :
    %batch = cgx.all_reduce sum(%s) groups([[0, 2], [1, 3]]) id(1) : tensor<4xf32>
    %mean1 = stablehlo.add %mean, %batch : tensor<4xf32>
    %means = stablehlo.broadcast_in_dim %batch, dims = [1] : (tensor<4xf32>) -> tensor<16x4xf32>
    %n = stablehlo.subtract %y, %means : tensor<16x4xf32>
    %g0 = stablehlo.dot_general %x, %n, contracting_dims = [0] x [0] : (tensor<16x8xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    // CHECK: cgx.all_reduce sum({{.*}}id({{[0-9]+}}) layer("params/w", gradient, [8, 4]) :
    %g = cgx.all_reduce sum(%g0) groups([[0, 2], [1, 3]]) id(2) : tensor<8x4xf32>
    %w1 = stablehlo.subtract %w, %g : tensor<8x4xf32>
    return %mean1, %w1 : tensor<4xf32>, tensor<8x4xf32>
  }
}

// -----

// Parameters in pieces (FSDP): gathered to compute with, gradients scattered.
// The gathered parameter is a weight; its gradient has the shape of the piece.

// CHECK-LABEL: @pieces
module @pieces attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%w: tensor<4x4xf32> {cgx.name = "state.params[0].w"}, %x: tensor<16x8xf32> {cgx.name = "batch"})
      -> (tensor<4x4xf32> {cgx.name = "result.params[0].w", cgx.feeds = 0 : i64}) {
    // CHECK: cgx.all_gather({{.*}}id({{[0-9]+}}) layer("params/0/w", weight, [4, 4]) :
    %whole = cgx.all_gather(%w) dim(0) groups([[0, 1]]) id(0) : (tensor<4x4xf32>) -> tensor<8x4xf32>
    %y = stablehlo.dot_general %x, %whole, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    %g0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<16x8xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    // CHECK: cgx.reduce_scatter sum({{.*}}id({{[0-9]+}}) layer("params/0/w", gradient, [4, 4]) :
    %g = cgx.reduce_scatter sum(%g0) dim(0) groups([[0, 1]]) id(1) : (tensor<8x4xf32>) -> tensor<4x4xf32>
    %w1 = stablehlo.subtract %w, %g : tensor<4x4xf32>
    return %w1 : tensor<4x4xf32>
  }
}

// -----

// Optimizer state in pieces, parameters whole (ZeRO): the gradient is scattered
// to the piece of the momentum, and the updated parameter is gathered.

// CHECK-LABEL: @state_in_pieces
module @state_in_pieces attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%w: tensor<8x4xf32> {cgx.name = "params['w']"}, %m: tensor<4x4xf32> {cgx.name = "momentum['w']"}, %x: tensor<16x8xf32> {cgx.name = "batch"}, %i: tensor<ui32> {cgx.name = "rank"})
      -> (tensor<8x4xf32> {cgx.name = "result[0]['w']", cgx.feeds = 0 : i64}, tensor<4x4xf32> {cgx.name = "result[1]['w']", cgx.feeds = 1 : i64}) {
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    %g0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<16x8xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    // CHECK: cgx.reduce_scatter sum({{.*}}id({{[0-9]+}}) layer("w", gradient, [8, 4]) :
    %g = cgx.reduce_scatter sum(%g0) dim(0) groups([[0, 1]]) id(0) : (tensor<8x4xf32>) -> tensor<4x4xf32>
    %m1 = stablehlo.add %m, %g : tensor<4x4xf32>
    %piece = stablehlo.dynamic_slice %w, %i, %i, sizes = [4, 4] : (tensor<8x4xf32>, tensor<ui32>, tensor<ui32>) -> tensor<4x4xf32>
    %p1 = stablehlo.subtract %piece, %m1 : tensor<4x4xf32>
    // CHECK: cgx.all_gather({{.*}}id({{[0-9]+}}) layer("w", weight, [8, 4]) :
    %w1 = cgx.all_gather(%p1) dim(0) groups([[0, 1]]) id(1) : (tensor<4x4xf32>) -> tensor<8x4xf32>
    return %w1, %m1 : tensor<8x4xf32>, tensor<4x4xf32>
  }
}

// -----

// Local SGD: the parameter itself is averaged. A label given by hand stays.

// CHECK-LABEL: @averaged
module @averaged attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%w: tensor<8x4xf32> {cgx.name = "params['w']"}, %x: tensor<8x4xf32> {cgx.name = "batch"})
      -> (tensor<8x4xf32> {cgx.name = "result['w']", cgx.feeds = 0 : i64}) {
    %g = stablehlo.multiply %w, %x : tensor<8x4xf32>
    %w1 = stablehlo.subtract %w, %g : tensor<8x4xf32>
    // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("w", weight, [8, 4]) :
    %w2 = cgx.all_reduce mean(%w1) groups([[0, 1]]) id(0) : tensor<8x4xf32>
    // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("mine", activation) :
    %w3 = cgx.all_reduce mean(%w2) groups([[0, 1]]) id(1) layer("mine", activation) : tensor<8x4xf32>
    return %w3 : tensor<8x4xf32>
  }
}

// -----

// Gradients in one buffer: named by what the paths have in common. A loss that is
// linear in its parameter: the gradient does not depend on it.

// CHECK-LABEL: @flattened
module @flattened attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(
      %a: tensor<4xf32> {cgx.name = "state['params']['l1']['a']"}, %b: tensor<8xf32> {cgx.name = "state['params']['l1']['b']"},
      %c: tensor<4xf32> {cgx.name = "state['params']['c']"}, %x: tensor<4xf32> {cgx.name = "batch"})
      -> (tensor<4xf32> {cgx.name = "result['params']['l1']['a']", cgx.feeds = 0 : i64}, tensor<8xf32> {cgx.name = "result['params']['l1']['b']", cgx.feeds = 1 : i64},
          tensor<4xf32> {cgx.name = "result['params']['c']", cgx.feeds = 2 : i64}) {
    %ga = stablehlo.multiply %a, %x : tensor<4xf32>
    %gb = stablehlo.multiply %b, %b : tensor<8xf32>
    %flat = stablehlo.concatenate %ga, %gb, dim = 0 : (tensor<4xf32>, tensor<8xf32>) -> tensor<12xf32>
    // CHECK: cgx.all_reduce sum({{.*}}id({{[0-9]+}}) layer("params/l1", gradient) : tensor<12xf32>
    %sum = cgx.all_reduce sum(%flat) groups([[0, 1]]) id(0) : tensor<12xf32>
    %da = stablehlo.slice %sum [0:4] : (tensor<12xf32>) -> tensor<4xf32>
    %db = stablehlo.slice %sum [4:12] : (tensor<12xf32>) -> tensor<8xf32>
    // CHECK: cgx.all_reduce sum({{.*}}id({{[0-9]+}}) layer("params/c", gradient, [4]) :
    %dc = cgx.all_reduce sum(%x) groups([[0, 1]]) id(1) : tensor<4xf32>
    %a1 = stablehlo.subtract %a, %da : tensor<4xf32>
    %b1 = stablehlo.subtract %b, %db : tensor<8xf32>
    %c1 = stablehlo.subtract %c, %dc : tensor<4xf32>
    return %a1, %b1, %c1 : tensor<4xf32>, tensor<8xf32>, tensor<4xf32>
  }
}

// -----

// The step returns gradients under the names of its parameters and updates
// nothing. A vector of metrics is no activation.

// CHECK-LABEL: @gradients_returned
module @gradients_returned attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%w: tensor<8x4xf32> {cgx.name = "params['w']"}, %x: tensor<16x8xf32> {cgx.name = "x"})
      -> (tensor<8x4xf32> {cgx.name = "result[0]['w']"}, tensor<4x4xf32> {cgx.name = "result[1]['confusion']"}) {
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    %g0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<16x8xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    // CHECK: cgx.all_reduce sum({{.*}}id({{[0-9]+}}) layer("w", gradient, [8, 4]) :
    %g = cgx.all_reduce sum(%g0) groups([[0, 1]]) id(0) : tensor<8x4xf32>
    %c = stablehlo.dot_general %y, %y, contracting_dims = [0] x [0] : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<4x4xf32>
    // CHECK: cgx.all_reduce sum({{.*}}id({{[0-9]+}}) layer("confusion", other) :
    %cm = cgx.all_reduce sum(%c) groups([[0, 1]]) id(1) : tensor<4x4xf32>
    return %g, %cm : tensor<8x4xf32>, tensor<4x4xf32>
  }
}

// -----

// Several steps in one loop: the collective is inside, the state is carried.

// CHECK-LABEL: @loop
module @loop attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%w: tensor<8x4xf32> {cgx.name = "params['w']"}, %x: tensor<16x8xf32> {cgx.name = "x"}, %n: tensor<i32> {cgx.name = "n"})
      -> (tensor<8x4xf32> {cgx.name = "result['w']", cgx.feeds = 0 : i64}) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %r:3 = stablehlo.while(%i = %n, %p = %w, %b = %x) : tensor<i32>, tensor<8x4xf32>, tensor<16x8xf32>
    cond {
      %c = stablehlo.compare GT, %i, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %y = stablehlo.dot_general %b, %p, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
      %g0 = stablehlo.dot_general %b, %y, contracting_dims = [0] x [0] : (tensor<16x8xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
      // CHECK: cgx.all_reduce sum({{.*}}id({{[0-9]+}}) layer("w", gradient, [8, 4]) :
      %g = cgx.all_reduce sum(%g0) groups([[0, 1]]) id(0) : tensor<8x4xf32>
      %q = stablehlo.subtract %p, %g : tensor<8x4xf32>
      %j = stablehlo.subtract %i, %one : tensor<i32>
      stablehlo.return %j, %q, %b : tensor<i32>, tensor<8x4xf32>, tensor<16x8xf32>
    }
    return %r#1 : tensor<8x4xf32>
  }
}

// -----

// The update of the parameter goes through a matrix product of the momentum: only
// the momentum takes the gradient element by element. Its path ends like the
// parameter's.

// CHECK-LABEL: @orthogonalized
module @orthogonalized attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(
      %v: tensor<4x4xf32> {cgx.name = "state.weights['a']['v']"}, %w: tensor<4x4xf32> {cgx.name = "state.weights['a']['w']"},
      %m: tensor<4x4xf32> {cgx.name = "state.opt[0].mu['a']['w']"}, %x: tensor<16x4xf32> {cgx.name = "x"})
      -> (tensor<4x4xf32> {cgx.name = "result.weights['a']['w']", cgx.feeds = 1 : i64}, tensor<4x4xf32> {cgx.name = "result.opt[0].mu['a']['w']", cgx.feeds = 2 : i64}) {
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x4xf32>, tensor<4x4xf32>) -> tensor<16x4xf32>
    %z = stablehlo.dot_general %y, %v, contracting_dims = [1] x [0] : (tensor<16x4xf32>, tensor<4x4xf32>) -> tensor<16x4xf32>
    %g0 = stablehlo.dot_general %x, %z, contracting_dims = [0] x [0] : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<4x4xf32>
    // CHECK: cgx.all_reduce sum({{.*}}id({{[0-9]+}}) layer("weights/a/w", gradient, [4, 4]) :
    %g = cgx.all_reduce sum(%g0) groups([[0, 1]]) id(0) : tensor<4x4xf32>
    %m1 = stablehlo.add %m, %g : tensor<4x4xf32>
    %o = stablehlo.dot_general %m1, %m1, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %w1 = stablehlo.subtract %w, %o : tensor<4x4xf32>
    return %w1, %m1 : tensor<4x4xf32>, tensor<4x4xf32>
  }
}

// -----

// A parameter without elements takes none of the gradient that it is updated with.

// CHECK-LABEL: @nothing_to_update
module @nothing_to_update attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(
      %w: tensor<8x4xf32> {cgx.name = "params['w']"}, %e: tensor<0x4xf32> {cgx.name = "params['e']"}, %x: tensor<16x8xf32> {cgx.name = "batch"})
      -> (tensor<8x4xf32> {cgx.name = "result['w']", cgx.feeds = 0 : i64}, tensor<0x4xf32> {cgx.name = "result['e']", cgx.feeds = 1 : i64}) {
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    %g0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<16x8xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    // CHECK: cgx.all_reduce sum({{.*}}id({{[0-9]+}}) layer("w", gradient, [8, 4]) :
    %g = cgx.all_reduce sum(%g0) groups([[0, 1]]) id(0) : tensor<8x4xf32>
    %w1 = stablehlo.subtract %w, %g : tensor<8x4xf32>
    %none = stablehlo.slice %g [8:8, 0:4] : (tensor<8x4xf32>) -> tensor<0x4xf32>
    %e1 = stablehlo.subtract %e, %none : tensor<0x4xf32>
    return %w1, %e1 : tensor<8x4xf32>, tensor<0x4xf32>
  }
}

// -----

// Two layers split over ranks. The backward pass computes the second one again from what the first one gave, which makes
// it no gradient; what it sends back is one.

// CHECK-LABEL: @computed_again
module @computed_again attributes {cgx.mesh = #cgx.mesh<["model" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(
      %w1: tensor<8x4xf32> {cgx.name = "params['w1']"}, %w2: tensor<4x8xf32> {cgx.name = "params['w2']"},
      %v1: tensor<8x4xf32> {cgx.name = "params['v1']"}, %v2: tensor<4x8xf32> {cgx.name = "params['v2']"},
      %u: tensor<8x8xf32> {cgx.name = "params['u']"}, %x: tensor<16x8xf32> {cgx.name = "batch"})
      -> (tensor<8x4xf32> {cgx.name = "result[0]['w1']", cgx.feeds = 0 : i64}, tensor<4x8xf32> {cgx.name = "result[0]['w2']", cgx.feeds = 1 : i64},
          tensor<8x4xf32> {cgx.name = "result[0]['v1']", cgx.feeds = 2 : i64}, tensor<4x8xf32> {cgx.name = "result[0]['v2']", cgx.feeds = 3 : i64},
          tensor<8x8xf32> {cgx.name = "result[0]['u']", cgx.feeds = 4 : i64}, tensor<f32> {cgx.name = "result[1]['loss']"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %h = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    %a = stablehlo.tanh %h : tensor<16x4xf32>
    %p = stablehlo.dot_general %a, %w2, contracting_dims = [1] x [0] : (tensor<16x4xf32>, tensor<4x8xf32>) -> tensor<16x8xf32>
    // CHECK: cgx.all_reduce sum({{.*}}id({{[0-9]+}}) layer("w2", activation) :
    %y = cgx.all_reduce sum(%p) groups([[0, 1]]) id(0) : tensor<16x8xf32>
    %h2 = stablehlo.dot_general %y, %v1, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    %a2 = stablehlo.tanh %h2 : tensor<16x4xf32>
    %p2 = stablehlo.dot_general %a2, %v2, contracting_dims = [1] x [0] : (tensor<16x4xf32>, tensor<4x8xf32>) -> tensor<16x8xf32>
    // CHECK: cgx.all_reduce sum({{.*}}id({{[0-9]+}}) layer("v2", activation) :
    %z = cgx.all_reduce sum(%p2) groups([[0, 1]]) id(1) : tensor<16x8xf32>
    %o = stablehlo.dot_general %z, %u, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
    %loss = stablehlo.reduce(%o init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x8xf32>, tensor<f32>) -> tensor<f32>
    %kept = stablehlo.optimization_barrier %y : tensor<16x8xf32>
    %h3 = stablehlo.dot_general %kept, %v1, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    %a3 = stablehlo.tanh %h3 : tensor<16x4xf32>
    %p3 = stablehlo.dot_general %a3, %v2, contracting_dims = [1] x [0] : (tensor<16x4xf32>, tensor<4x8xf32>) -> tensor<16x8xf32>
    // CHECK: cgx.all_reduce sum({{.*}}id({{[0-9]+}}) layer("v2#2", activation) :
    %again = cgx.all_reduce sum(%p3) groups([[0, 1]]) id(2) : tensor<16x8xf32>
    %du = stablehlo.dot_general %again, %o, contracting_dims = [0] x [0] : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
    %dz = stablehlo.dot_general %o, %u, contracting_dims = [1] x [1] : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
    %dv2 = stablehlo.dot_general %a3, %dz, contracting_dims = [0] x [0] : (tensor<16x4xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
    %da3 = stablehlo.dot_general %dz, %v2, contracting_dims = [1] x [1] : (tensor<16x8xf32>, tensor<4x8xf32>) -> tensor<16x4xf32>
    %dh3 = stablehlo.multiply %da3, %a3 : tensor<16x4xf32>
    %dv1 = stablehlo.dot_general %kept, %dh3, contracting_dims = [0] x [0] : (tensor<16x8xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    %q = stablehlo.dot_general %dh3, %v1, contracting_dims = [1] x [1] : (tensor<16x4xf32>, tensor<8x4xf32>) -> tensor<16x8xf32>
    // CHECK: cgx.all_reduce sum({{.*}}id({{[0-9]+}}) layer("v1", activation_gradient) :
    %dy = cgx.all_reduce sum(%q) groups([[0, 1]]) id(3) : tensor<16x8xf32>
    %dw2 = stablehlo.dot_general %a, %dy, contracting_dims = [0] x [0] : (tensor<16x4xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
    %da = stablehlo.dot_general %dy, %w2, contracting_dims = [1] x [1] : (tensor<16x8xf32>, tensor<4x8xf32>) -> tensor<16x4xf32>
    %dh = stablehlo.multiply %da, %a : tensor<16x4xf32>
    %dw1 = stablehlo.dot_general %x, %dh, contracting_dims = [0] x [0] : (tensor<16x8xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    %w11 = stablehlo.subtract %w1, %dw1 : tensor<8x4xf32>
    %w21 = stablehlo.subtract %w2, %dw2 : tensor<4x8xf32>
    %v11 = stablehlo.subtract %v1, %dv1 : tensor<8x4xf32>
    %v21 = stablehlo.subtract %v2, %dv2 : tensor<4x8xf32>
    %u1 = stablehlo.subtract %u, %du : tensor<8x8xf32>
    return %w11, %w21, %v11, %v21, %u1, %loss : tensor<8x4xf32>, tensor<4x8xf32>, tensor<8x4xf32>, tensor<4x8xf32>, tensor<8x8xf32>, tensor<f32>
  }
}

// -----

// A gradient that is not computed with its own parameter (a loss linear in a table), by Adam, where no name says which
// state is the parameter: it is the one that takes a step against the gradient, and is else as it was.

// CHECK-LABEL: @linear_by_adam
module @linear_by_adam attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(
      %m: tensor<8x4xf32> {cgx.name = "state[0]"}, %v: tensor<8x4xf32> {cgx.name = "state[1]"}, %w: tensor<8x4xf32> {cgx.name = "state[2]"},
      %sum: tensor<8x4xf32> {cgx.name = "state[3]"}, %x: tensor<8x4xf32> {cgx.name = "batch"})
      -> (tensor<8x4xf32> {cgx.name = "result[0]", cgx.feeds = 0 : i64}, tensor<8x4xf32> {cgx.name = "result[1]", cgx.feeds = 1 : i64},
          tensor<8x4xf32> {cgx.name = "result[2]", cgx.feeds = 2 : i64}, tensor<8x4xf32> {cgx.name = "result[3]", cgx.feeds = 3 : i64}) {
    // CHECK: cgx.all_reduce sum({{.*}}id({{[0-9]+}}) layer("2", gradient, [8, 4]) :
    %g = cgx.all_reduce sum(%x) groups([[0, 1]]) id(0) : tensor<8x4xf32>
    %b = stablehlo.constant dense<0.9> : tensor<8x4xf32>
    %c = stablehlo.constant dense<0.1> : tensor<8x4xf32>
    %rate = stablehlo.constant dense<-0.001> : tensor<8x4xf32>
    %m0 = stablehlo.multiply %m, %b : tensor<8x4xf32>
    %g0 = stablehlo.multiply %g, %c : tensor<8x4xf32>
    %m1 = stablehlo.add %m0, %g0 : tensor<8x4xf32>
    %v0 = stablehlo.multiply %v, %b : tensor<8x4xf32>
    %gg = stablehlo.multiply %g, %g : tensor<8x4xf32>
    %v1 = stablehlo.add %v0, %gg : tensor<8x4xf32>
    %root = stablehlo.sqrt %v1 : tensor<8x4xf32>
    %u = stablehlo.divide %m1, %root : tensor<8x4xf32>
    %step = stablehlo.multiply %u, %rate : tensor<8x4xf32>
    %w1 = stablehlo.add %w, %step : tensor<8x4xf32>
    %sum1 = stablehlo.add %sum, %g : tensor<8x4xf32>
    return %m1, %v1, %w1, %sum1 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
  }
}

// -----

// Low-rank adapters, w = base + a b: a partitioner reduces the gradient of w, of which those of both factors are made.
// What is multiplied with an activation, too, is an activation's.

// CHECK-LABEL: @adapters
module @adapters attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(
      %a: tensor<64x4xf32> {cgx.name = "state['l0']['a']"}, %b: tensor<4x128xf32> {cgx.name = "state['l0']['b']"},
      %x: tensor<16x64xf32> {cgx.name = "batch['x']"}, %base: tensor<64x128xf32> {cgx.name = "base"})
      -> (tensor<64x4xf32> {cgx.name = "result[0]['l0']['a']", cgx.feeds = 0 : i64},
          tensor<4x128xf32> {cgx.name = "result[0]['l0']['b']", cgx.feeds = 1 : i64}) {
    %ab = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x4xf32>, tensor<4x128xf32>) -> tensor<64x128xf32>
    %w = stablehlo.add %base, %ab : tensor<64x128xf32>
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x64xf32>, tensor<64x128xf32>) -> tensor<16x128xf32>
    %dw = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<16x64xf32>, tensor<16x128xf32>) -> tensor<64x128xf32>
    // CHECK: cgx.all_reduce sum({{.*}}id({{[0-9]+}}) layer("l0", gradient, [64, 128]) :
    %g = cgx.all_reduce sum(%dw) groups([[0, 1]]) id(0) : tensor<64x128xf32>
    %half = stablehlo.constant dense<0.5> : tensor<64x128xf32>
    %mean = stablehlo.multiply %g, %half : tensor<64x128xf32>
    %da = stablehlo.dot_general %mean, %b, contracting_dims = [1] x [1] : (tensor<64x128xf32>, tensor<4x128xf32>) -> tensor<64x4xf32>
    %db = stablehlo.dot_general %a, %mean, contracting_dims = [0] x [0] : (tensor<64x4xf32>, tensor<64x128xf32>) -> tensor<4x128xf32>
    %a1 = stablehlo.subtract %a, %da : tensor<64x4xf32>
    %b1 = stablehlo.subtract %b, %db : tensor<4x128xf32>
    return %a1, %b1 : tensor<64x4xf32>, tensor<4x128xf32>
  }
}

// -----

// Sparse gradients of a table: the rows that were looked up, added to it, or to its momentum, at their places. The places
// themselves are no floats. What is scattered into an activation is none of the table's.

// CHECK-LABEL: @rows_of_tables
module @rows_of_tables attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(
      %table: tensor<64x16xf32> {cgx.name = "state['table']"}, %other: tensor<64x16xf32> {cgx.name = "state['other']"},
      %m: tensor<64x16xf32> {cgx.name = "state['m']['other']"}, %x: tensor<8x16xf32> {cgx.name = "batch['x']"},
      %at: tensor<8x1xi32> {cgx.name = "batch['at']"})
      -> (tensor<64x16xf32> {cgx.name = "result[0]['table']", cgx.feeds = 0 : i64},
          tensor<64x16xf32> {cgx.name = "result[0]['other']", cgx.feeds = 1 : i64},
          tensor<64x16xf32> {cgx.name = "result[0]['m']['other']", cgx.feeds = 2 : i64}, tensor<64x16xf32> {cgx.name = "result[1]"}) {
    %half = stablehlo.constant dense<0.5> : tensor<16x16xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<64x16xf32>
    %looked = "stablehlo.gather"(%table, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 16>}> : (tensor<64x16xf32>, tensor<8x1xi32>) -> tensor<8x16xf32>
    %also = "stablehlo.gather"(%other, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 16>}> : (tensor<64x16xf32>, tensor<8x1xi32>) -> tensor<8x16xf32>
    %d = stablehlo.multiply %looked, %x : tensor<8x16xf32>
    %e = stablehlo.multiply %also, %x : tensor<8x16xf32>
    // CHECK: cgx.all_gather({{.*}}id(0) layer("", other)
    // CHECK: cgx.all_gather({{.*}}id(1) layer("table", gradient, [64, 16])
    // CHECK: cgx.all_gather({{.*}}id(2) layer("other", gradient, [64, 16])
    // CHECK: cgx.all_gather({{.*}}id(3) layer("{{.*}}", {{other|activation}})
    %places = cgx.all_gather(%at) dim(0) groups([[0, 1]]) id(0) : (tensor<8x1xi32>) -> tensor<16x1xi32>
    %rows = cgx.all_gather(%d) dim(0) groups([[0, 1]]) id(1) : (tensor<8x16xf32>) -> tensor<16x16xf32>
    %others = cgx.all_gather(%e) dim(0) groups([[0, 1]]) id(2) : (tensor<8x16xf32>) -> tensor<16x16xf32>
    %moved = cgx.all_gather(%x) dim(0) groups([[0, 1]]) id(3) : (tensor<8x16xf32>) -> tensor<16x16xf32>
    %scaled = stablehlo.multiply %rows, %half : tensor<16x16xf32>
    %table1 = "stablehlo.scatter"(%table, %places, %scaled) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<64x16xf32>, tensor<16x1xi32>, tensor<16x16xf32>) -> tensor<64x16xf32>
    %g = "stablehlo.scatter"(%zero, %places, %others) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<64x16xf32>, tensor<16x1xi32>, tensor<16x16xf32>) -> tensor<64x16xf32>
    %m1 = stablehlo.add %m, %g : tensor<64x16xf32>
    %other1 = stablehlo.subtract %other, %m1 : tensor<64x16xf32>
    %seen = "stablehlo.scatter"(%zero, %places, %moved) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<64x16xf32>, tensor<16x1xi32>, tensor<16x16xf32>) -> tensor<64x16xf32>
    return %table1, %other1, %m1, %seen : tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>
  }
}
