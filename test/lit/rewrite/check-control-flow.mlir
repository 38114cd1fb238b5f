// Collectives that not all ranks of a group may reach.
// RUN: cgx-opt %s --cgx-check-control-flow --split-input-file --verify-diagnostics
// RUN: cgx-opt %s --cgx-check-control-flow=action=ignore --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=IGNORED --allow-empty
// RUN: not cgx-opt %s --cgx-check-control-flow=action=error --split-input-file -o /dev/null 2>&1 | FileCheck %s
// IGNORED-NOT: warning: all_reduce
// CHECK: error: all_reduce with id 0 (layer 'w') in a branch whose condition may differ along axis "data" of the mesh

#g = #cgx.groups<[[0, 1, 2, 3]]>
#w = #cgx.layer<"w", gradient>
module attributes {cgx.mesh = #cgx.mesh<["data" = 4]>, cgx.num_ranks = 4 : i64} {
func.func @loss_of_own_batch(
    // expected-note @below {{it differs because of argument 'batch['x']', of which each rank has its own part}}
    %x: tensor<8xf32> {cgx.name = "batch['x']", cgx.sharding = #cgx.sharding<[["data"]]>},
    %g: tensor<8xf32> {cgx.name = "state['g']", cgx.sharding = #cgx.sharding<[[]]>}) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %loss = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  // expected-note @below {{the condition is computed here}}
  %big = stablehlo.compare GT, %loss, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  // expected-warning @below {{all_reduce with id 0 (layer 'w') in a branch whose condition may differ along axis "data" of the mesh: ranks that take it would wait for the others}}
  %r = "stablehlo.if"(%big) ({
    // expected-note @below {{the first collective is here}}
    %0 = cgx.all_reduce mean(%g) groups(#g) id(0) layer(#w) : tensor<8xf32>
    stablehlo.return %0 : tensor<8xf32>
  }, {
    stablehlo.return %g : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
}

// -----

// Common code that is sound: nothing is said.
#g = #cgx.groups<[[0, 1, 2, 3]]>
#w = #cgx.layer<"w", gradient>
module attributes {cgx.mesh = #cgx.mesh<["data" = 4]>, cgx.num_ranks = 4 : i64} {

// A step counter of the state.
func.func @counter(%n: tensor<i32> {cgx.sharding = #cgx.sharding<[]>}, %g: tensor<8xf32>) -> tensor<8xf32> {
  %c4 = stablehlo.constant dense<4> : tensor<i32>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %m = stablehlo.remainder %n, %c4 : tensor<i32>
  %p = stablehlo.compare EQ, %m, %c0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r = "stablehlo.if"(%p) ({
    %0 = cgx.all_reduce mean(%g) groups(#g) id(0) layer(#w) : tensor<8xf32>
    stablehlo.return %0 : tensor<8xf32>
  }, {
    stablehlo.return %g : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// A scan: its counter begins with a constant, and the condition looks at nothing else.
func.func @scan(%g: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c0, %s = %g) : tensor<i32>, tensor<8xf32>
   cond {
    %c9 = stablehlo.constant dense<9> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %c9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %1 = cgx.all_reduce mean(%s) groups(#g) id(0) layer(#w) : tensor<8xf32>
    %2 = stablehlo.multiply %1, %g : tensor<8xf32>
    %3 = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %3, %2 : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}

// Dynamic loss scaling: the gradient is finite, after its mean, or in all ranks.
func.func @all_finite(%g: tensor<8xf32>) -> tensor<8xf32> {
  %0 = cgx.all_reduce mean(%g) groups(#g) id(0) layer(#w) : tensor<8xf32>
  %1 = stablehlo.is_finite %0 : (tensor<8xf32>) -> tensor<8xi1>
  %true = stablehlo.constant dense<true> : tensor<i1>
  %2 = stablehlo.reduce(%1 init: %true) applies stablehlo.and across dimensions = [0] : (tensor<8xi1>, tensor<i1>) -> tensor<i1>
  %3 = stablehlo.convert %2 : (tensor<i1>) -> tensor<i32>
  %r = "stablehlo.case"(%3) ({
    stablehlo.return %g : tensor<8xf32>
  }, {
    %4 = cgx.all_reduce sum(%g) groups(#g) id(1) layer(#w) : tensor<8xf32>
    stablehlo.return %4 : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// Until it converges: the residual is reduced in each iteration, and is replicated before the first one.
func.func @converging(%g: tensor<8xf32>) -> tensor<8xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0:2 = stablehlo.while(%res = %one, %x = %g) : tensor<f32>, tensor<8xf32>
   cond {
    %eps = stablehlo.constant dense<1.0e-3> : tensor<f32>
    %1 = stablehlo.compare GT, %res, %eps, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %2 = cgx.all_reduce sum(%1) groups(#g) id(0) layer(#w) : tensor<f32>
    stablehlo.return %2, %x : tensor<f32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}

// Random choices with a key that all have; a custom call without side effects.
func.func @functions(%k: tensor<2xui64> {cgx.sharding = #cgx.sharding<[[]]>}, %g: tensor<8xf32>) -> tensor<8xf32> {
  %s, %b = stablehlo.rng_bit_generator %k, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui32>)
  %1 = stablehlo.custom_call @mean(%b) : (tensor<ui32>) -> tensor<ui32>
  %2 = stablehlo.convert %1 : (tensor<ui32>) -> tensor<i1>
  %r = "stablehlo.if"(%2) ({
    %4 = cgx.all_reduce sum(%g) groups(#g) id(1) layer(#w) : tensor<8xf32>
    stablehlo.return %4 : tensor<8xf32>
  }, {
    stablehlo.return %g : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
}

// -----

// A loop that ends at another time on each rank, and what comes out of it.
#g = #cgx.groups<[[0, 1, 2, 3]]>
#w = #cgx.layer<"w", gradient>
module attributes {cgx.mesh = #cgx.mesh<["data" = 4]>, cgx.num_ranks = 4 : i64} {
func.func @loop(
    // expected-note @below {{it differs because of argument 'x', of which each rank has its own part}}
    %xs: tensor<1xf32> {cgx.name = "x", cgx.sharding = #cgx.sharding<[["data"]]>}, %g: tensor<8xf32>) -> tensor<8xf32> {
  %x = stablehlo.reshape %xs : (tensor<1xf32>) -> tensor<f32>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  // expected-warning @below {{all_reduce with id 0 (layer 'w') in a loop whose condition may differ}}
  %0:3 = stablehlo.while(%i = %c0, %y = %x, %s = %g) : tensor<i32>, tensor<f32>, tensor<8xf32>
   cond {
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    // expected-note @below {{the condition is computed here}}
    %1 = stablehlo.compare GT, %y, %one, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %h = stablehlo.constant dense<0.5> : tensor<f32>
    // expected-note @below {{the first collective is here}}
    %1 = cgx.all_reduce mean(%s) groups(#g) id(0) layer(#w) : tensor<8xf32>
    %2 = stablehlo.add %i, %c1 : tensor<i32>
    %3 = stablehlo.multiply %y, %h : tensor<f32>
    stablehlo.return %2, %3, %1 : tensor<i32>, tensor<f32>, tensor<8xf32>
  }
  %c3 = stablehlo.constant dense<3> : tensor<i32>
  // The number of iterations is another one on each rank.
  // expected-note @below {{the condition is computed here}}
  %many = stablehlo.compare GT, %0#0, %c3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  // expected-warning @below {{all_reduce with id 1 (layer 'w') and 1 other in a branch whose condition may differ}}
  %r = "stablehlo.if"(%many) ({
    // expected-note @below {{the first collective is here}}
    %4 = cgx.all_reduce sum(%g) groups(#g) id(1) layer(#w) : tensor<8xf32>
    %5 = cgx.all_gather(%g) dim(0) groups(#g) id(2) layer(#w) : (tensor<8xf32>) -> tensor<32xf32>
    stablehlo.return %4 : tensor<8xf32>
  }, {
    stablehlo.return %g : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
}

// -----

// Two axes: what differs along one of them may decide about collectives along the other.
#data = #cgx.groups<[[0, 2], [1, 3]]>
#model = #cgx.groups<[[0, 1], [2, 3]]>
#w = #cgx.layer<"w", gradient>
module attributes {cgx.mesh = #cgx.mesh<["data" = 2, "model" = 2]>, cgx.num_ranks = 4 : i64, mhlo.num_partitions = 4 : i32} {

// The stage of a pipeline: the position along `model`.
func.func @stage(%g: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note @below {{it differs because of the result of stablehlo.partition_id}}
  %rank = stablehlo.partition_id : tensor<ui32>
  %c2 = stablehlo.constant dense<2> : tensor<ui32>
  %stage = stablehlo.remainder %rank, %c2 : tensor<ui32>
  %i = stablehlo.convert %stage : (tensor<ui32>) -> tensor<i32>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  // expected-note @below {{the condition is computed here}}
  %first = stablehlo.compare EQ, %i, %c0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  // The ranks of a stage agree.
  %r = "stablehlo.if"(%first) ({
    %4 = cgx.all_reduce sum(%g) groups(#data) id(0) layer(#w) : tensor<8xf32>
    stablehlo.return %4 : tensor<8xf32>
  }, {
    stablehlo.return %g : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  // The ranks of different stages do not.
  // expected-warning @below {{all_reduce with id 1 (layer 'w') in a branch whose condition may differ along axis "model" of the mesh}}
  %s = "stablehlo.if"(%first) ({
    // expected-note @below {{the first collective is here}}
    %4 = cgx.all_reduce sum(%r) groups(#model) id(1) layer(#w) : tensor<8xf32>
    stablehlo.return %4 : tensor<8xf32>
  }, {
    stablehlo.return %r : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %s : tensor<8xf32>
}

// A loss that was reduced along one axis only.
func.func @half_reduced(
    // expected-note @below {{it differs because of argument 1, which has no cgx.sharding: nothing is known of it}}
    %g: tensor<8xf32>, %l: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = cgx.all_reduce mean(%l) groups(#model) id(0) layer(#w) : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  // expected-note @below {{the condition is computed here}}
  %p = stablehlo.compare GT, %0, %z, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %r = "stablehlo.if"(%p) ({
    %4 = cgx.all_reduce sum(%g) groups(#model) id(1) layer(#w) : tensor<8xf32>
    stablehlo.return %4 : tensor<8xf32>
  }, {
    stablehlo.return %g : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  // expected-warning @below {{all_reduce with id 2 (layer 'w') in a branch whose condition may differ along axis "data" of the mesh}}
  %s = "stablehlo.if"(%p) ({
    // expected-note @below {{the first collective is here}}
    %4 = cgx.all_reduce sum(%g) groups([[0, 1, 2, 3]]) id(2) layer(#w) : tensor<8xf32>
    stablehlo.return %4 : tensor<8xf32>
  }, {
    stablehlo.return %g : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %r, %s : tensor<8xf32>, tensor<8xf32>
}
}

// -----

// Written by hand, nothing said of how arguments are split. A counter is equal on all ranks, and so is state of
// which all ranks are given the same next value; a loss of each rank's own samples is not.
#g = #cgx.groups<[[0, 1, 2, 3]]>
#w = #cgx.layer<"w", gradient>
module attributes {cgx.mesh = #cgx.mesh<["data" = 4]>, cgx.num_ranks = 4 : i64} {
func.func @every_fourth_step(%n: tensor<i32>, %g: tensor<8xf32>) -> tensor<8xf32> {
  %four = stablehlo.constant dense<4> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.remainder %n, %four : tensor<i32>
  %1 = stablehlo.compare EQ, %0, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %2 = "stablehlo.if"(%1) ({
    %3 = cgx.all_reduce mean(%g) groups(#g) id(0) layer(#w) : tensor<8xf32>
    stablehlo.return %3 : tensor<8xf32>
  }, {
    stablehlo.return %g : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

func.func @state_that_is_held_alike(%s: tensor<f32>, %g: tensor<8xf32>, %l: tensor<f32>)
    -> (tensor<f32> {cgx.feeds = 0 : i64}, tensor<8xf32>) {
  %mean = cgx.all_reduce mean(%l) groups(#g) id(1) : tensor<f32>
  %next = stablehlo.add %s, %mean : tensor<f32>
  %limit = stablehlo.constant dense<1.0> : tensor<f32>
  %1 = stablehlo.compare GT, %s, %limit, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %2 = "stablehlo.if"(%1) ({
    %3 = cgx.all_reduce mean(%g) groups(#g) id(2) layer(#w) : tensor<8xf32>
    stablehlo.return %3 : tensor<8xf32>
  }, {
    stablehlo.return %g : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %next, %2 : tensor<f32>, tensor<8xf32>
}

func.func @state_that_drifts(
    // expected-note @below {{it differs because of argument 0, which has no cgx.sharding: nothing is known of it}}
    %s: tensor<f32>, %g: tensor<8xf32>, %l: tensor<f32>) -> (tensor<f32> {cgx.feeds = 0 : i64}, tensor<8xf32>) {
  %next = stablehlo.add %s, %l : tensor<f32>
  %limit = stablehlo.constant dense<1.0> : tensor<f32>
  // expected-note @below {{the condition is computed here}}
  %1 = stablehlo.compare GT, %s, %limit, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  // expected-warning @below {{all_reduce with id 3 (layer 'w') in a branch whose condition may differ along axis "data" of the mesh}}
  %2 = "stablehlo.if"(%1) ({
    // expected-note @below {{the first collective is here}}
    %3 = cgx.all_reduce mean(%g) groups(#g) id(3) layer(#w) : tensor<8xf32>
    stablehlo.return %3 : tensor<8xf32>
  }, {
    stablehlo.return %g : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %next, %2 : tensor<f32>, tensor<8xf32>
}
}

// -----

// Loops and branches of other dialects tell by the same interface what goes where.
#g = #cgx.groups<[[0, 1, 2, 3]]>
#w = #cgx.layer<"w", gradient>
module attributes {cgx.mesh = #cgx.mesh<["data" = 4]>, cgx.num_ranks = 4 : i64} {
func.func @upstream_loop(
    // expected-note @below {{it differs because of argument 'batch['n']', of which each rank has its own part}}
    // expected-note @below {{the condition is computed here}}
    %n: index {cgx.name = "batch['n']", cgx.sharding = #cgx.sharding<[["data"]]>},
    %p: i1 {cgx.name = "state['p']", cgx.sharding = #cgx.sharding<[]>},
    %g: tensor<8xf32> {cgx.name = "state['g']", cgx.sharding = #cgx.sharding<[[]]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %alike = scf.if %p -> tensor<8xf32> {
    %0 = cgx.all_reduce mean(%g) groups(#g) id(0) layer(#w) : tensor<8xf32>
    scf.yield %0 : tensor<8xf32>
  } else {
    scf.yield %g : tensor<8xf32>
  }
  // expected-warning @below {{all_reduce with id 1 (layer 'w') in a loop whose condition may differ along axis "data" of the mesh: ranks that stay in it would wait for the others}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %g) -> tensor<8xf32> {
    // expected-note @below {{the first collective is here}}
    %0 = cgx.all_reduce mean(%s) groups(#g) id(1) layer(#w) : tensor<8xf32>
    scf.yield %0 : tensor<8xf32>
  }
  return %alike, %r : tensor<8xf32>, tensor<8xf32>
}
}

// -----

// A value that both branches return is equal to the one before, whichever was taken.
#g = #cgx.groups<[[0, 1, 2, 3]]>
#w = #cgx.layer<"w", gradient>
module attributes {cgx.mesh = #cgx.mesh<["data" = 4]>, cgx.num_ranks = 4 : i64} {
func.func @same_in_both_branches(
    %x: tensor<1xi1> {cgx.name = "batch['x']", cgx.sharding = #cgx.sharding<[["data"]]>},
    %n: tensor<i1> {cgx.name = "state['n']", cgx.sharding = #cgx.sharding<[]>},
    %g: tensor<8xf32> {cgx.name = "state['g']", cgx.sharding = #cgx.sharding<[[]]>}) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<8xf32>
  %own = stablehlo.reshape %x : (tensor<1xi1>) -> tensor<i1>
  %both:2 = "stablehlo.if"(%own) ({
    stablehlo.return %n, %g : tensor<i1>, tensor<8xf32>
  }, {
    stablehlo.return %n, %zero : tensor<i1>, tensor<8xf32>
  }) : (tensor<i1>) -> (tensor<i1>, tensor<8xf32>)
  %r = "stablehlo.if"(%both#0) ({
    %0 = cgx.all_reduce mean(%g) groups(#g) id(0) layer(#w) : tensor<8xf32>
    stablehlo.return %0 : tensor<8xf32>
  }, {
    stablehlo.return %both#1 : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
}

// -----

// All ranks must send what a start with a condition sends: the flag of one batch differs.
#g = #cgx.groups<[[0, 1, 2, 3]]>
#w = #cgx.layer<"w", outer_gradient>
module attributes {cgx.mesh = #cgx.mesh<["data" = 4]>, cgx.num_ranks = 4 : i64} {
func.func @started_by_own_loss(
    // expected-note @below {{it differs because of argument 'batch['x']', of which each rank has its own part}}
    %x: tensor<8xf32> {cgx.name = "batch['x']", cgx.sharding = #cgx.sharding<[["data"]]>},
    %g: tensor<8xf32> {cgx.name = "state['g']", cgx.sharding = #cgx.sharding<[[]]>}) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %loss = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  // expected-note @below {{the condition is computed here}}
  %big = stablehlo.compare GT, %loss, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  // expected-warning @below {{all_reduce with id 0 (layer 'w') whose start's condition may differ along axis "data" of the mesh: ranks that start it would wait for the others}}
  %h = cgx.start when(%big) all_reduce mean(%g) groups(#g) id(0) layer(#w) : tensor<8xf32>
  %r = cgx.wait %h : !cgx.handle<tensor<8xf32>>
  return %r : tensor<8xf32>
}

// The condition is equal where a counter decides; so is the result of the wait, zeros or the mean, by which a
// branch may be taken.
func.func @started_by_a_counter(%n: tensor<i32> {cgx.sharding = #cgx.sharding<[]>}, %g: tensor<f32>) -> tensor<f32> {
  %c4 = stablehlo.constant dense<4> : tensor<i32>
  %due = stablehlo.compare EQ, %n, %c4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %h = cgx.start when(%due) all_reduce mean(%g) groups(#g) id(1) layer(#w) : tensor<f32>
  %r = cgx.wait %h : !cgx.handle<tensor<f32>>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %big = stablehlo.compare GT, %r, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %i = cgx.start when(%big) all_reduce mean(%g) groups(#g) id(2) layer(#w) : tensor<f32>
  %s = cgx.wait %i : !cgx.handle<tensor<f32>>
  return %s : tensor<f32>
}
}
