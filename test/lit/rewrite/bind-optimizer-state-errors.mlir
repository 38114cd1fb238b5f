// Where what a codec reads is not found, the error names the layer and what was looked for.
// RUN: cgx-opt %s --cgx-bind-optimizer-state --split-input-file --verify-diagnostics

#g = #cgx.groups<[[0, 1]]>
module @no_parameter attributes {cgx.num_ranks = 2 : i64} {
  func.func @main(%w: tensor<4x8xf32> {cgx.name = "state['w']"}, %x: tensor<4x8xf32>) -> (tensor<4x8xf32> {cgx.feeds = 0 : i64}) {
    // expected-error@below {{operand 0, layer 'v': codec gcomp reads what the optimizer keeps of it: expected an argument of that name that a result of the step updates, found none}}
    %0 = cgx.all_reduce mean(%x) codec(gcomp<optimizer = sgd, learning_rate = 0.1>) groups(#g) id(0)
        layer("v", gradient) : tensor<4x8xf32>
    %1 = stablehlo.subtract %w, %0 : tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  }
}

// -----

#g = #cgx.groups<[[0, 1]]>
module @another_order attributes {cgx.num_ranks = 2 : i64} {
  func.func @main(%w: tensor<8x8xf32> {cgx.name = "state['w']"}, %x: tensor<8x8xf32>) -> (tensor<8x8xf32> {cgx.feeds = 0 : i64}) {
    // expected-error@below {{layer 'w': codec gcomp reads what the optimizer keeps of it: expected the argument of that name, of type 'tensor<8x8xf32>', to be updated by the reduced 'tensor<8x8xf32>', element by element in their order, which it is not}}
    %0 = cgx.all_reduce mean(%x) codec(gcomp<optimizer = sgd, learning_rate = 0.1>) groups(#g) id(0)
        layer("w", gradient) : tensor<8x8xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = stablehlo.subtract %w, %1 : tensor<8x8xf32>
    return %2 : tensor<8x8xf32>
  }
}

// -----

#g = #cgx.groups<[[0, 1]]>
module @another_optimizer attributes {cgx.num_ranks = 2 : i64} {
  func.func @main(%w: tensor<4x8xf32> {cgx.name = "state['w']"}, %x: tensor<4x8xf32>) -> (tensor<4x8xf32> {cgx.feeds = 0 : i64}) {
    // expected-error@below {{layer 'w': codec gcomp reads what the optimizer keeps of it: expected one argument of 32 elements to be its second moment, found none}}
    %0 = cgx.all_reduce mean(%x) codec(gcomp<optimizer = rmsprop, learning_rate = 0.1>) groups(#g) id(0)
        layer("w", gradient) : tensor<4x8xf32>
    %1 = stablehlo.subtract %w, %0 : tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  }
}

// -----

#g = #cgx.groups<[[0, 1]]>
module @two_first_moments attributes {cgx.num_ranks = 2 : i64} {
  func.func @main(%w: tensor<4xf32> {cgx.name = "w"}, %a: tensor<4xf32> {cgx.name = "a"}, %b: tensor<4xf32> {cgx.name = "b"}, %x: tensor<4xf32>) -> (tensor<4xf32> {cgx.feeds = 0 : i64}, tensor<4xf32> {cgx.feeds = 1 : i64}, tensor<4xf32> {cgx.feeds = 2 : i64}) {
    // expected-error@below {{expected one argument of 4 elements to be its first moment, found a, b}}
    %0 = cgx.all_reduce mean(%x) codec(gcomp<optimizer = nesterov, learning_rate = 0.1>) groups(#g) id(0)
        layer("w", gradient) : tensor<4xf32>
    %1 = stablehlo.add %a, %0 : tensor<4xf32>
    %2 = stablehlo.add %b, %0 : tensor<4xf32>
    %3 = stablehlo.subtract %w, %1 : tensor<4xf32>
    return %3, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}

// -----

#g = #cgx.groups<[[0, 1]]>
module @in_a_loop attributes {cgx.num_ranks = 2 : i64} {
  func.func @main(%w: tensor<4xf32> {cgx.name = "w"}, %n: tensor<i32>) -> (tensor<4xf32> {cgx.feeds = 0 : i64}) {
    %0:2 = stablehlo.while(%i = %n, %u = %w) : tensor<i32>, tensor<4xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      // expected-error@below {{operand 0, layer 'w': codec gcomp is for collectives that run once a step, outside of loops and branches}}
      %1 = cgx.all_reduce mean(%u) codec(gcomp<optimizer = sgd, learning_rate = 0.1>) groups(#g) id(0)
          layer("w", gradient) : tensor<4xf32>
      stablehlo.return %i, %1 : tensor<i32>, tensor<4xf32>
    }
    return %0#1 : tensor<4xf32>
  }
}

// -----

// Which of the factors of the gradient is the learning rate cannot be told.
#g = #cgx.groups<[[0, 1]]>
module @two_learning_rates attributes {cgx.num_ranks = 2 : i64} {
  func.func @main(%w: tensor<4xf32> {cgx.name = "w"}, %scale: tensor<f32> {cgx.name = "scale"}, %eta: tensor<f32> {cgx.name = "eta"}, %x: tensor<4xf32>) -> (tensor<4xf32> {cgx.feeds = 0 : i64}) {
    // expected-error@below {{expected one argument, an f32 that multiplies its update and no moment, to be its learning rate, found scale, eta; the codec's own learning_rate is for a constant one, or one that the step computes}}
    %0 = cgx.all_reduce mean(%x) codec(gcomp<optimizer = sgd>) groups(#g) id(0) layer("w", gradient) : tensor<4xf32>
    %1 = stablehlo.broadcast_in_dim %scale, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<4xf32>
    %3 = stablehlo.broadcast_in_dim %eta, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %4 = stablehlo.multiply %3, %2 : tensor<4xf32>
    %5 = stablehlo.subtract %w, %4 : tensor<4xf32>
    return %5 : tensor<4xf32>
  }
}

// -----

// A schedule inside of the step: what it computes cannot be lent.
#g = #cgx.groups<[[0, 1]]>
module @computed_learning_rate attributes {cgx.num_ranks = 2 : i64} {
  func.func @main(%w: tensor<4xf32> {cgx.name = "w"}, %eta: tensor<f32> {cgx.name = "eta"}, %x: tensor<4xf32>) -> (tensor<4xf32> {cgx.feeds = 0 : i64}) {
    // expected-error@below {{to be its learning rate, found none}}
    %0 = cgx.all_reduce mean(%x) codec(gcomp<optimizer = sgd>) groups(#g) id(0) layer("w", gradient) : tensor<4xf32>
    %1 = stablehlo.multiply %eta, %eta : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %3 = stablehlo.multiply %0, %2 : tensor<4xf32>
    %4 = stablehlo.subtract %w, %3 : tensor<4xf32>
    return %4 : tensor<4xf32>
  }
}

// -----

// One that half of the gradient passes by is none: nesterov's momentum.
#g = #cgx.groups<[[0, 1]]>
module @momentum_argument attributes {cgx.num_ranks = 2 : i64} {
  func.func @main(%w: tensor<4xf32> {cgx.name = "w"}, %b: tensor<4xf32> {cgx.name = "b"}, %mu: tensor<f32> {cgx.name = "mu"}, %x: tensor<4xf32>) -> (tensor<4xf32> {cgx.feeds = 0 : i64}, tensor<4xf32> {cgx.feeds = 1 : i64}) {
    // expected-error@below {{to be its learning rate, found none}}
    %0 = cgx.all_reduce mean(%x) codec(gcomp<optimizer = nesterov>) groups(#g) id(0) layer("w", gradient)
        : tensor<4xf32>
    %1 = stablehlo.broadcast_in_dim %mu, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %2 = stablehlo.multiply %b, %1 : tensor<4xf32>
    %3 = stablehlo.add %2, %0 : tensor<4xf32>
    %4 = stablehlo.multiply %3, %1 : tensor<4xf32>
    %5 = stablehlo.add %4, %0 : tensor<4xf32>
    %6 = stablehlo.subtract %w, %5 : tensor<4xf32>
    return %6, %3 : tensor<4xf32>, tensor<4xf32>
  }
}
