// RUN: cgx-opt %s --split-input-file --cgx-label-layers | FileCheck %s

// Statistics of gradients are no gradients: they have lost the sign, or nothing takes it from them.

// Adam whose second moment is averaged before it divides. Its square was written as two equal ops.

#g = #cgx.groups<[[0, 1]]>
// CHECK-LABEL: @second_moment
module @second_moment attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(
      %v: tensor<8x4xf32> {cgx.name = "state['opt']['nu']['w']"}, %w: tensor<8x4xf32> {cgx.name = "state['params']['w']"},
      %x: tensor<16x8xf32> {cgx.name = "batch"})
      -> (tensor<8x4xf32> {cgx.name = "result[0]['opt']['nu']['w']", cgx.feeds = 0 : i64},
          tensor<8x4xf32> {cgx.name = "result[0]['params']['w']", cgx.feeds = 1 : i64}) {
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    %g0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<16x8xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    %half = stablehlo.constant dense<0.5> : tensor<8x4xf32>
    %a = stablehlo.add %g0, %g0 : tensor<8x4xf32>
    %b = stablehlo.add %g0, %g0 : tensor<8x4xf32>
    %gg = stablehlo.multiply %a, %b : tensor<8x4xf32>
    %scaled = stablehlo.multiply %half, %gg : tensor<8x4xf32>
    // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("opt/nu/w", other, [8, 4]) layer("params/w", gradient, [8, 4]) :
    %r:2 = cgx.all_reduce mean(%scaled, %g0) groups(#g) id(0) : tensor<8x4xf32>, tensor<8x4xf32>
    %v0 = stablehlo.multiply %half, %v : tensor<8x4xf32>
    %v1 = stablehlo.add %v0, %r#0 : tensor<8x4xf32>
    %root = stablehlo.sqrt %v1 : tensor<8x4xf32>
    %u = stablehlo.divide %r#1, %root : tensor<8x4xf32>
    %w1 = stablehlo.subtract %w, %u : tensor<8x4xf32>
    return %v1, %w1 : tensor<8x4xf32>, tensor<8x4xf32>
  }
}

// -----

// The product of two different sums is no square: it is the gradient.

#g = #cgx.groups<[[0, 1]]>
// CHECK-LABEL: @product_of_two
module @product_of_two attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%w: tensor<8x4xf32> {cgx.name = "params['w']"}, %x: tensor<16x8xf32> {cgx.name = "batch"})
      -> (tensor<8x4xf32> {cgx.name = "result['w']", cgx.feeds = 0 : i64}) {
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    %g0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<16x8xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    %a = stablehlo.add %g0, %w : tensor<8x4xf32>
    %b = stablehlo.add %w, %w : tensor<8x4xf32>
    %ab = stablehlo.multiply %a, %b : tensor<8x4xf32>
    // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("w", gradient, [8, 4]) :
    %r = cgx.all_reduce mean(%ab) groups(#g) id(0) : tensor<8x4xf32>
    %w1 = stablehlo.subtract %w, %r : tensor<8x4xf32>
    return %w1 : tensor<8x4xf32>
  }
}

// -----

// No state keeps the statistic: it is named by the parameter whose update it scales.

#g = #cgx.groups<[[0, 1]]>
// CHECK-LABEL: @statistic_without_state
module @statistic_without_state attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%w: tensor<8x4xf32> {cgx.name = "params['w']"}, %x: tensor<16x8xf32> {cgx.name = "batch"})
      -> (tensor<8x4xf32> {cgx.name = "result['w']", cgx.feeds = 0 : i64}) {
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    %g0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<16x8xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    %abs = stablehlo.abs %g0 : tensor<8x4xf32>
    // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("w#statistic", other, [8, 4]) layer("w", gradient, [8, 4]) :
    %r:2 = cgx.all_reduce mean(%abs, %g0) groups(#g) id(0) : tensor<8x4xf32>, tensor<8x4xf32>
    %u = stablehlo.divide %r#1, %r#0 : tensor<8x4xf32>
    %w1 = stablehlo.subtract %w, %u : tensor<8x4xf32>
    return %w1 : tensor<8x4xf32>
  }
}

// -----

// A diagonal of the Hessian as products with random signs: each may have either sign, but the parameter takes none of
// it. The momentum of the same path is divided by it, in one step of many.

