// Collectives that are started and waited for: one test per constraint, named by its label.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @start_c1_nothing(%a: tensor<4xf32>) {
  // expected-error@below {{expected one collective inside, and nothing else}}
  %h = "cgx.start"() ({
  ^bb0:
  }) : () -> !cgx.handle<tensor<4xf32>>
  %0 = cgx.wait %h : !cgx.handle<tensor<4xf32>>
  return
}

// -----

func.func @start_c1_two(%a: tensor<4xf32>) {
  // expected-error@below {{expected one collective inside, and nothing else}}
  %h = "cgx.start"() ({
    %1 = cgx.broadcast(%a) groups([[0, 1]]) id(0) root(0) : tensor<4xf32>
    %2 = cgx.broadcast(%1) groups([[0, 1]]) id(1) root(0) : tensor<4xf32>
  }) : () -> !cgx.handle<tensor<4xf32>>
  %0 = cgx.wait %h : !cgx.handle<tensor<4xf32>>
  return
}

// -----

func.func @start_c1_no_collective(%a: tensor<4xf32>) {
  // expected-error@below {{expected one collective inside, and nothing else}}
  %h = "cgx.start"() ({
    %1 = arith.addf %a, %a : tensor<4xf32>
  }) : () -> !cgx.handle<tensor<4xf32>>
  %0 = cgx.wait %h : !cgx.handle<tensor<4xf32>>
  return
}

// -----

func.func @start_of_a_wait(%a: tensor<4xf32>) {
  // expected-error@below {{expected a collective such as all_reduce, got wait}}
  %h = cgx.start wait %a : !cgx.handle
  return
}

// -----

func.func @start_c2(%a: tensor<4xf32>) {
  // expected-error@below {{expected a handle of type '!cgx.handle<tensor<4xf32>>', got '!cgx.handle<tensor<5xf32>>'}}
  %h = "cgx.start"() ({
    %1 = cgx.all_reduce sum(%a) groups([[0, 1]]) id(0) : tensor<4xf32>
  }) : () -> !cgx.handle<tensor<5xf32>>
  %0 = cgx.wait %h : !cgx.handle<tensor<5xf32>>
  return
}

// -----

func.func @start_all_gather_c6(%a: tensor<4xf32>) {
  // expected-error@below {{expected result 0 to be 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %h = cgx.start all_gather(%a) dim(0) groups([[0, 1]]) id(0) : (tensor<4xf32>) -> tensor<4xf32>
  %0 = cgx.wait %h : !cgx.handle<tensor<4xf32>>
  return
}

// -----

func.func @start_all_gather_c2(%a: tensor<4xf32>) {
  // expected-error@below {{expected 1 results, one per operand, got 2}}
  %h = cgx.start all_gather(%a) dim(0) groups([[0, 1]]) id(0)
      : (tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %0:2 = cgx.wait %h : !cgx.handle<tensor<8xf32>, tensor<8xf32>>
  return
}

// -----

func.func @start_reduce_scatter_c7(%a: tensor<4xf32>) {
  // expected-error@below {{operand 0: expected an exact codec with reduction max}}
  %h = cgx.start reduce_scatter max(%a) codec(quantize) dim(0) groups([[0, 1]]) id(0)
      : (tensor<4xf32>) -> tensor<2xf32>
  %0 = cgx.wait %h : !cgx.handle<tensor<2xf32>>
  return
}

// -----

func.func @start_c3_nobody_waits(%a: tensor<4xf32>) {
  // expected-error@below {{expected one cgx.wait for the handle, got 0 users}}
  %h = cgx.start broadcast(%a) groups([[0, 1]]) id(0) root(0) : tensor<4xf32>
  return
}

// -----

func.func @start_c3_two_wait(%a: tensor<4xf32>) {
  // expected-error@below {{expected one cgx.wait for the handle, got 2 users}}
  %h = cgx.start all_to_all(%a) concat_dim(0) groups([[0, 1]]) id(0) split_dim(0)
      : (tensor<4xf32>) -> tensor<4xf32>
  %0 = cgx.wait %h : !cgx.handle<tensor<4xf32>>
  %1 = cgx.wait %h : !cgx.handle<tensor<4xf32>>
  return
}

// -----

func.func @start_c3_another_block(%a: tensor<4xf32>, %condition: i1) {
  // expected-error@below {{expected a cgx.wait in the same block as the user of the handle}}
  %h = cgx.start permute(%a) groups([[0, 1]]) id(0) source_target_pairs([[0, 1]]) : tensor<4xf32>
  scf.if %condition {
    // expected-note@below {{it is used here}}
    %0 = cgx.wait %h : !cgx.handle<tensor<4xf32>>
  }
  return
}

// -----

func.func @wait_c1(%h: !cgx.handle<tensor<4xf32>>) {
  // expected-error@below {{expected the handle of a collective started in the same block}}
  %0 = cgx.wait %h : !cgx.handle<tensor<4xf32>>
  return
}

// -----

func.func @wait_c2(%a: tensor<4xf32>) {
  %h = cgx.start all_reduce sum(%a) groups([[0, 1]]) id(0) : tensor<4xf32>
  // expected-error@below {{results are what the handle holds}}
  %0 = "cgx.wait"(%h) : (!cgx.handle<tensor<4xf32>>) -> tensor<5xf32>
  return
}

// -----

func.func @start_c4(%a: tensor<4xf32>, %due: tensor<i1>) {
  // expected-error@below {{has a condition, expected an all_reduce, got broadcast}}
  %h = cgx.start when(%due) broadcast(%a) groups([[0, 1]]) id(0) root(0) : tensor<4xf32>
  %0 = cgx.wait %h : !cgx.handle<tensor<4xf32>>
  return
}

// -----

func.func @start_every_without_a_condition(%a: tensor<4xf32>) {
  // expected-error@below {{has cgx.every, which belongs on a branch, or on a start with a condition}}
  %h = cgx.start {cgx.every = 2 : i64} all_reduce sum(%a) groups([[0, 1]]) id(0) : tensor<4xf32>
  %0 = cgx.wait %h : !cgx.handle<tensor<4xf32>>
  return
}

// -----

// expected-note@below {{prior use here}}
func.func @start_condition_is_one_flag(%a: tensor<4xf32>, %due: tensor<2xi1>) {
  // expected-error@below {{use of value '%due' expects different type than prior uses: 'tensor<i1>' vs 'tensor<2xi1>'}}
  %h = cgx.start when(%due) all_reduce sum(%a) groups([[0, 1]]) id(0) : tensor<4xf32>
  return
}
