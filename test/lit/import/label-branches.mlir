// RUN: cgx-opt %s --split-input-file --cgx-label-layers | FileCheck %s

// Collectives in branches and loops are for what they would be for outside.

// Local SGD: parameters are averaged in some steps, with weight decay before, also from half precision, and compared with
// what they were.

#g = #cgx.groups<[[0, 1]]>
// CHECK-LABEL: @averaged_sometimes
module @averaged_sometimes attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%w: tensor<8x4xf32> {cgx.name = "params['w']"}, %x: tensor<8x4xf32> {cgx.name = "batch"}, %k: tensor<i32> {cgx.name = "k"})
      -> (tensor<8x4xf32> {cgx.name = "result[0]['w']", cgx.feeds = 0 : i64}, tensor<8x4xf32> {cgx.name = "result[1]['drift']"}) {
    %decay = stablehlo.constant dense<0.99> : tensor<8x4xf32>
    %w0 = stablehlo.multiply %w, %decay : tensor<8x4xf32>
    %w1 = stablehlo.subtract %w0, %x : tensor<8x4xf32>
    %next = "stablehlo.case"(%k) ({
      // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("w", weight, [8, 4]) :
      %r = cgx.all_reduce mean(%w1) groups(#g) id(0) : tensor<8x4xf32>
      stablehlo.return %r : tensor<8x4xf32>
    }, {
      %h = stablehlo.convert %w1 : (tensor<8x4xf32>) -> tensor<8x4xbf16>
      // It is in another branch, so that a step does only one of them: both have one name.
      // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("w", weight, [8, 4]) :
      %r = cgx.all_reduce mean(%h) groups(#g) id(1) : tensor<8x4xbf16>
      %f = stablehlo.convert %r : (tensor<8x4xbf16>) -> tensor<8x4xf32>
      stablehlo.return %f : tensor<8x4xf32>
    }, {
      stablehlo.return %w1 : tensor<8x4xf32>
    }) : (tensor<i32>) -> tensor<8x4xf32>
    %drift = stablehlo.subtract %w, %next : tensor<8x4xf32>
    return %next, %drift : tensor<8x4xf32>, tensor<8x4xf32>
  }
}

// -----

// The parameter is pulled towards the average of what it is after the step.

#g = #cgx.groups<[[0, 1]]>
// CHECK-LABEL: @elastic
module @elastic attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%w: tensor<8x4xf32> {cgx.name = "params['w']"}, %x: tensor<8x4xf32> {cgx.name = "batch"})
      -> (tensor<8x4xf32> {cgx.name = "result['w']", cgx.feeds = 0 : i64}) {
    %half = stablehlo.constant dense<0.5> : tensor<8x4xf32>
    %w1 = stablehlo.subtract %w, %x : tensor<8x4xf32>
    // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("w", weight, [8, 4]) :
    %r = cgx.all_reduce mean(%w1) groups(#g) id(0) : tensor<8x4xf32>
    %d = stablehlo.subtract %w1, %r : tensor<8x4xf32>
    %pull = stablehlo.multiply %half, %d : tensor<8x4xf32>
    %next = stablehlo.subtract %w1, %pull : tensor<8x4xf32>
    return %next : tensor<8x4xf32>
  }
}

// -----

// The decayed parameter is in the operand, which is reduced over one axis and then another: one gradient, one name.

