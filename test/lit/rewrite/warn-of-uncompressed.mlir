// Nothing, or not what was meant, is compressed: why, and what to do.
// RUN: cgx-opt %s --split-input-file --cgx-warn-of-uncompressed -o /dev/null --verify-diagnostics

// expected-warning @below {{nothing is compressed: the step is for one device and sends nothing; export it over a mesh of several, which a machine without them has with XLA_FLAGS=--xla_force_host_platform_device_count=4, set before JAX starts, and jax.make_mesh((4,), ("data",))}}
module attributes {cgx.num_ranks = 1 : i64} {
func.func @main(%w: tensor<4xf32>) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
}

// -----

// expected-warning @below {{nothing is compressed: the step has no collective, so that its 4 ranks work alone; average gradients over the axis of the mesh, lax.pmean(gradients, axis_name)}}
module attributes {cgx.num_ranks = 4 : i64} {
func.func @main(%w: tensor<4xf32>) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
}

// -----

// expected-warning @below {{nothing is compressed, though 3 gradients travel: 1-D parameter (2), fewer than 1024 elements (1); min-rank=1 takes vectors, too; min-elements= takes smaller ones}}
module attributes {cgx.num_ranks = 2 : i64} {
func.func @main(%a: tensor<4xf32>, %b: tensor<4x2xf32>, %l: tensor<f32>) {
  %0:4 = cgx.all_reduce sum(%a, %a, %b, %l)
      exact_reasons("1-D parameter", "1-D parameter", "fewer than 1024 elements", "kind other") groups([[0, 1]]) id(0)
      layer("a", gradient, [4]) layer("c", gradient, [4]) layer("b", gradient, [4, 2]) layer("", other)
      : tensor<4xf32>, tensor<4xf32>, tensor<4x2xf32>, tensor<f32>
  return
}
}

// -----

// expected-warning @below {{nothing is compressed: none of 2 operands of collectives was found to be the gradient of a parameter that the step updates: kind weight (1), kind other (1); kinds= names what may be compressed}}
module attributes {cgx.num_ranks = 2 : i64} {
func.func @main(%a: tensor<4xf32>, %l: tensor<f32>) {
  %0:2 = cgx.all_reduce sum(%a, %l) exact_reasons("kind weight", "kind other") groups([[0, 1]]) id(0)
      layer("a", weight, [4]) layer("", other) : tensor<4xf32>, tensor<f32>
  return
}
}

// -----

// expected-warning @below {{1 gradient of f64 stays exact, 'b': codecs take f32, f16 and bf16; cast gradients before they are reduced, or train in f32}}
module attributes {cgx.num_ranks = 2 : i64} {
func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf64>) {
  %0:2 = cgx.all_reduce sum(%a, %b) exact_reasons("", "element type f64")
      codec(quantize<bits = 4, bucket = 128, rounding = stochastic, scale = bf16>, identity) groups([[0, 1]]) id(0)
      layer("a", gradient, [64, 64]) layer("b", gradient, [64, 64]) : tensor<64x64xf32>, tensor<64x64xf64>
  return
}
}

// -----

// Exact because somebody asked for it. No warning.

module attributes {cgx.num_ranks = 2 : i64} {
func.func @main(%a: tensor<64x64xf32>) {
  %0 = cgx.all_reduce sum(%a) exact_reasons("") groups([[0, 1]]) id(0) layer("a", gradient, [64, 64])
      : tensor<64x64xf32>
  return
}
}

// -----

// An evaluation: nothing is trained, so that nothing need travel. No warning.

module attributes {cgx.num_ranks = 1 : i64} {
func.func @main(%w: tensor<4x2xf32>, %x: tensor<8x4xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %l = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x2xf32>, tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}
}

// -----

// An evaluation on each rank's own samples that returns its state as it is. No warning.

module attributes {cgx.num_ranks = 4 : i64} {
func.func @main(%w: tensor<4x2xf32>, %x: tensor<8x4xf32>) -> (tensor<4x2xf32> {cgx.feeds = 0 : i64}, tensor<8x2xf32>) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  return %w, %y : tensor<4x2xf32>, tensor<8x2xf32>
}
}

// -----

// A step of one device that trains.

// expected-warning @below {{nothing is compressed: the step is for one device}}
module attributes {cgx.num_ranks = 1 : i64} {
func.func @main(%w: tensor<4xf32>, %g: tensor<4xf32>) -> (tensor<4xf32> {cgx.feeds = 0 : i64}) {
  %0 = stablehlo.subtract %w, %g : tensor<4xf32>
  return %0 : tensor<4xf32>
}
}
