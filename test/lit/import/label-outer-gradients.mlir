// How far a rank has come since ranks last met is an outer gradient, wherever it is averaged.
// RUN: cgx-opt %s --split-input-file --cgx-label-layers | FileCheck %s

// DiLoCo: the anchor is state, and an outer optimizer moves it in some steps.

#g = #cgx.groups<[[0, 1]]>
// CHECK-LABEL: @sometimes
module @sometimes attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%w: tensor<8x4xf32> {cgx.name = "state['params']['w']"}, %start: tensor<8x4xf32> {cgx.name = "state['start']['w']"},
                         %m: tensor<8x4xf32> {cgx.name = "state['m']['w']"}, %x: tensor<8x8xf32> {cgx.name = "x"}, %is_outer: tensor<i1> {cgx.name = "is_outer"})
      -> (tensor<8x4xf32> {cgx.name = "result['params']['w']", cgx.feeds = 0 : i64}, tensor<8x4xf32> {cgx.name = "result['start']['w']", cgx.feeds = 1 : i64},
          tensor<8x4xf32> {cgx.name = "result['m']['w']", cgx.feeds = 2 : i64}) {
    %beta = stablehlo.constant dense<0.9> : tensor<8x4xf32>
    %rate = stablehlo.constant dense<0.7> : tensor<8x4xf32>
    %g0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %w1 = stablehlo.subtract %w, %g0 : tensor<8x4xf32>
    %r:3 = "stablehlo.if"(%is_outer) ({
      %d = stablehlo.subtract %start, %w1 : tensor<8x4xf32>
      %h = stablehlo.convert %d : (tensor<8x4xf32>) -> tensor<8x4xbf16>
      // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("params/w", outer_gradient, [8, 4]) :
      %s = cgx.all_reduce mean(%h) groups(#g) id(0) : tensor<8x4xbf16>
      %f = stablehlo.convert %s : (tensor<8x4xbf16>) -> tensor<8x4xf32>
      %m0 = stablehlo.multiply %m, %beta : tensor<8x4xf32>
      %m1 = stablehlo.add %m0, %f : tensor<8x4xf32>
      %u = stablehlo.multiply %m1, %rate : tensor<8x4xf32>
      %next = stablehlo.subtract %start, %u : tensor<8x4xf32>
      stablehlo.return %next, %next, %m1 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
    }, {
      stablehlo.return %w1, %start, %m : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
    }) : (tensor<i1>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
    return %r#0, %r#1, %r#2 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
  }
}

// -----

// Local steps in the call: the anchor is what the step began with.

#g = #cgx.groups<[[0, 1]]>
// CHECK-LABEL: @after_loop
module @after_loop attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%w: tensor<8x4xf32> {cgx.name = "params['w']"}, %x: tensor<8x8xf32> {cgx.name = "x"}, %n: tensor<i32> {cgx.name = "n"})
      -> (tensor<8x4xf32> {cgx.name = "result['w']", cgx.feeds = 0 : i64}) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %r:2 = stablehlo.while(%i = %n, %p = %w) : tensor<i32>, tensor<8x4xf32>
    cond {
      %c = stablehlo.compare GT, %i, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %g0 = stablehlo.dot_general %x, %p, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
      %q = stablehlo.subtract %p, %g0 : tensor<8x4xf32>
      %j = stablehlo.subtract %i, %one : tensor<i32>
      stablehlo.return %j, %q : tensor<i32>, tensor<8x4xf32>
    }
    %d = stablehlo.subtract %w, %r#1 : tensor<8x4xf32>
    // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("w", outer_gradient, [8, 4]) :
    %s = cgx.all_reduce mean(%d) groups(#g) id(0) : tensor<8x4xf32>
    %next = stablehlo.subtract %w, %s : tensor<8x4xf32>
    return %next : tensor<8x4xf32>
  }
}

// -----

// Weights that decay are still weights, wherever the factor stands; what is left of a tenth of them is not.

