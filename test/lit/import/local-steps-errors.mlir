// An error names the layer for which there is no local step.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics --cgx-local-steps="every=10"

#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%w: tensor<4xf32> {cgx.name = "params['w']"}, %x: tensor<8xf32> {cgx.name = "x"})
      -> (tensor<4xf32> {cgx.name = "result['w']", cgx.feeds = 0 : i64}) {
    // expected-error @below {{local steps: layer 'w': expected a gradient that is all-reduced by sum or mean, so that each rank has the whole parameter, got reduce_scatter}}
    %g = cgx.reduce_scatter sum(%x) dim(0) groups(#g) id(0) layer("w", gradient, [4]) : (tensor<8xf32>) -> tensor<4xf32>
    %w1 = stablehlo.subtract %w, %g : tensor<4xf32>
    return %w1 : tensor<4xf32>
  }
}

// -----

#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  // expected-error @below {{local steps: expected gradients that are all-reduced, found none in the step}}
  func.func public @main(%w: tensor<4xf32> {cgx.name = "params['w']"})
      -> (tensor<4xf32> {cgx.name = "result['w']", cgx.feeds = 0 : i64}) {
    %r = cgx.all_reduce mean(%w) groups(#g) id(0) layer("w", weight, [4]) : tensor<4xf32>
    return %r : tensor<4xf32>
  }
}

// -----

#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%w: tensor<4xf32> {cgx.name = "params['w']"}, %a: tensor<4xf32> {cgx.name = "start['w']"}, %x: tensor<4xf32> {cgx.name = "x"})
      -> (tensor<4xf32> {cgx.name = "result['w']", cgx.feeds = 0 : i64}, tensor<4xf32> {cgx.name = "result[1]['w']", cgx.feeds = 1 : i64}) {
    %g = cgx.all_reduce mean(%x) groups(#g) id(0) layer("w", gradient, [4]) : tensor<4xf32>
    %w1 = stablehlo.subtract %w, %g : tensor<4xf32>
    // expected-error @below {{local steps: layer 'w': the step trains locally already, it has an outer gradient}}
    %d = cgx.all_reduce mean(%w1) groups(#g) id(1) layer("w", outer_gradient, [4]) : tensor<4xf32>
    return %w1, %d : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// A number that is no average.

#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  // expected-error @below {{local steps: result 1 'result[1]': expected a number that can be averaged over the ranks, because it depends on gradients, got 'tensor<4xi32>'}}
  func.func public @main(%w: tensor<4xf32> {cgx.name = "params['w']"}, %x: tensor<4xf32> {cgx.name = "x"})
      -> (tensor<4xf32> {cgx.name = "result['w']", cgx.feeds = 0 : i64}, tensor<4xi32> {cgx.name = "result[1]"}) {
    %g = cgx.all_reduce mean(%x) groups(#g) id(0) layer("w", gradient, [4]) : tensor<4xf32>
    %w1 = stablehlo.subtract %w, %g : tensor<4xf32>
    %n = stablehlo.convert %g : (tensor<4xf32>) -> tensor<4xi32>
    return %w1, %n : tensor<4xf32>, tensor<4xi32>
  }
}
