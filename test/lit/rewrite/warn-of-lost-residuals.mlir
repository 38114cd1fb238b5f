// Where error feedback does not make up for what encoding lost: steps that are left out, and units that change.
// RUN: cgx-opt %s --split-input-file --cgx-warn-of-lost-residuals -o /dev/null --verify-diagnostics

#ef = #cgx.error_feedback<#cgx.quantize<bits = 2, bucket = 128, rounding = stochastic, scale = bf16>, decay = 1.0, storage = f32>
// expected-warning @below {{layer 'w': error feedback does not make up for what steps lose that are left out}}
module attributes {cgx.num_ranks = 2 : i64} {
func.func @main(%w: tensor<64x64xf32>, %n: tensor<i32>, %x: tensor<64x64xf32>)
    -> (tensor<64x64xf32> {cgx.feeds = 0 : i64}, tensor<i32> {cgx.feeds = 1 : i64}) {
  %g = cgx.all_reduce mean(%x) codec(#ef) groups([[0, 1]]) id(0) layer("w", gradient, [64, 64]) : tensor<64x64xf32>
  %1 = stablehlo.subtract %w, %g : tensor<64x64xf32>
  %2 = stablehlo.is_finite %g : (tensor<64x64xf32>) -> tensor<64x64xi1>
  %true = stablehlo.constant dense<true> : tensor<i1>
  // expected-note @below {{the condition is computed here}}
  %3 = stablehlo.reduce(%2 init: %true) applies stablehlo.and across dimensions = [0, 1] : (tensor<64x64xi1>, tensor<i1>) -> tensor<i1>
  %4 = stablehlo.select %3, %1, %w : tensor<i1>, tensor<64x64xf32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %5 = stablehlo.add %n, %one : tensor<i32>
  return %4, %5 : tensor<64x64xf32>, tensor<i32>
}
}

// -----

// A branch may leave the step out, too: moments and parameters are then unchanged.
#ef = #cgx.error_feedback<#cgx.quantize<bits = 2, bucket = 128, rounding = stochastic, scale = bf16>, decay = 1.0, storage = f32>
// expected-warning @below {{layer 'w': error feedback does not make up for what steps lose that are left out}}
module attributes {cgx.num_ranks = 2 : i64} {
// expected-note @below {{the condition is computed here}}
func.func @main(%w: tensor<64x64xf32>, %m: tensor<64x64xf32>, %x: tensor<64x64xf32>, %finite: tensor<i1>)
    -> (tensor<64x64xf32> {cgx.feeds = 0 : i64}, tensor<64x64xf32> {cgx.feeds = 1 : i64}) {
  %g = cgx.all_reduce mean(%x) codec(#ef) groups([[0, 1]]) id(0) layer("w", gradient, [64, 64]) : tensor<64x64xf32>
  %0:2 = "stablehlo.if"(%finite) ({
    %1 = stablehlo.add %m, %g : tensor<64x64xf32>
    %2 = stablehlo.subtract %w, %1 : tensor<64x64xf32>
    stablehlo.return %2, %1 : tensor<64x64xf32>, tensor<64x64xf32>
  }, {
    stablehlo.return %w, %m : tensor<64x64xf32>, tensor<64x64xf32>
  }) : (tensor<i1>) -> (tensor<64x64xf32>, tensor<64x64xf32>)
  return %0#0, %0#1 : tensor<64x64xf32>, tensor<64x64xf32>
}
}

// -----

// Gradients are added up until every so many steps (MultiSteps): all of them arrive. Clipping changes all alike. No warning.
#ef = #cgx.error_feedback<#cgx.quantize<bits = 2, bucket = 128, rounding = stochastic, scale = bf16>, decay = 1.0, storage = f32>
module attributes {cgx.num_ranks = 2 : i64} {
func.func @main(%w: tensor<64x64xf32>, %sum: tensor<64x64xf32>, %x: tensor<64x64xf32>, %due: tensor<i1>, %rate: tensor<f32>)
    -> (tensor<64x64xf32> {cgx.feeds = 0 : i64}, tensor<64x64xf32> {cgx.feeds = 1 : i64}) {
  %g = cgx.all_reduce mean(%x) codec(#ef) groups([[0, 1]]) id(0) layer("w", gradient, [64, 64]) : tensor<64x64xf32>
  %r = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
  %scaled = stablehlo.multiply %g, %r : tensor<64x64xf32>
  %clipped = stablehlo.select %due, %scaled, %g : tensor<i1>, tensor<64x64xf32>
  %all = stablehlo.add %sum, %clipped : tensor<64x64xf32>
  %0:2 = "stablehlo.if"(%due) ({
    %zero = stablehlo.constant dense<0.0> : tensor<64x64xf32>
    %2 = stablehlo.subtract %w, %all : tensor<64x64xf32>
    stablehlo.return %2, %zero : tensor<64x64xf32>, tensor<64x64xf32>
  }, {
    stablehlo.return %w, %all : tensor<64x64xf32>, tensor<64x64xf32>
  }) : (tensor<i1>) -> (tensor<64x64xf32>, tensor<64x64xf32>)
  return %0#0, %0#1 : tensor<64x64xf32>, tensor<64x64xf32>
}
}

// -----

// A branch that is always taken leaves nothing out. No warning.
#ef = #cgx.error_feedback<#cgx.quantize<bits = 2, bucket = 128, rounding = stochastic, scale = bf16>, decay = 1.0, storage = f32>
module attributes {cgx.num_ranks = 2 : i64} {
func.func @main(%w: tensor<64x64xf32>, %x: tensor<64x64xf32>) -> (tensor<64x64xf32> {cgx.feeds = 0 : i64}) {
  %g = cgx.all_reduce mean(%x) codec(#ef) groups([[0, 1]]) id(0) layer("w", gradient, [64, 64]) : tensor<64x64xf32>
  %true = stablehlo.constant dense<true> : tensor<i1>
  %0 = "stablehlo.if"(%true) ({
    %1 = stablehlo.subtract %w, %g : tensor<64x64xf32>
    stablehlo.return %1 : tensor<64x64xf32>
  }, {
    stablehlo.return %w : tensor<64x64xf32>
  }) : (tensor<i1>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
}

// -----

// Without error feedback nothing is owed. No warning.
module attributes {cgx.num_ranks = 2 : i64} {
func.func @main(%w: tensor<64x64xf32>, %x: tensor<64x64xf32>, %finite: tensor<i1>) -> (tensor<64x64xf32> {cgx.feeds = 0 : i64}) {
  %g = cgx.all_reduce mean(%x) codec(quantize) groups([[0, 1]]) id(0) layer("w", gradient, [64, 64]) : tensor<64x64xf32>
  %0 = stablehlo.select %finite, %g, %w : tensor<i1>, tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
}

// -----

// A loss scale that changes: the loss was multiplied by it, and the gradients are divided after the collective.
#ef = #cgx.error_feedback<#cgx.quantize<bits = 2, bucket = 128, rounding = stochastic, scale = bf16>, decay = 1.0, storage = f32>
// expected-warning @below {{layer 'w' and 1 more: error feedback keeps what encoding lost in units of the scale that the gradients have when they travel, argument 1 ('state['scale']'), which changes from step to step}}
module attributes {cgx.num_ranks = 2 : i64} {
func.func @main(%w: tensor<64x64xf32>, %scale: tensor<f32> {cgx.name = "state['scale']"}, %x: tensor<64x64xf32>)
    -> (tensor<64x64xf32> {cgx.feeds = 0 : i64}, tensor<f32> {cgx.feeds = 1 : i64}) {
  %s = stablehlo.broadcast_in_dim %scale, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
  %y = stablehlo.multiply %x, %s : tensor<64x64xf32>
  %g:2 = cgx.all_reduce mean(%y, %y) codec(#ef, #ef) groups([[0, 1]]) id(0) layer("w", gradient, [64, 64]) layer("v", gradient, [64, 64])
      : tensor<64x64xf32>, tensor<64x64xf32>
  %0 = stablehlo.divide %g#0, %s : tensor<64x64xf32>
  %1 = stablehlo.divide %g#1, %s : tensor<64x64xf32>
  %2 = stablehlo.add %0, %1 : tensor<64x64xf32>
  %3 = stablehlo.subtract %w, %2 : tensor<64x64xf32>
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %4 = stablehlo.multiply %scale, %half : tensor<f32>
  return %3, %4 : tensor<64x64xf32>, tensor<f32>
}
}

// -----

// A scale that stays, a division before the collective, and a learning rate, which gradients are not computed with. No
// warning.
#ef = #cgx.error_feedback<#cgx.quantize<bits = 2, bucket = 128, rounding = stochastic, scale = bf16>, decay = 1.0, storage = f32>
module attributes {cgx.num_ranks = 2 : i64} {
func.func @main(%w: tensor<64x64xf32>, %scale: tensor<f32>, %x: tensor<64x64xf32>, %rate: tensor<f32>, %other: tensor<f32>)
    -> (tensor<64x64xf32> {cgx.feeds = 0 : i64}, tensor<f32> {cgx.feeds = 1 : i64}) {
  %s = stablehlo.broadcast_in_dim %scale, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
  %y = stablehlo.multiply %x, %s : tensor<64x64xf32>
  %g = cgx.all_reduce mean(%y) codec(#ef) groups([[0, 1]]) id(0) layer("w", gradient, [64, 64]) : tensor<64x64xf32>
  %0 = stablehlo.divide %g, %s : tensor<64x64xf32>
  %o = stablehlo.broadcast_in_dim %other, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
  %z = stablehlo.multiply %x, %o : tensor<64x64xf32>
  %before = stablehlo.divide %z, %o : tensor<64x64xf32>
  %h = cgx.all_reduce mean(%before) codec(#ef) groups([[0, 1]]) id(1) layer("v", gradient, [64, 64]) : tensor<64x64xf32>
  %r = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
  %1 = stablehlo.multiply %h, %r : tensor<64x64xf32>
  %2 = stablehlo.add %0, %1 : tensor<64x64xf32>
  %3 = stablehlo.subtract %w, %2 : tensor<64x64xf32>
  return %3, %scale : tensor<64x64xf32>, tensor<f32>
}
}

// -----

// A step of local training: where nothing is exchanged, no residual moves. No warning.
#ef = #cgx.error_feedback<#cgx.quantize<bits = 2, bucket = 128, rounding = stochastic, scale = bf16>, decay = 1.0, storage = f32>
module attributes {cgx.num_ranks = 2 : i64} {
func.func @main(%w: tensor<64x64xf32>, %x: tensor<64x64xf32>, %meets: tensor<i1>) -> (tensor<64x64xf32> {cgx.feeds = 0 : i64}) {
  %0 = "stablehlo.if"(%meets) ({
    %g = cgx.all_reduce mean(%x) codec(#ef) groups([[0, 1]]) id(0) layer("w", gradient, [64, 64]) : tensor<64x64xf32>
    stablehlo.return %g : tensor<64x64xf32>
  }, {
    stablehlo.return %x : tensor<64x64xf32>
  }) : (tensor<i1>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
}