#x = #cgx.groups<[[0, 1], [2, 3]]>
#y = #cgx.groups<[[0, 2], [1, 3]]>
// CHECK-LABEL: @decayed_over_two_axes
module @decayed_over_two_axes attributes {cgx.mesh = #cgx.mesh<["a" = 2, "b" = 2]>, cgx.num_ranks = 4 : i64} {
  func.func public @main(%w: tensor<8x4xf32> {cgx.name = "params['w']"}, %x: tensor<8x4xf32> {cgx.name = "batch"})
      -> (tensor<8x4xf32> {cgx.name = "result['w']", cgx.feeds = 0 : i64}) {
    %decay = stablehlo.constant dense<0.01> : tensor<8x4xf32>
    %wd = stablehlo.multiply %w, %decay : tensor<8x4xf32>
    %g = stablehlo.add %x, %wd : tensor<8x4xf32>
    // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("w", gradient, [8, 4]) :
    %r = cgx.all_reduce mean(%g) groups(#x) id(0) : tensor<8x4xf32>
    // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("w", gradient, [8, 4]) :
    %s = cgx.all_reduce mean(%r) groups(#y) id(1) : tensor<8x4xf32>
    %next = stablehlo.subtract %w, %s : tensor<8x4xf32>
    return %next : tensor<8x4xf32>
  }
}

// -----

// Rounds of a local step with weight decay and an average; nothing is called a parameter. In a loop the next round meets
// what came from the last, which is no arithmetic of the average with what went around it.

#g = #cgx.groups<[[0, 1]]>
// CHECK-LABEL: @averaged_in_loop
module @averaged_in_loop attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%w: tensor<8x4xf32> {cgx.name = "w"}, %x: tensor<8x4xf32> {cgx.name = "x"}, %n: tensor<i32> {cgx.name = "n"})
      -> (tensor<8x4xf32> {cgx.name = "w", cgx.feeds = 0 : i64}) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %decay = stablehlo.constant dense<0.01> : tensor<8x4xf32>
    %r:2 = stablehlo.while(%i = %n, %p = %w) : tensor<i32>, tensor<8x4xf32>
    cond {
      %c = stablehlo.compare GT, %i, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %d = stablehlo.multiply %p, %decay : tensor<8x4xf32>
      %u = stablehlo.add %x, %d : tensor<8x4xf32>
      %q = stablehlo.subtract %p, %u : tensor<8x4xf32>
      // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("w", weight, [8, 4]) :
      %s = cgx.all_reduce mean(%q) groups(#g) id(0) : tensor<8x4xf32>
      %j = stablehlo.subtract %i, %one : tensor<i32>
      stablehlo.return %j, %s : tensor<i32>, tensor<8x4xf32>
    }
    return %r#1 : tensor<8x4xf32>
  }
}

// -----

// Steps in a loop whose state no name tells apart: in one round the gradient depends on the parameter alone, although
// momentum comes first and the next round depends on both.

#g = #cgx.groups<[[0, 1]]>
// CHECK-LABEL: @momentum_in_loop
module @momentum_in_loop attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%m: tensor<8x4xf32> {cgx.name = "a"}, %w: tensor<8x4xf32> {cgx.name = "b"}, %x: tensor<16x8xf32> {cgx.name = "x"}, %n: tensor<i32> {cgx.name = "n"})
      -> (tensor<8x4xf32> {cgx.name = "a", cgx.feeds = 0 : i64}, tensor<8x4xf32> {cgx.name = "b", cgx.feeds = 1 : i64}) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %r:3 = stablehlo.while(%i = %n, %v = %m, %p = %w) : tensor<i32>, tensor<8x4xf32>, tensor<8x4xf32>
    cond {
      %c = stablehlo.compare GT, %i, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %y = stablehlo.dot_general %x, %p, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
      %g0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<16x8xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
      // CHECK: cgx.all_reduce sum({{.*}}id({{[0-9]+}}) layer("b", gradient, [8, 4]) :
      %g = cgx.all_reduce sum(%g0) groups(#g) id(0) : tensor<8x4xf32>
      %v1 = stablehlo.add %v, %g : tensor<8x4xf32>
      %q = stablehlo.subtract %p, %v1 : tensor<8x4xf32>
      %j = stablehlo.subtract %i, %one : tensor<i32>
      stablehlo.return %j, %v1, %q : tensor<i32>, tensor<8x4xf32>, tensor<8x4xf32>
    }
    return %r#1, %r#2 : tensor<8x4xf32>, tensor<8x4xf32>
  }
}

// -----

// Loops and branches of upstream dialects.

