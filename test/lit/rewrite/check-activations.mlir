// Activations that travel in place of weights.
// RUN: cgx-opt %s --cgx-check-activations --split-input-file --verify-diagnostics

#g = #cgx.groups<[[0, 1]]>
#a = #cgx.layer<"", activation>
module attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
func.func @gathered(
    %w: tensor<32x64xf32> {cgx.name = "params['w']", cgx.sharding = #cgx.sharding<[["data"], []]>, cgx.global_type = tensor<64x64xf32>},
    %v: tensor<64x32xf32> {cgx.name = "params['v']", cgx.sharding = #cgx.sharding<[[], ["data"]]>, cgx.global_type = tensor<64x64xf32>},
    %x: tensor<8x64xf32> {cgx.name = "x", cgx.sharding = #cgx.sharding<[["data"], []]>, cgx.global_type = tensor<16x64xf32>})
    -> (tensor<32x64xf32> {cgx.feeds = 0 : i64}, tensor<64x32xf32> {cgx.feeds = 1 : i64}, tensor<16x32xf32>, tensor<16x64xf32>) {
  // expected-warning @below {{activations travel in place of weights: 2 tensors, 8192 bytes, along axis "data" of the mesh, which splits the batch and weights}}
  // expected-note @below {{all_gather with id 0: 4096 bytes for weight 'params['v']' (16384 bytes as a whole)}}
  %0 = cgx.all_gather(%x) dim(0) groups(#g) id(0) layer(#a) : (tensor<8x64xf32>) -> tensor<16x64xf32>
  %1 = stablehlo.dot_general %0, %v, contracting_dims = [1] x [0] : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x64xf32>) -> tensor<16x64xf32>
  // expected-note @below {{all_reduce with id 1: 4096 bytes for weight 'params['w']' (16384 bytes as a whole)}}
  %3 = cgx.all_reduce sum(%2) groups(#g) id(1) layer(#a) : tensor<16x64xf32>
  return %w, %v, %1, %3 : tensor<32x64xf32>, tensor<64x32xf32>, tensor<16x32xf32>, tensor<16x64xf32>
}
}

// -----

// Weights that are gathered; activations of tensor parallelism, along an axis that does not split the batch; embeddings
// that are gathered to be compared with each other: nothing is said.
#data = #cgx.groups<[[0, 2], [1, 3]]>
#model = #cgx.groups<[[0, 1], [2, 3]]>
#a = #cgx.layer<"", activation>
module attributes {cgx.mesh = #cgx.mesh<["data" = 2, "model" = 2]>, cgx.num_ranks = 4 : i64} {
func.func @sound(
    %w: tensor<32x64xf32> {cgx.name = "w", cgx.sharding = #cgx.sharding<[["data"], []]>},
    %v: tensor<64x32xf32> {cgx.name = "v", cgx.sharding = #cgx.sharding<[[], ["model"]]>},
    %x: tensor<8x64xf32> {cgx.name = "x", cgx.sharding = #cgx.sharding<[["data"], []]>})
    -> (tensor<32x64xf32> {cgx.feeds = 0 : i64}, tensor<64x32xf32> {cgx.feeds = 1 : i64}, tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x16xf32>) {
  %0 = cgx.all_gather(%w) dim(0) groups(#data) id(0) layer("w", weight) : (tensor<32x64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
  %3 = stablehlo.dot_general %2, %v, contracting_dims = [1] x [1] : (tensor<8x32xf32>, tensor<64x32xf32>) -> tensor<8x64xf32>
  %4 = cgx.all_reduce sum(%3) groups(#model) id(1) layer(#a) : tensor<8x64xf32>
  %5 = cgx.all_gather(%1) dim(0) groups(#data) id(2) layer(#a) : (tensor<8x64xf32>) -> tensor<16x64xf32>
  %6 = stablehlo.dot_general %1, %5, contracting_dims = [1] x [1] : (tensor<8x64xf32>, tensor<16x64xf32>) -> tensor<8x16xf32>
  return %w, %v, %1, %4, %6 : tensor<32x64xf32>, tensor<64x32xf32>, tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x16xf32>
}
}

// -----

// A weight is gathered, a piece at a time, and what its gradient is made of is brought to where the weight is. Experts
// are not gathered, and their tokens have to travel; a frozen weight has no gradient.
#g = #cgx.groups<[[0, 1]]>
#a = #cgx.layer<"", activation>
module attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
func.func @gradient_without_reduction(
    %w: tensor<2x8x8xf32> {cgx.name = "params['w']", cgx.sharding = #cgx.sharding<[[], ["data"], []]>, cgx.global_type = tensor<2x16x8xf32>},
    %x: tensor<4x8xf32> {cgx.name = "x", cgx.sharding = #cgx.sharding<[["data"], []]>})
    -> (tensor<2x8x8xf32> {cgx.feeds = 0 : i64}, tensor<16x8xf32>) {
  %i = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_slice %w, %i, %i, %i, sizes = [1, 8, 8] : (tensor<2x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
  %1 = stablehlo.reshape %0 : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
  %2 = cgx.all_gather(%1) dim(0) groups(#g) id(0) layer("params/w", weight) : (tensor<8x8xf32>) -> tensor<16x8xf32>
  // expected-warning @below {{activations travel in place of weights: 1 tensor of 128 bytes, along axis "data" of the mesh}}
  // expected-note @below {{all_to_all with id 1: 128 bytes for weight 'params['w']' (1024 bytes as a whole)}}
  %3 = cgx.all_to_all(%x) concat_dim(0) groups(#g) id(1) layer(#a) split_dim(1) : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %4 = stablehlo.dot_general %3, %3, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %5 = stablehlo.reshape %4 : (tensor<4x4xf32>) -> tensor<16xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<16xf32>) -> tensor<16x8xf32>
  %7 = stablehlo.reshape %6 : (tensor<16x8xf32>) -> tensor<2x8x8xf32>
  %8 = stablehlo.subtract %w, %7 : tensor<2x8x8xf32>
  return %8, %2 : tensor<2x8x8xf32>, tensor<16x8xf32>
}

func.func @experts_and_a_frozen_weight(
    %w: tensor<8x8xf32> {cgx.name = "frozen['w']", cgx.sharding = #cgx.sharding<[["data"], []]>, cgx.global_type = tensor<16x8xf32>},
    %e: tensor<8x4xf32> {cgx.name = "experts", cgx.sharding = #cgx.sharding<[["data"], []]>, cgx.global_type = tensor<16x4xf32>},
    %x: tensor<4x8xf32> {cgx.name = "x", cgx.sharding = #cgx.sharding<[["data"], []]>})
    -> (tensor<8x8xf32> {cgx.feeds = 0 : i64}, tensor<8x4xf32> {cgx.feeds = 1 : i64}, tensor<16x8xf32>) {
  %0 = cgx.all_gather(%w) dim(0) groups(#g) id(2) layer("frozen/w", weight) : (tensor<8x8xf32>) -> tensor<16x8xf32>
  %1 = cgx.all_to_all(%x) concat_dim(0) groups(#g) id(3) layer(#a) split_dim(1) : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %2 = stablehlo.subtract %e, %1 : tensor<8x4xf32>
  return %w, %2, %0 : tensor<8x8xf32>, tensor<8x4xf32>, tensor<16x8xf32>
}
}

// -----

// Sequence parallelism: "model" splits weights, and samples inside. Activations are gathered before the product and
// scattered after it, as they are meant to be, with the batch in front and with the sequence in front.
#model = #cgx.groups<[[0, 1], [2, 3]]>
#a = #cgx.layer<"", activation>
module attributes {cgx.mesh = #cgx.mesh<["data" = 2, "model" = 2]>, cgx.num_ranks = 4 : i64} {
func.func @sequences(
    %v: tensor<64x32xf32> {cgx.name = "v", cgx.sharding = #cgx.sharding<[[], ["model"]]>},
    %w: tensor<32x64xf32> {cgx.name = "w", cgx.sharding = #cgx.sharding<[["model"], []]>},
    %x: tensor<2x8x64xf32> {cgx.name = "x", cgx.sharding = #cgx.sharding<[["data"], ["model"], []]>},
    %y: tensor<2xi32> {cgx.name = "y", cgx.sharding = #cgx.sharding<[["data"]]>})
    -> (tensor<64x32xf32> {cgx.feeds = 0 : i64}, tensor<32x64xf32> {cgx.feeds = 1 : i64}, tensor<2x8x64xf32>) {
  %0 = cgx.all_gather(%x) dim(1) groups(#model) id(0) layer(#a) : (tensor<2x8x64xf32>) -> tensor<2x16x64xf32>
  %1 = stablehlo.dot_general %0, %v, contracting_dims = [2] x [0] : (tensor<2x16x64xf32>, tensor<64x32xf32>) -> tensor<2x16x32xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [2] x [0] : (tensor<2x16x32xf32>, tensor<32x64xf32>) -> tensor<2x16x64xf32>
  %3 = cgx.reduce_scatter sum(%2) dim(1) groups(#model) id(1) layer(#a) : (tensor<2x16x64xf32>) -> tensor<2x8x64xf32>
  return %v, %w, %3 : tensor<64x32xf32>, tensor<32x64xf32>, tensor<2x8x64xf32>
}

func.func @sequences_in_front(
    %v: tensor<64x32xf32> {cgx.name = "v", cgx.sharding = #cgx.sharding<[[], ["model"]]>},
    %x: tensor<8x2x64xf32> {cgx.name = "x", cgx.sharding = #cgx.sharding<[["model"], ["data"], []]>})
    -> (tensor<64x32xf32> {cgx.feeds = 0 : i64}, tensor<16x2x32xf32>) {
  %0 = cgx.all_gather(%x) dim(0) groups(#model) id(2) layer(#a) : (tensor<8x2x64xf32>) -> tensor<16x2x64xf32>
  %1 = stablehlo.dot_general %0, %v, contracting_dims = [2] x [0] : (tensor<16x2x64xf32>, tensor<64x32xf32>) -> tensor<16x2x32xf32>
  return %v, %1 : tensor<64x32xf32>, tensor<16x2x32xf32>
}
}

// -----

// Batches split along both axes, weights along one (HSDP): that axis splits samples all the same.
#fsdp = #cgx.groups<[[0, 1], [2, 3]]>
#a = #cgx.layer<"", activation>
module attributes {cgx.mesh = #cgx.mesh<["replica" = 2, "fsdp" = 2]>, cgx.num_ranks = 4 : i64} {
func.func @hybrid(
    %v: tensor<64x32xf32> {cgx.name = "v", cgx.sharding = #cgx.sharding<[[], ["fsdp"]]>},
    %x: tensor<8x64xf32> {cgx.name = "x", cgx.sharding = #cgx.sharding<[["replica", "fsdp"], []]>})
    -> (tensor<64x32xf32> {cgx.feeds = 0 : i64}, tensor<16x32xf32>) {
  // expected-warning @below {{activations travel in place of weights: 1 tensor of 4096 bytes, along axis "fsdp" of the mesh}}
  // expected-note @below {{all_gather with id 0: 4096 bytes for weight 'v'}}
  %0 = cgx.all_gather(%x) dim(0) groups(#fsdp) id(0) layer(#a) : (tensor<8x64xf32>) -> tensor<16x64xf32>
  %1 = stablehlo.dot_general %0, %v, contracting_dims = [1] x [0] : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
  return %v, %1 : tensor<64x32xf32>, tensor<16x32xf32>
}
}
