// Gradients that autodiff has summed over the ranks, and that the script reduces again.
// RUN: cgx-opt %s --split-input-file --cgx-warn-of-repeated-sums -o /dev/null --verify-diagnostics

#g = #cgx.groups<[[0, 1, 2, 3]]>
module attributes {cgx.num_ranks = 4 : i64} {
func.func @mean_of_a_sum(%w: tensor<8x2xf32>, %b: tensor<2xf32>) -> (tensor<8x2xf32>, tensor<2xf32>) {
  %four = stablehlo.constant dense<4.0> : tensor<f32>
  %0:2 = cgx.all_reduce sum(%w, %b) groups(#g) id(0) layer("w", gradient, [8, 2]) layer("b", gradient, [2])
      : tensor<8x2xf32>, tensor<2xf32>
  // Loss scaling lies between the two.
  %c = stablehlo.convert %0#0 : tensor<8x2xf32>
  // expected-warning @below {{layer 'w' and 1 more: the mean over 4 ranks is taken of a sum over them, which it leaves as it is: the gradient is 4 times the mean; under shard_map(check_vma=True) autodiff has summed already: average the loss with lax.pmean inside of what is differentiated, in place of the gradients}}
  %1:2 = cgx.all_reduce sum(%c, %0#1) groups(#g) id(1) layer("w", gradient, [8, 2]) layer("b", gradient, [2])
      : tensor<8x2xf32>, tensor<2xf32>
  %n = stablehlo.broadcast_in_dim %four, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
  %2 = stablehlo.divide %1#0, %n : tensor<8x2xf32>
  return %2, %1#1 : tensor<8x2xf32>, tensor<2xf32>
}
}

// -----

#g = #cgx.groups<[[0, 1, 2, 3]]>
module attributes {cgx.num_ranks = 4 : i64} {
func.func @sum_of_a_sum(%w: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %0 = cgx.all_reduce sum(%w) groups(#g) id(0) layer("w", gradient) : tensor<8x2xf32>
  // expected-warning @below {{layer 'w': the sum over 4 ranks is taken of a sum over them: the gradient is 4 times the sum}}
  %1 = cgx.all_reduce sum(%0) groups(#g) id(1) layer("w", gradient) : tensor<8x2xf32>
  return %1 : tensor<8x2xf32>
}
}

// -----

// The loss was divided by the number of ranks before it was differentiated: the first sum is the mean. No warning.

#g = #cgx.groups<[[0, 1, 2, 3]]>
module attributes {cgx.num_ranks = 4 : i64} {
func.func @of_a_mean_loss(%w: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %four = stablehlo.constant dense<4.0> : tensor<f32>
  %seed = stablehlo.divide %one, %four : tensor<f32>
  %s = stablehlo.broadcast_in_dim %seed, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
  %g = stablehlo.multiply %s, %w : tensor<8x2xf32>
  %0 = cgx.all_reduce sum(%g) groups(#g) id(0) layer("w", gradient) : tensor<8x2xf32>
  %1 = cgx.all_reduce sum(%0) groups(#g) id(1) layer("w", gradient) : tensor<8x2xf32>
  return %1 : tensor<8x2xf32>
}
}

// -----

// Sums over the axes of a mesh one after the other, and a second sum of what is no gradient. No warning.

#rows = #cgx.groups<[[0, 1], [2, 3]]>
#columns = #cgx.groups<[[0, 2], [1, 3]]>
module attributes {cgx.num_ranks = 4 : i64, cgx.mesh = #cgx.mesh<["a" = 2, "b" = 2]>} {
func.func @two_axes(%w: tensor<8x2xf32>, %l: tensor<8x2xf32>) -> (tensor<8x2xf32>, tensor<8x2xf32>) {
  %0 = cgx.all_reduce sum(%w) groups(#rows) id(0) layer("w", gradient) : tensor<8x2xf32>
  %1 = cgx.all_reduce sum(%0) groups(#columns) id(1) layer("w", gradient) : tensor<8x2xf32>
  %2 = cgx.all_reduce sum(%l) groups(#rows) id(2) : tensor<8x2xf32>
  %3 = cgx.all_reduce sum(%2) groups(#rows) id(3) : tensor<8x2xf32>
  return %1, %3 : tensor<8x2xf32>, tensor<8x2xf32>
}
}
