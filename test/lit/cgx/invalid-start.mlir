// Collectives that are started and waited for: one test per constraint, named by its label.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @all_reduce_start_s1(%a: tensor<4xf32>) {
  // expected-error@below {{expected result 0 to be 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %h = cgx.all_reduce_start sum(%a) groups([[0, 1]]) id(0) : (tensor<4xf32>) -> !cgx.handle<tensor<5xf32>>
  %0 = cgx.wait %h : !cgx.handle<tensor<5xf32>>
  return
}

// -----

func.func @all_gather_start_s1(%a: tensor<4xf32>) {
  // expected-error@below {{expected result 0 to be 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %h = cgx.all_gather_start(%a) dim(0) groups([[0, 1]]) id(0) : (tensor<4xf32>) -> !cgx.handle<tensor<4xf32>>
  %0 = cgx.wait %h : !cgx.handle<tensor<4xf32>>
  return
}

// -----

func.func @all_reduce_start_c2(%a: tensor<4xf32>) {
  // expected-error@below {{expected 1 results, one per operand, got 2}}
  %h = cgx.all_reduce_start sum(%a) groups([[0, 1]]) id(0)
      : (tensor<4xf32>) -> !cgx.handle<tensor<4xf32>, tensor<4xf32>>
  %0:2 = cgx.wait %h : !cgx.handle<tensor<4xf32>, tensor<4xf32>>
  return
}

// -----

func.func @reduce_scatter_start_c7(%a: tensor<4xf32>) {
  // expected-error@below {{operand 0: expected an exact codec with reduction max}}
  %h = cgx.reduce_scatter_start max(%a) codec(quantize) dim(0) groups([[0, 1]]) id(0)
      : (tensor<4xf32>) -> !cgx.handle<tensor<2xf32>>
  %0 = cgx.wait %h : !cgx.handle<tensor<2xf32>>
  return
}

// -----

func.func @broadcast_start_s2_nobody_waits(%a: tensor<4xf32>) {
  // expected-error@below {{expected one cgx.wait for the handle, got 0 users}}
  %h = cgx.broadcast_start(%a) groups([[0, 1]]) id(0) root(0) : (tensor<4xf32>) -> !cgx.handle<tensor<4xf32>>
  return
}

// -----

func.func @all_to_all_start_s2_two_wait(%a: tensor<4xf32>) {
  // expected-error@below {{expected one cgx.wait for the handle, got 2 users}}
  %h = cgx.all_to_all_start(%a) concat_dim(0) groups([[0, 1]]) id(0) split_dim(0)
      : (tensor<4xf32>) -> !cgx.handle<tensor<4xf32>>
  %0 = cgx.wait %h : !cgx.handle<tensor<4xf32>>
  %1 = cgx.wait %h : !cgx.handle<tensor<4xf32>>
  return
}

// -----

func.func @permute_start_s2_another_block(%a: tensor<4xf32>, %condition: i1) {
  // expected-error@below {{expected a cgx.wait in the same block as the user of the handle}}
  %h = cgx.permute_start(%a) groups([[0, 1]]) id(0) source_target_pairs([[0, 1]])
      : (tensor<4xf32>) -> !cgx.handle<tensor<4xf32>>
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
  %h = cgx.all_reduce_start sum(%a) groups([[0, 1]]) id(0) : (tensor<4xf32>) -> !cgx.handle<tensor<4xf32>>
  // expected-error@below {{results are what the handle holds}}
  %0 = "cgx.wait"(%h) : (!cgx.handle<tensor<4xf32>>) -> tensor<5xf32>
  return
}
