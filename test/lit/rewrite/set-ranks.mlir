// RUN: cgx-opt %s --split-input-file --cgx-set-ranks=6 --verify-diagnostics | FileCheck %s

#g = #cgx.groups<[[0, 1, 2, 3]]>
// CHECK: cgx.mesh = #cgx.mesh<["data" = 6]>, cgx.num_ranks = 6 : i64
module attributes {cgx.mesh = #cgx.mesh<["data" = 4]>, cgx.num_ranks = 4 : i64} {
  // CHECK: %arg1: tensor<8x2xf32> {cgx.global_type = tensor<48x2xf32>
  func.func public @main(%w: tensor<2x2xf32> {cgx.name = "w", cgx.sharding = #cgx.sharding<[[], []]>, cgx.global_type = tensor<2x2xf32>},
      %x: tensor<8x2xf32> {cgx.name = "x", cgx.sharding = #cgx.sharding<[["data"], []]>, cgx.global_type = tensor<32x2xf32>})
      -> (tensor<2x2xf32> {cgx.feeds = 0 : i64, cgx.name = "w", cgx.sharding = #cgx.sharding<[[], []]>, cgx.global_type = tensor<2x2xf32>}, tensor<f32>, tensor<i32>) {
    %four = stablehlo.constant dense<4.0> : tensor<f32>
    %fours = stablehlo.broadcast_in_dim %four, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %quarter = stablehlo.constant dense<0.25> : tensor<f32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %g = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<2x2xf32>
    // CHECK: cgx.all_reduce sum{{.*}} groups({{\[\[}}0, 1, 2, 3, 4, 5]])
    // expected-remark @below {{for 6 ranks in place of 4: 3 all_reduces, 3 divisions by the number of ranks; each rank takes as many samples as before}}
    %s:2 = cgx.all_reduce sum(%g, %four) groups(#g) id(0) layer("w", gradient, [2, 2]) layer("loss", other)
        : tensor<2x2xf32>, tensor<f32>
    // CHECK: %[[SIX:.*]] = stablehlo.constant dense<6.000000e+00> : tensor<2x2xf32>
    // CHECK: stablehlo.divide %{{.*}}, %[[SIX]] : tensor<2x2xf32>
    %mean = stablehlo.divide %s#0, %fours : tensor<2x2xf32>
    // CHECK: stablehlo.constant dense<0.166666672> : tensor<f32>
    %loss = stablehlo.multiply %quarter, %s#1 : tensor<f32>
    // A count is a count on any number of ranks; a maximum is one.
    %count = cgx.all_reduce sum(%one) groups(#g) id(1) : tensor<i32>
    %most = cgx.all_reduce max(%loss) groups(#g) id(2) : tensor<f32>
    // The four here is no number of ranks, as far as one can tell, but what divides a sum is.
    %again = stablehlo.divide %s#1, %four : tensor<f32>
    %sum = stablehlo.add %most, %again : tensor<f32>
    %next = stablehlo.subtract %w, %mean : tensor<2x2xf32>
    return %next, %sum, %count : tensor<2x2xf32>, tensor<f32>, tensor<i32>
  }
}

// -----

// A started reduction counts as one.
#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.num_ranks = 2 : i64} {
  // CHECK-LABEL: func.func public @main(%arg0: tensor<f32>)
  func.func public @main(%g: tensor<f32>) -> tensor<f32> {
    %two = stablehlo.constant dense<2.0> : tensor<f32>
    // CHECK: cgx.start all_reduce sum{{.*}} groups({{\[\[}}0, 1, 2, 3, 4, 5]])
    // expected-remark @below {{1 all_reduce, 1 division by}}
    %h = cgx.start all_reduce sum(%g) groups(#g) id(0) layer("w", gradient, []) : tensor<f32>
    %s = cgx.wait %h : !cgx.handle<tensor<f32>>
    // CHECK: %[[SIX:.*]] = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    // CHECK: stablehlo.divide %{{.*}}, %[[SIX]]
    %mean = stablehlo.divide %s, %two : tensor<f32>
    return %mean : tensor<f32>
  }
}

// -----

// The loss is averaged inside of what is differentiated.
#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.num_ranks = 2 : i64} {
  // CHECK-LABEL: func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<f32>)
  func.func public @main(%g: tensor<4xf32>, %ct: tensor<f32>) -> tensor<4xf32> {
    %two = stablehlo.constant dense<2.0> : tensor<f32>
    // CHECK: %[[SIX:.*]] = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    // CHECK: stablehlo.divide %arg1, %[[SIX]]
    %each = stablehlo.divide %ct, %two : tensor<f32>
    %all = stablehlo.broadcast_in_dim %each, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %scaled = stablehlo.multiply %g, %all : tensor<4xf32>
    // expected-remark @below {{1 all_reduce, 1 division by}}
    %s = cgx.all_reduce sum(%scaled) groups(#g) id(0) layer("w", gradient, [4]) : tensor<4xf32>
    return %s : tensor<4xf32>
  }
}

// -----

#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.num_ranks = 2 : i64} {
  func.func public @main(%g: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{--cgx-set-ranks: layer 'w' is a sum over the ranks that is not divided by 2: what the step divides by elsewhere cannot be told; average with lax.pmean, or export it for 6}}
    %s = cgx.all_reduce sum(%g) groups(#g) id(0) layer("w", gradient, [4]) : tensor<4xf32>
    return %s : tensor<4xf32>
  }
}

// -----

#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.num_ranks = 2 : i64} {
  func.func public @main(%g: tensor<4xf32>) -> tensor<8xf32> {
    // expected-error @below {{the shapes of cgx.all_gather are those of 2 ranks: export the step for 6}}
    %s = cgx.all_gather(%g) dim(0) groups(#g) id(0) layer("w", weight, [4]) : (tensor<4xf32>) -> tensor<8xf32>
    return %s : tensor<8xf32>
  }
}

// -----

#g = #cgx.groups<[[0, 1], [2, 3]]>
module attributes {cgx.num_ranks = 4 : i64} {
  func.func public @main(%g: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{expected a collective of all 4 ranks, got #cgx.groups<}}
    %s = cgx.all_reduce mean(%g) groups(#g) id(0) layer("w", gradient, [4]) : tensor<4xf32>
    return %s : tensor<4xf32>
  }
}

// -----

#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.num_ranks = 2 : i64} {
  func.func public @main(%g: tensor<4xf32>) -> (tensor<4xf32>, tensor<ui32>) {
    // expected-error @below {{what the step does with the number of its rank may hold for 2 ranks only}}
    %rank = stablehlo.partition_id : tensor<ui32>
    %s = cgx.all_reduce mean(%g) groups(#g) id(0) layer("w", gradient, [4]) : tensor<4xf32>
    return %s, %rank : tensor<4xf32>, tensor<ui32>
  }
}

// -----

#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  // expected-error @below {{state 'm' is split over the 2 ranks: export the step for 6}}
  func.func public @main(%m: tensor<4xf32> {cgx.name = "m", cgx.sharding = #cgx.sharding<[["data"]]>, cgx.global_type = tensor<8xf32>})
      -> (tensor<4xf32> {cgx.feeds = 0 : i64, cgx.name = "m", cgx.sharding = #cgx.sharding<[["data"]]>, cgx.global_type = tensor<8xf32>}) {
    %s = cgx.all_reduce mean(%m) groups(#g) id(0) layer("w", gradient, [4]) : tensor<4xf32>
    return %s : tensor<4xf32>
  }
}

// -----

// State that cgx-local-steps has added for each rank is split over the ranks and has the shape of one.
#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  // CHECK: %arg0: tensor<1x4xf32> {cgx.global_type = tensor<6x4xf32>, cgx.initial = "m", cgx.name = "local['m']"
  func.func public @main(%m: tensor<1x4xf32> {cgx.initial = "m", cgx.name = "local['m']", cgx.sharding = #cgx.sharding<[["data"], []]>, cgx.global_type = tensor<2x4xf32>})
      -> (tensor<1x4xf32> {cgx.feeds = 0 : i64, cgx.name = "local['m']", cgx.sharding = #cgx.sharding<[["data"], []]>, cgx.global_type = tensor<2x4xf32>}) {
    // expected-remark @below {{1 all_reduce, 0 divisions by}}
    %s = cgx.all_reduce mean(%m) groups(#g) id(0) layer("w", outer_gradient, [4]) : tensor<1x4xf32>
    return %s : tensor<1x4xf32>
  }
}

// -----

// A number that divides what is added up may divide a local gradient, too, and that is no sum any more.
#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%m: tensor<1x4xf32> {cgx.initial = "m", cgx.name = "local['m']", cgx.sharding = #cgx.sharding<[["data"], []]>, cgx.global_type = tensor<2x4xf32>}, %ct: tensor<f32>)
      -> (tensor<1x4xf32> {cgx.feeds = 0 : i64, cgx.name = "local['m']", cgx.sharding = #cgx.sharding<[["data"], []]>, cgx.global_type = tensor<2x4xf32>}) {
    %two = stablehlo.constant dense<2.0> : tensor<f32>
    %each = stablehlo.divide %ct, %two : tensor<f32>
    %all = stablehlo.broadcast_in_dim %each, dims = [] : (tensor<f32>) -> tensor<1x4xf32>
    %scaled = stablehlo.multiply %m, %all : tensor<1x4xf32>
    // expected-error @below {{layer 'norm' is averaged before it is added up, and the step trains locally already: give --cgx-set-ranks before --cgx-local-steps}}
    %s = cgx.all_reduce sum(%scaled) groups(#g) id(0) layer("norm", other, []) : tensor<1x4xf32>
    return %s : tensor<1x4xf32>
  }
}

// -----

// expected-error @below {{the mesh #cgx.mesh<["a" = 2, "b" = 2]> has more than one axis}}
module attributes {cgx.mesh = #cgx.mesh<["a" = 2, "b" = 2]>, cgx.num_ranks = 4 : i64} {
  func.func public @main(%g: tensor<4xf32>) -> tensor<4xf32> {
    %s = cgx.all_reduce mean(%g) groups([[0, 1, 2, 3]]) id(0) layer("w", gradient, [4]) : tensor<4xf32>
    return %s : tensor<4xf32>
  }
}
