// RUN: cgx-opt %s --split-input-file --cgx-label-layers | FileCheck %s

// Layers that a loop goes through, stacked into one parameter each, as lax.scan has them: the forward loop reads the
// pieces, the backward loop reads them and writes those of the gradients. A table whose rows data chooses is no stack.

#g = #cgx.groups<[[0, 1]]>
// CHECK-LABEL: @scanned
module @scanned attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(
      %scale: tensor<3x4xf32> {cgx.name = "params['scale']"}, %w: tensor<3x4x4xf32> {cgx.name = "params['w']"},
      %table: tensor<5x4xf32> {cgx.name = "params['table']"}, %x: tensor<16x4xf32> {cgx.name = "x"}, %row: tensor<i32> {cgx.name = "row"})
      -> (tensor<3x4xf32> {cgx.name = "result['scale']", cgx.feeds = 0 : i64}, tensor<3x4x4xf32> {cgx.name = "result['w']", cgx.feeds = 1 : i64},
          tensor<5x4xf32> {cgx.name = "result['table']", cgx.feeds = 2 : i64}) {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %c3 = stablehlo.constant dense<3> : tensor<i32>
    %f0 = stablehlo.constant dense<0.0> : tensor<f32>
    %s0 = stablehlo.constant dense<0.0> : tensor<3x4xf32>
    %w0 = stablehlo.constant dense<0.0> : tensor<3x4x4xf32>
    %t0 = stablehlo.constant dense<0.0> : tensor<5x4xf32>
    %half = stablehlo.convert %w : (tensor<3x4x4xf32>) -> tensor<3x4x4xbf16>
    %r:8 = stablehlo.while(%i = %c0, %ss = %scale, %ws = %half, %ts = %table, %h = %x, %gs = %s0, %gw = %w0, %gt = %t0) : tensor<i32>, tensor<3x4xf32>, tensor<3x4x4xbf16>, tensor<5x4xf32>, tensor<16x4xf32>, tensor<3x4xf32>, tensor<3x4x4xf32>, tensor<5x4xf32>
    cond {
      %c = stablehlo.compare LT, %i, %c3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %k0 = stablehlo.subtract %c3, %i : tensor<i32>
      %k = stablehlo.subtract %k0, %c1 : tensor<i32>
      %s1 = stablehlo.dynamic_slice %ss, %k, %c0, sizes = [1, 4] : (tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
      %s = stablehlo.reshape %s1 : (tensor<1x4xf32>) -> tensor<4xf32>
      %w1 = stablehlo.dynamic_slice %ws, %k, %c0, %c0, sizes = [1, 4, 4] : (tensor<3x4x4xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x4xbf16>
      %w2 = stablehlo.reshape %w1 : (tensor<1x4x4xbf16>) -> tensor<4x4xbf16>
      %wl = stablehlo.convert %w2 : (tensor<4x4xbf16>) -> tensor<4x4xf32>
      %t1 = stablehlo.dynamic_slice %ts, %row, %c0, sizes = [1, 4] : (tensor<5x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
      %t = stablehlo.reshape %t1 : (tensor<1x4xf32>) -> tensor<4xf32>
      %st = stablehlo.add %s, %t : tensor<4xf32>
      %sb = stablehlo.broadcast_in_dim %st, dims = [1] : (tensor<4xf32>) -> tensor<16x4xf32>
      %hs = stablehlo.multiply %h, %sb : tensor<16x4xf32>
      %y = stablehlo.dot_general %hs, %wl, contracting_dims = [1] x [0] : (tensor<16x4xf32>, tensor<4x4xf32>) -> tensor<16x4xf32>
      %dw = stablehlo.dot_general %h, %y, contracting_dims = [0] x [0] : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<4x4xf32>
      %ds = stablehlo.reduce(%y init: %f0) applies stablehlo.add across dimensions = [0] : (tensor<16x4xf32>, tensor<f32>) -> tensor<4xf32>
      // One layer's, in the loop.
      // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("scale", gradient, [4]) :
      %dsr = cgx.all_reduce mean(%ds) groups(#g) id(0) : tensor<4xf32>
      %dw1 = stablehlo.reshape %dw : (tensor<4x4xf32>) -> tensor<1x4x4xf32>
      %ds1 = stablehlo.reshape %dsr : (tensor<4xf32>) -> tensor<1x4xf32>
      %gw1 = stablehlo.dynamic_update_slice %gw, %dw1, %k, %c0, %c0 : (tensor<3x4x4xf32>, tensor<1x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x4xf32>
      %gs1 = stablehlo.dynamic_update_slice %gs, %ds1, %k, %c0 : (tensor<3x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
      %gt1 = stablehlo.dynamic_update_slice %gt, %ds1, %row, %c0 : (tensor<5x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<5x4xf32>
      %j = stablehlo.add %i, %c1 : tensor<i32>
      stablehlo.return %j, %ss, %ws, %ts, %y, %gs1, %gw1, %gt1 : tensor<i32>, tensor<3x4xf32>, tensor<3x4x4xbf16>, tensor<5x4xf32>, tensor<16x4xf32>, tensor<3x4xf32>, tensor<3x4x4xf32>, tensor<5x4xf32>
    }
    // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("scale", gradient, [3, 4], stacked = 1) layer("w", gradient, [3, 4, 4], stacked = 1) layer("table", gradient, [5, 4]) :
    %g:3 = cgx.all_reduce mean(%r#5, %r#6, %r#7) groups(#g) id(1) : tensor<3x4xf32>, tensor<3x4x4xf32>, tensor<5x4xf32>
    %scale1 = stablehlo.subtract %scale, %g#0 : tensor<3x4xf32>
    %wn = stablehlo.subtract %w, %g#1 : tensor<3x4x4xf32>
    %tn = stablehlo.subtract %table, %g#2 : tensor<5x4xf32>
    return %scale1, %wn, %tn : tensor<3x4xf32>, tensor<3x4x4xf32>, tensor<5x4xf32>
  }
}

// -----

// An unrolled loop reads each piece by its number, of two dimensions here. What reads only some, or the whole as well,
// reads no stack.

#g = #cgx.groups<[[0, 1]]>
// CHECK-LABEL: @unrolled
module @unrolled attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(
      %a: tensor<2x2x4xf32> {cgx.name = "params['a']"}, %b: tensor<3x4xf32> {cgx.name = "params['b']"}, %c: tensor<2x4xf32> {cgx.name = "params['c']"},
      %x: tensor<16x4xf32> {cgx.name = "x"})
      -> (tensor<2x2x4xf32> {cgx.name = "result['a']", cgx.feeds = 0 : i64}, tensor<3x4xf32> {cgx.name = "result['b']", cgx.feeds = 1 : i64},
          tensor<2x4xf32> {cgx.name = "result['c']", cgx.feeds = 2 : i64}) {
    %a0 = stablehlo.slice %a [0:1, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
    %a0r = stablehlo.reshape %a0 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %a00 = stablehlo.slice %a0r [0:1, 0:4] : (tensor<2x4xf32>) -> tensor<1x4xf32>
    %a01 = stablehlo.slice %a0r [1:2, 0:4] : (tensor<2x4xf32>) -> tensor<1x4xf32>
    %a1 = stablehlo.slice %a [1:2, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
    %a1r = stablehlo.reshape %a1 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %a10 = stablehlo.slice %a1r [0:1, 0:4] : (tensor<2x4xf32>) -> tensor<1x4xf32>
    %a11 = stablehlo.slice %a1r [1:2, 0:4] : (tensor<2x4xf32>) -> tensor<1x4xf32>
    %b0 = stablehlo.slice %b [0:1, 0:4] : (tensor<3x4xf32>) -> tensor<1x4xf32>
    %b1 = stablehlo.slice %b [1:2, 0:4] : (tensor<3x4xf32>) -> tensor<1x4xf32>
    %c0 = stablehlo.slice %c [0:1, 0:4] : (tensor<2x4xf32>) -> tensor<1x4xf32>
    %c1 = stablehlo.slice %c [1:2, 0:4] : (tensor<2x4xf32>) -> tensor<1x4xf32>
    %all = stablehlo.concatenate %a00, %a01, %a10, %a11, %b0, %b1, %c0, %c1, dim = 0 : (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
    %y = stablehlo.dot_general %x, %all, contracting_dims = [1] x [1] : (tensor<16x4xf32>, tensor<8x4xf32>) -> tensor<16x8xf32>
    %yc = stablehlo.dot_general %x, %c, contracting_dims = [1] x [1] : (tensor<16x4xf32>, tensor<2x4xf32>) -> tensor<16x2xf32>
    %dc = stablehlo.dot_general %yc, %x, contracting_dims = [0] x [0] : (tensor<16x2xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
    %dall = stablehlo.dot_general %y, %x, contracting_dims = [0] x [0] : (tensor<16x8xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    %da0 = stablehlo.slice %dall [0:4, 0:4] : (tensor<8x4xf32>) -> tensor<4x4xf32>
    %da = stablehlo.reshape %da0 : (tensor<4x4xf32>) -> tensor<2x2x4xf32>
    %db = stablehlo.slice %dall [4:7, 0:4] : (tensor<8x4xf32>) -> tensor<3x4xf32>
    // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("a", gradient, [2, 2, 4], stacked = 2) layer("b", gradient, [3, 4]) layer("c", gradient, [2, 4]) :
    %g:3 = cgx.all_reduce mean(%da, %db, %dc) groups(#g) id(0) : tensor<2x2x4xf32>, tensor<3x4xf32>, tensor<2x4xf32>
    %an = stablehlo.subtract %a, %g#0 : tensor<2x2x4xf32>
    %bn = stablehlo.subtract %b, %g#1 : tensor<3x4xf32>
    %cn = stablehlo.subtract %c, %g#2 : tensor<2x4xf32>
    return %an, %bn, %cn : tensor<2x2x4xf32>, tensor<3x4xf32>, tensor<2x4xf32>
  }
}
