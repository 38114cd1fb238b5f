// The parameter and the moments that codecs read are bound to them, wherever these stand among the arguments.
// RUN: cgx-opt %s --cgx-bind-optimizer-state --split-input-file | FileCheck %s
// RUN: cgx-opt %s --cgx-bind-optimizer-state --cgx-bind-optimizer-state --cgx-verify-program --split-input-file | FileCheck %s

// Momentum, and beside it a mean of the parameters and the last gradient, which are no moments.
#g = #cgx.groups<[[0, 1]]>
// CHECK-LABEL: module @momentum
module @momentum attributes {cgx.num_ranks = 2 : i64} {
  // CHECK: func.func @main(%[[MEAN:.*]]: tensor<4x8xf32> {{.*}}, %[[B:.*]]: tensor<4x8xf32> {{.*}}, %[[W:.*]]: tensor<4x8xf32> {{.*}}, %[[LAST:.*]]: tensor<4x8xf32> {{.*}}, %{{.*}}: tensor<4x8xf32>)
  func.func @main(%mean: tensor<4x8xf32> {cgx.name = "state['mean']['w']"}, %b: tensor<4x8xf32> {cgx.name = "state['b']['w']"},
      %w: tensor<4x8xf32> {cgx.name = "state['params']['w']"}, %last: tensor<4x8xf32> {cgx.name = "state['last']['w']"}, %x: tensor<4x8xf32>)
      -> (tensor<4x8xf32> {cgx.feeds = 0 : i64}, tensor<4x8xf32> {cgx.feeds = 1 : i64}, tensor<4x8xf32> {cgx.feeds = 2 : i64}, tensor<4x8xf32> {cgx.feeds = 3 : i64}) {
    // CHECK-NEXT: cgx.bind_optimizer_state parameter(%[[W]] : tensor<4x8xf32>) first_moment(%[[B]] : tensor<4x8xf32>) id(7) operand_number(1)
    // CHECK-NOT: cgx.bind_optimizer_state
    %c = stablehlo.constant dense<9.000000e-01> : tensor<4x8xf32>
    %0 = stablehlo.multiply %w, %x : tensor<4x8xf32>
    %1:2 = cgx.all_reduce mean(%x, %0) codec(natural, gcomp<optimizer = momentum, learning_rate = 0.1>) groups(#g) id(7)
        layer("", other) layer("params/w", gradient, [4, 8]) : tensor<4x8xf32>, tensor<4x8xf32>
    %2 = stablehlo.multiply %b, %c : tensor<4x8xf32>
    %3 = stablehlo.add %2, %1#1 : tensor<4x8xf32>
    %4 = stablehlo.multiply %3, %c : tensor<4x8xf32>
    %5 = stablehlo.subtract %w, %4 : tensor<4x8xf32>
    %6 = stablehlo.multiply %mean, %c : tensor<4x8xf32>
    %7 = stablehlo.add %6, %5 : tensor<4x8xf32>
    return %7, %3, %5, %1#1 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  }
}

// -----

// Both moments of Adam, with gradients that are clipped, cast and reshaped on their way, and a started collective.
#g = #cgx.groups<[[0, 1]]>
// CHECK-LABEL: module @adam
module @adam attributes {cgx.num_ranks = 2 : i64} {
  // CHECK: func.func @main(%[[W:.*]]: tensor<4x8xf32> {{.*}}, %[[M:.*]]: tensor<4x8xf32> {{.*}}, %[[V:.*]]: tensor<32xbf16> {{.*}}, %{{.*}}: tensor<4x8xbf16>)
  func.func @main(%w: tensor<4x8xf32> {cgx.name = "state['w']"}, %m: tensor<4x8xf32> {cgx.name = "state['m']"}, %v: tensor<32xbf16> {cgx.name = "state['v']"}, %x: tensor<4x8xbf16>)
      -> (tensor<4x8xf32> {cgx.feeds = 0 : i64}, tensor<4x8xf32> {cgx.feeds = 1 : i64}, tensor<32xbf16> {cgx.feeds = 2 : i64}) {
    // CHECK-NEXT: cgx.bind_optimizer_state parameter(%[[W]] : tensor<4x8xf32>) first_moment(%[[M]] : tensor<4x8xf32>) second_moment(%[[V]] : tensor<32xbf16>) id(0) operand_number(0)
    %h = cgx.start all_reduce mean(%x) codec(error_feedback<#cgx.gcomp<optimizer = adam, learning_rate = 0.1>>)
        groups(#g) id(0) layer("w", gradient, [4, 8]) : tensor<4x8xbf16>
    %r = cgx.wait %h : !cgx.handle<tensor<4x8xbf16>>
    %0 = stablehlo.convert %r : (tensor<4x8xbf16>) -> tensor<4x8xf32>
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %square = stablehlo.multiply %0, %0 : tensor<4x8xf32>
    %sum = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
    %norm = stablehlo.broadcast_in_dim %sum, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %clipped = stablehlo.divide %0, %norm : tensor<4x8xf32>
    %1 = stablehlo.multiply %m, %norm : tensor<4x8xf32>
    %2 = stablehlo.add %1, %clipped : tensor<4x8xf32>
    %3 = stablehlo.reshape %clipped : (tensor<4x8xf32>) -> tensor<32xf32>
    %4 = stablehlo.multiply %3, %3 : tensor<32xf32>
    %5 = stablehlo.convert %4 : (tensor<32xf32>) -> tensor<32xbf16>
    %6 = stablehlo.add %5, %v : tensor<32xbf16>
    %7 = stablehlo.convert %6 : (tensor<32xbf16>) -> tensor<32xf32>
    %8 = stablehlo.reshape %7 : (tensor<32xf32>) -> tensor<4x8xf32>
    %9 = stablehlo.divide %2, %8 : tensor<4x8xf32>
    %10 = stablehlo.subtract %w, %9 : tensor<4x8xf32>
    return %10, %2, %6 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<32xbf16>
  }
}

// -----

// A binding to a codec that is there no more is removed.
#g = #cgx.groups<[[0, 1]]>
// CHECK-LABEL: module @others
module @others attributes {cgx.num_ranks = 2 : i64} {
  // CHECK-NOT: cgx.bind_optimizer_state
  func.func @main(%w: tensor<4xf32>) -> tensor<4xf32> {
    cgx.bind_optimizer_state parameter(%w : tensor<4xf32>) id(0) operand_number(0)
    %0 = cgx.all_reduce sum(%w) codec(lossless) groups(#g) id(0) layer("w", gradient) : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// The learning rate multiplies the update, here its negative; what the loss was scaled by multiplies the moments as well,
// and the decay of nesterov not the whole gradient.
#g = #cgx.groups<[[0, 1]]>
// CHECK-LABEL: module @nesterov
module @nesterov attributes {cgx.num_ranks = 2 : i64} {
  // CHECK: func.func @main(%[[W:.*]]: tensor<4x8xf32> {{.*}}, %[[B:.*]]: tensor<4x8xf32> {{.*}}, %{{.*}}: tensor<f32>, %[[ETA:.*]]: tensor<f32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<4x8xf32>)
  func.func @main(%w: tensor<4x8xf32> {cgx.name = "w"}, %b: tensor<4x8xf32> {cgx.name = "b"}, %scale: tensor<f32>, %eta: tensor<f32>, %mu: tensor<f32>, %x: tensor<4x8xf32>)
      -> (tensor<4x8xf32> {cgx.feeds = 0 : i64}, tensor<4x8xf32> {cgx.feeds = 1 : i64}) {
    // CHECK-NEXT: cgx.bind_optimizer_state parameter(%[[W]] : tensor<4x8xf32>) first_moment(%[[B]] : tensor<4x8xf32>) learning_rate(%[[ETA]] : tensor<f32>) id(0) operand_number(0)
    %r = cgx.all_reduce mean(%x) codec(gcomp<optimizer = nesterov>) groups(#g) id(0) layer("w", gradient, [4, 8])
        : tensor<4x8xf32>
    %scales = stablehlo.broadcast_in_dim %scale, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %g = stablehlo.multiply %r, %scales : tensor<4x8xf32>
    %mus = stablehlo.broadcast_in_dim %mu, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %0 = stablehlo.multiply %b, %mus : tensor<4x8xf32>
    %1 = stablehlo.add %0, %g : tensor<4x8xf32>
    %2 = stablehlo.multiply %mus, %1 : tensor<4x8xf32>
    %3 = stablehlo.add %2, %g : tensor<4x8xf32>
    %minus = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %4 = stablehlo.multiply %minus, %eta : tensor<f32>
    %5 = stablehlo.convert %4 : (tensor<f32>) -> tensor<f32>
    %etas = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %6 = stablehlo.multiply %etas, %3 : tensor<4x8xf32>
    %7 = stablehlo.add %w, %6 : tensor<4x8xf32>
    return %7, %1 : tensor<4x8xf32>, tensor<4x8xf32>
  }
}