#g = #cgx.groups<[[0, 1]]>
// CHECK-LABEL: @decayed
module @decayed attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%w: tensor<8x4xf32> {cgx.name = "params['w']"}, %v: tensor<8x4xf32> {cgx.name = "params['v']"}, %x: tensor<8x8xf32> {cgx.name = "x"})
      -> (tensor<8x4xf32> {cgx.name = "result['w']", cgx.feeds = 0 : i64}, tensor<8x4xf32> {cgx.name = "result['v']", cgx.feeds = 1 : i64}) {
    %most = stablehlo.constant dense<0.9> : tensor<8x4xf32>
    %tenth = stablehlo.constant dense<0.1> : tensor<8x4xf32>
    %more = stablehlo.constant dense<1.1> : tensor<8x4xf32>
    %g0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %w0 = stablehlo.multiply %w, %most : tensor<8x4xf32>
    %w1 = stablehlo.multiply %most, %w0 : tensor<8x4xf32>
    %w2 = stablehlo.divide %w1, %more : tensor<8x4xf32>
    %w3 = stablehlo.subtract %w2, %g0 : tensor<8x4xf32>
    %d = stablehlo.subtract %w, %w3 : tensor<8x4xf32>
    // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("w", outer_gradient, [8, 4]) :
    %s = cgx.all_reduce mean(%d) groups(#g) id(0) : tensor<8x4xf32>
    %w4 = stablehlo.subtract %w, %s : tensor<8x4xf32>
    %v0 = stablehlo.multiply %v, %tenth : tensor<8x4xf32>
    %v1 = stablehlo.subtract %v0, %g0 : tensor<8x4xf32>
    %e = stablehlo.subtract %v, %v1 : tensor<8x4xf32>
    // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("v", gradient, [8, 4]) :
    %t = cgx.all_reduce mean(%e) groups(#g) id(1) : tensor<8x4xf32>
    %v2 = stablehlo.subtract %v, %t : tensor<8x4xf32>
    return %w4, %v2 : tensor<8x4xf32>, tensor<8x4xf32>
  }
}

// -----

// A gradient that pulls a parameter to its own moving average is none, nor is the gradient of a squared distance.

#g = #cgx.groups<[[0, 1]]>
// CHECK-LABEL: @pulled
module @pulled attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%w: tensor<8x4xf32> {cgx.name = "params['w']"}, %v: tensor<8x4xf32> {cgx.name = "params['v']"}, %ema: tensor<8x4xf32> {cgx.name = "ema['w']"}, %x: tensor<8x4xf32> {cgx.name = "x"})
      -> (tensor<8x4xf32> {cgx.name = "result[0]['w']", cgx.feeds = 0 : i64}, tensor<8x4xf32> {cgx.name = "result[0]['v']", cgx.feeds = 1 : i64}, tensor<8x4xf32> {cgx.name = "result[1]['w']", cgx.feeds = 2 : i64}) {
    %half = stablehlo.constant dense<0.5> : tensor<8x4xf32>
    %d = stablehlo.subtract %w, %ema : tensor<8x4xf32>
    // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("w", gradient, [8, 4]) :
    %s = cgx.all_reduce mean(%d) groups(#g) id(0) : tensor<8x4xf32>
    %w1 = stablehlo.subtract %w, %s : tensor<8x4xf32>
    %e = stablehlo.subtract %v, %x : tensor<8x4xf32>
    // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("v", gradient, [8, 4]) :
    %t = cgx.all_reduce mean(%e) groups(#g) id(1) : tensor<8x4xf32>
    %v1 = stablehlo.subtract %v, %t : tensor<8x4xf32>
    %e0 = stablehlo.multiply %ema, %half : tensor<8x4xf32>
    %e1 = stablehlo.multiply %w, %half : tensor<8x4xf32>
    %ema1 = stablehlo.add %e0, %e1 : tensor<8x4xf32>
    return %w1, %v1, %ema1 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
  }
}