#g = #cgx.groups<[[0, 1]]>
// CHECK-LABEL: @upstream_loop
module @upstream_loop attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%w: tensor<8x4xf32> {cgx.name = "params['w']"}, %x: tensor<8x8xf32> {cgx.name = "x"}, %flag: i1 {cgx.name = "flag"})
      -> (tensor<8x4xf32> {cgx.name = "result['w']", cgx.feeds = 0 : i64}) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %ten = arith.constant 10 : index
    %r = scf.for %i = %zero to %ten step %one iter_args(%p = %w) -> (tensor<8x4xf32>) {
      %g0 = stablehlo.dot_general %x, %p, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
      // CHECK: cgx.all_reduce sum({{.*}}id({{[0-9]+}}) layer("w", gradient, [8, 4]) :
      %g = cgx.all_reduce sum(%g0) groups(#g) id(0) : tensor<8x4xf32>
      %q = arith.subf %p, %g : tensor<8x4xf32>
      scf.yield %q : tensor<8x4xf32>
    }
    %s = scf.if %flag -> (tensor<8x4xf32>) {
      // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("w", weight, [8, 4]) :
      %a = cgx.all_reduce mean(%r) groups(#g) id(1) : tensor<8x4xf32>
      scf.yield %a : tensor<8x4xf32>
    } else {
      scf.yield %r : tensor<8x4xf32>
    }
    return %s : tensor<8x4xf32>
  }
}

// -----

// Sharpness-aware minimisation: the first gradient moves the point where the second is taken. A statistic that shifts a
// parameter is none, since it does not depend on it.

#g = #cgx.groups<[[0, 1]]>
// CHECK-LABEL: @two_gradients
module @two_gradients attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%w: tensor<8x4xf32> {cgx.name = "params['w']"}, %b: tensor<4xf32> {cgx.name = "params['b']"}, %x: tensor<16x8xf32> {cgx.name = "x"})
      -> (tensor<8x4xf32> {cgx.name = "result['w']", cgx.feeds = 0 : i64}, tensor<4xf32> {cgx.name = "result['b']", cgx.feeds = 1 : i64}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    %s = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<16x4xf32>, tensor<f32>) -> tensor<4xf32>
    // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("", other) :
    %mean = cgx.all_reduce mean(%s) groups(#g) id(0) : tensor<4xf32>
    %shift = stablehlo.subtract %b, %mean : tensor<4xf32>
    %shifts = stablehlo.broadcast_in_dim %shift, dims = [1] : (tensor<4xf32>) -> tensor<16x4xf32>
    %z = stablehlo.add %y, %shifts : tensor<16x4xf32>
    %g0 = stablehlo.dot_general %x, %z, contracting_dims = [0] x [0] : (tensor<16x8xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("w#2", gradient, [8, 4]) :
    %g1 = cgx.all_reduce mean(%g0) groups(#g) id(1) : tensor<8x4xf32>
    %up = stablehlo.add %w, %g1 : tensor<8x4xf32>
    %y2 = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    %z2 = stablehlo.add %y2, %shifts : tensor<16x4xf32>
    %g2 = stablehlo.dot_general %x, %z2, contracting_dims = [0] x [0] : (tensor<16x8xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    %h2 = stablehlo.reduce(%z2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<16x4xf32>, tensor<f32>) -> tensor<4xf32>
    // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("w", gradient, [8, 4]) layer("b", gradient, [4]) :
    %r:2 = cgx.all_reduce mean(%g2, %h2) groups(#g) id(2) : tensor<8x4xf32>, tensor<4xf32>
    %w1 = stablehlo.subtract %w, %r#0 : tensor<8x4xf32>
    %b1 = stablehlo.subtract %b, %r#1 : tensor<4xf32>
    return %w1, %b1 : tensor<8x4xf32>, tensor<4xf32>
  }
}

// -----

// Two micro-batches, each reduced for itself.

#g = #cgx.groups<[[0, 1]]>
// CHECK-LABEL: @reduced_twice
module @reduced_twice attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%w: tensor<8x4xf32> {cgx.name = "params['w']"}, %x: tensor<8x4xf32> {cgx.name = "x"}, %y: tensor<8x4xf32> {cgx.name = "y"})
      -> (tensor<8x4xf32> {cgx.name = "result['w']", cgx.feeds = 0 : i64}) {
    %a = stablehlo.multiply %w, %x : tensor<8x4xf32>
    %b = stablehlo.multiply %w, %y : tensor<8x4xf32>
    // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("w", gradient, [8, 4]) :
    %ra = cgx.all_reduce mean(%a) groups(#g) id(0) : tensor<8x4xf32>
    // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("w#2", gradient, [8, 4]) :
    %rb = cgx.all_reduce mean(%b) groups(#g) id(1) : tensor<8x4xf32>
    %sum = stablehlo.add %ra, %rb : tensor<8x4xf32>
    %next = stablehlo.subtract %w, %sum : tensor<8x4xf32>
    return %next : tensor<8x4xf32>
  }
}