#g = #cgx.groups<[[0, 1]]>
// CHECK-LABEL: @hessian
module @hessian attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(
      %h: tensor<8x4xf32> {cgx.name = "state['hessian']['w']"}, %w: tensor<8x4xf32> {cgx.name = "state['params']['w']"},
      %x: tensor<16x8xf32> {cgx.name = "batch"}, %z: tensor<8x4xf32> {cgx.name = "signs"}, %now: tensor<i1> {cgx.name = "now"})
      -> (tensor<8x4xf32> {cgx.name = "result['hessian']['w']", cgx.feeds = 0 : i64},
          tensor<8x4xf32> {cgx.name = "result['params']['w']", cgx.feeds = 1 : i64}) {
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    %g0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<16x8xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("params/w", gradient, [8, 4]) :
    %g = cgx.all_reduce mean(%g0) groups(#g) id(0) : tensor<8x4xf32>
    %h1 = "stablehlo.if"(%now) ({
      %wz = stablehlo.multiply %w, %z : tensor<8x4xf32>
      %xz = stablehlo.dot_general %x, %wz, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
      %hz = stablehlo.dot_general %x, %xz, contracting_dims = [0] x [0] : (tensor<16x8xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
      %d = stablehlo.multiply %z, %hz : tensor<8x4xf32>
      // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("hessian/w", other, [8, 4]) :
      %r = cgx.all_reduce mean(%d) groups(#g) id(1) : tensor<8x4xf32>
      %sum = stablehlo.add %h, %r : tensor<8x4xf32>
      stablehlo.return %sum : tensor<8x4xf32>
    }, {
      stablehlo.return %h : tensor<8x4xf32>
    }) : (tensor<i1>) -> tensor<8x4xf32>
    %eps = stablehlo.constant dense<1.0e-6> : tensor<8x4xf32>
    %low = stablehlo.maximum %h1, %eps : tensor<8x4xf32>
    %u = stablehlo.divide %g, %low : tensor<8x4xf32>
    %w1 = stablehlo.subtract %w, %u : tensor<8x4xf32>
    return %h1, %w1 : tensor<8x4xf32>, tensor<8x4xf32>
  }
}

// -----

// The Gram matrix of a square gradient, under the parameter's own path; the preconditioned gradient is the product with
// its inverse, which nothing else takes place by place than the momentum.

#g = #cgx.groups<[[0, 1]]>
// CHECK-LABEL: @gram_matrix
module @gram_matrix attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(
      %l: tensor<4x4xf32> {cgx.name = "state['left']['w']"}, %m: tensor<4x4xf32> {cgx.name = "state['momentum']['w']"},
      %w: tensor<4x4xf32> {cgx.name = "state['params']['w']"}, %x: tensor<16x4xf32> {cgx.name = "batch"})
      -> (tensor<4x4xf32> {cgx.name = "result['left']['w']", cgx.feeds = 0 : i64}, tensor<4x4xf32> {cgx.name = "result['momentum']['w']", cgx.feeds = 1 : i64},
          tensor<4x4xf32> {cgx.name = "result['params']['w']", cgx.feeds = 2 : i64}) {
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x4xf32>, tensor<4x4xf32>) -> tensor<16x4xf32>
    %g0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<4x4xf32>
    %t = stablehlo.transpose %g0, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %gram = stablehlo.dot_general %g0, %t, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    // CHECK: cgx.all_reduce sum({{.*}}id({{[0-9]+}}) layer("left/w", other, [4, 4]) layer("params/w", gradient, [4, 4]) :
    %r:2 = cgx.all_reduce sum(%gram, %g0) groups(#g) id(0) : tensor<4x4xf32>, tensor<4x4xf32>
    %l1 = stablehlo.add %l, %r#0 : tensor<4x4xf32>
    %m1 = stablehlo.add %m, %r#1 : tensor<4x4xf32>
    %inverse = stablehlo.custom_call @inverse(%l1) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %u = stablehlo.dot_general %inverse, %m1, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %w1 = stablehlo.subtract %w, %u : tensor<4x4xf32>
    return %l1, %m1, %w1 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  }
}

// -----

// These keep the sign: a clipped, masked, normalised gradient, each after its collective or before it; the square of a
// parameter is the gradient of its third power.

#g = #cgx.groups<[[0, 1]]>
// CHECK-LABEL: @signs_kept
module @signs_kept attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(
      %a: tensor<8x4xf32> {cgx.name = "state['a']"}, %b: tensor<4xf32> {cgx.name = "state['b']"}, %x: tensor<16x8xf32> {cgx.name = "batch"})
      -> (tensor<8x4xf32> {cgx.name = "result['a']", cgx.feeds = 0 : i64}, tensor<4xf32> {cgx.name = "result['b']", cgx.feeds = 1 : i64}) {
    %one = stablehlo.constant dense<1.0> : tensor<8x4xf32>
    %minus = stablehlo.constant dense<-1.0> : tensor<8x4xf32>
    %y = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    %g0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<16x8xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    %abs = stablehlo.abs %g0 : tensor<8x4xf32>
    %low = stablehlo.add %abs, %one : tensor<8x4xf32>
    %soft = stablehlo.divide %g0, %low : tensor<8x4xf32>
    %clipped = stablehlo.clamp %minus, %soft, %one : tensor<8x4xf32>
    %bb = stablehlo.multiply %b, %b : tensor<4xf32>
    // CHECK: cgx.all_reduce sum({{.*}}id({{[0-9]+}}) layer("a", gradient, [8, 4]) layer("b", gradient, [4]) :
    %r:2 = cgx.all_reduce sum(%clipped, %bb) groups(#g) id(0) : tensor<8x4xf32>, tensor<4xf32>
    %rr = stablehlo.multiply %r#0, %r#0 : tensor<8x4xf32>
    %root = stablehlo.sqrt %rr : tensor<8x4xf32>
    %unit = stablehlo.divide %r#0, %root : tensor<8x4xf32>
    %large = stablehlo.compare GT, %root, %one, FLOAT : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xi1>
    %u = stablehlo.select %large, %unit, %r#0 : tensor<8x4xi1>, tensor<8x4xf32>
    %a1 = stablehlo.subtract %a, %u : tensor<8x4xf32>
    %b1 = stablehlo.subtract %b, %r#1 : tensor<4xf32>
    return %a1, %b1 : tensor<8x4xf32>, tensor<4xf32>
  }
}

// -----

// A loss that is a sum of squares has lost the sign of what it is made of, and its name all the same is that of the
// result. A codebook is made anew of the sums that the state keeps (VQ-VAE), whose name the statistic gets.

#g = #cgx.groups<[[0, 1]]>
// CHECK-LABEL: @squared_loss_and_codebook
module @squared_loss_and_codebook attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%book: tensor<8x4xf32> {cgx.name = "state['book']"}, %sums: tensor<8x4xf32> {cgx.name = "state['sums']"}, %x: tensor<16x8xf32> {cgx.name = "batch"})
      -> (tensor<8x4xf32> {cgx.name = "result[0]['book']", cgx.feeds = 0 : i64}, tensor<8x4xf32> {cgx.name = "result[0]['sums']", cgx.feeds = 1 : i64},
          tensor<f32> {cgx.name = "result[1]['loss']"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %seven = stablehlo.constant dense<7.0> : tensor<8x4xf32>
    %y = stablehlo.dot_general %x, %book, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    %yy = stablehlo.multiply %y, %y : tensor<16x4xf32>
    %loss = stablehlo.reduce(%yy init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x4xf32>, tensor<f32>) -> tensor<f32>
    %nearest = stablehlo.compare GT, %yy, %y, FLOAT : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xi1>
    %counted = stablehlo.convert %nearest : (tensor<16x4xi1>) -> tensor<16x4xf32>
    %count = stablehlo.reduce(%counted init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<16x4xf32>, tensor<f32>) -> tensor<4xf32>
    %s = stablehlo.broadcast_in_dim %count, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
    // CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("loss", other) layer("sums", other, [8, 4]) :
    %r:2 = cgx.all_reduce mean(%loss, %s) groups(#g) id(0) : tensor<f32>, tensor<8x4xf32>
    %sums1 = stablehlo.add %sums, %r#1 : tensor<8x4xf32>
    %book1 = stablehlo.divide %sums1, %seven : tensor<8x4xf32>
    return %book1, %sums1, %r#0 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>
  }
}
