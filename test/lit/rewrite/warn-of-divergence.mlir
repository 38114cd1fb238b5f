// State that all ranks are to hold alike, updated from a rank's own data.
// RUN: cgx-opt %s --split-input-file --cgx-warn-of-divergence -o /dev/null --verify-diagnostics

#whole = #cgx.sharding<[[]]>
#split = #cgx.sharding<[["data"]]>
module attributes {cgx.num_ranks = 2 : i64, cgx.mesh = #cgx.mesh<["data" = 2]>} {
// expected-warning @below {{result 1 ('result[1]') is state that all ranks are to hold alike, but is computed, through no collective, from argument 1 ('x'), which is split as #cgx.sharding<[["data"]]>: each rank would go its own way; reduce gradients before they are used, lax.pmean(gradients, axis_name)}}
func.func @main(%w: tensor<4xf32> {cgx.sharding = #whole, cgx.name = "w"}, %x: tensor<4xf32> {cgx.sharding = #split, cgx.name = "x"})
    -> (tensor<4xf32> {cgx.sharding = #split}, tensor<4xf32> {cgx.sharding = #whole, cgx.feeds = 0 : i64, cgx.name = "result[1]"}) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %one, %p = %w) : tensor<i32>, tensor<4xf32>
    cond {
      %go = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %next = stablehlo.subtract %p, %x : tensor<4xf32>
      stablehlo.return %i, %next : tensor<i32>, tensor<4xf32>
    }
  return %x, %0#1 : tensor<4xf32>, tensor<4xf32>
}
}

// -----

// A value after a collective is equal on all ranks, and state that each rank has for itself may be its own. No warning.

#whole = #cgx.sharding<[[]]>
#split = #cgx.sharding<[["data"]]>
module attributes {cgx.num_ranks = 2 : i64, cgx.mesh = #cgx.mesh<["data" = 2]>} {
func.func @main(%w: tensor<4xf32> {cgx.sharding = #whole}, %m: tensor<4xf32> {cgx.sharding = #split}, %x: tensor<4xf32> {cgx.sharding = #split})
    -> (tensor<4xf32> {cgx.sharding = #whole, cgx.feeds = 0 : i64}, tensor<4xf32> {cgx.sharding = #split, cgx.feeds = 1 : i64}) {
  %g = cgx.all_reduce sum(%x) groups([[0, 1]]) id(0) layer("w", gradient) : tensor<4xf32>
  %0 = stablehlo.subtract %w, %g : tensor<4xf32>
  %1 = stablehlo.add %m, %x : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
}

// -----

// A branch without an else. No warning.
#whole = #cgx.sharding<[[]]>
#split = #cgx.sharding<[["data"]]>
module attributes {cgx.num_ranks = 2 : i64, cgx.mesh = #cgx.mesh<["data" = 2]>} {
func.func @main(%w: tensor<4xf32> {cgx.sharding = #whole, cgx.name = "w"}, %x: tensor<4xf32> {cgx.sharding = #split, cgx.name = "x"}, %c: i1)
    -> (tensor<4xf32> {cgx.sharding = #whole, cgx.feeds = 0 : i64, cgx.name = "result[0]"}) {
  scf.if %c {
  }
  return %w : tensor<4xf32>
}
}

// -----

// Values that ranks hand on to each other may form a sum. No warning.
#whole = #cgx.sharding<[[]]>
#split = #cgx.sharding<[["data"]]>
module attributes {cgx.num_ranks = 2 : i64, cgx.mesh = #cgx.mesh<["data" = 2]>} {
func.func @main(%w: tensor<4xf32> {cgx.sharding = #whole, cgx.name = "w"}, %x: tensor<4xf32> {cgx.sharding = #split})
    -> (tensor<4xf32> {cgx.sharding = #whole, cgx.feeds = 0 : i64}) {
  %0 = cgx.permute(%x) groups([[0, 1]]) id(0) layer("", activation) source_target_pairs([[0, 1], [1, 0]]) : tensor<4xf32>
  %1 = stablehlo.add %x, %0 : tensor<4xf32>
  %2 = stablehlo.subtract %w, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
}

// -----

// The next step begins with the mean of what ranks made of it on their own. No warning.
#whole = #cgx.sharding<[[]]>
#split = #cgx.sharding<[["data"]]>
module attributes {cgx.num_ranks = 2 : i64, cgx.mesh = #cgx.mesh<["data" = 2]>} {
func.func @main(%w: tensor<4xf32> {cgx.sharding = #whole, cgx.name = "w"}, %x: tensor<4xf32> {cgx.sharding = #split})
    -> (tensor<4xf32> {cgx.sharding = #whole, cgx.feeds = 0 : i64}) {
  %half = stablehlo.constant dense<0.5> : tensor<4xf32>
  %0 = stablehlo.multiply %w, %half : tensor<4xf32>
  %1 = cgx.all_reduce sum(%0) groups([[0, 1]]) id(0) layer("w", weight) : tensor<4xf32>
  %2 = stablehlo.subtract %1, %x : tensor<4xf32>
  return %2 : tensor<4xf32>
}
}
