// Checks what no single op can check: one test per label of the pass.
// RUN: cgx-opt %s --cgx-verify-program --split-input-file --verify-diagnostics

#x = #cgx.layer<"", other>
// expected-error@below {{expected cgx.num_ranks, as the module has collectives}}
module @p1 {
  func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = cgx.all_reduce sum(%a) groups([[0, 1]]) id(0) layer(#x) : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

#x = #cgx.layer<"", other>
module @p2 attributes {cgx.num_ranks = 2 : i64} {
  func.func @f(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    // expected-note@below {{the first is here}}
    %0 = cgx.all_reduce sum(%a) groups([[0, 1]]) id(0) layer(#x) : tensor<4xf32>
    // expected-error@below {{expected ids to be unique, got 0 again}}
    %1 = cgx.broadcast(%a) groups([[0, 1]]) id(0) layer(#x) root(0) : tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

#x = #cgx.layer<"", other>
module @p2_explicit attributes {cgx.num_ranks = 2 : i64} {
  func.func @f(%a: tensor<4xf32>) {
    // expected-note@below {{the first is here}}
    %0 = cgx.compress %a phase(contribution) id(0) layer(#x) operand_number(1)
        : tensor<4xf32> -> !cgx.payload<4xf32, #cgx.identity, chunks = 2>
    // expected-error@below {{expected one compress of phase contribution for operand 1 of collective 0, got another}}
    %1 = cgx.compress %a phase(contribution) id(0) layer(#x) operand_number(1)
        : tensor<4xf32> -> !cgx.payload<4xf32, #cgx.identity, chunks = 2>
    return
  }
}

// -----

#x = #cgx.layer<"", other>
module @p3_missing attributes {cgx.num_ranks = 4 : i64} {
  func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@below {{expected groups that contain each of 4 ranks, got 2 of them in #cgx.groups<}}
    %0 = cgx.all_reduce sum(%a) groups([[0, 1]]) id(0) layer(#x) : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

#x = #cgx.layer<"", other>
module @p3_beyond attributes {cgx.num_ranks = 2 : i64} {
  func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@below {{expected groups of ranks 0..1, got rank 2}}
    %0 = cgx.all_reduce sum(%a) groups([[0, 2]]) id(0) layer(#x) : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

#x = #cgx.layer<"", other>
module @p4 attributes {cgx.num_ranks = 2 : i64} {
  func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@below {{operand 0: expected an exact codec (kind other), got #cgx.quantize<}}
    %0 = cgx.all_reduce sum(%a) exact_reasons("kind other") codec(quantize) groups([[0, 1]]) id(0) layer(#x)
        : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module @p5_axis attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  // expected-error@below {{argument 0: expected the axes of cgx.mesh in its sharding, got "model"}}
  func.func @main(%a: tensor<4xf32> {cgx.sharding = #cgx.sharding<[["model"]]>}) {
    return
  }
}

// -----

module @p5_local_type attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  // expected-error@below {{argument 1: expected the local type 'tensor<4xf32>' of global type 'tensor<8xf32>' with sharding #cgx.sharding<}}
  func.func @main(%a: tensor<f32>, %b: tensor<8xf32> {cgx.sharding = #cgx.sharding<[["data"]]>, cgx.global_type = tensor<8xf32>}) {
    return
  }
}

// -----

module @p5_remainder attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  // expected-error@below {{result 0: expected dimension 0 of 'tensor<7xf32>' to be a multiple of the axes that split it}}
  func.func private @main() -> (tensor<3xf32> {cgx.sharding = #cgx.sharding<[["data"]]>, cgx.global_type = tensor<7xf32>})
}

// -----

// expected-error@below {{result 0: expected 'tensor<4xf32>', the type of argument 0 that it feeds, got 'tensor<2xf32>'}}
func.func private @main(tensor<4xf32>) -> (tensor<2xf32> {cgx.feeds = 0 : i64})

// -----

// expected-error@below {{expected argument 0 to be fed once, got results 0 and 2}}
func.func private @main(tensor<4xf32>)
    -> (tensor<4xf32> {cgx.feeds = 0 : i64}, tensor<4xf32>, tensor<4xf32> {cgx.feeds = 0 : i64})

// -----

#x = #cgx.layer<"w", gradient>
module @p7 attributes {cgx.num_ranks = 2 : i64} {
  func.func @f(%w: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
    cgx.bind_optimizer_state parameter(%w : tensor<4xf32>) id(0) operand_number(0)
    // expected-error@below {{operand 0, layer 'w': expected 1 cgx.bind_optimizer_state of its first moment, got 0}}
    %0 = cgx.all_reduce sum(%g) codec(gcomp<optimizer = momentum, learning_rate = 0.1>) groups([[0, 1]]) id(0) layer(#x)
        : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

#x = #cgx.layer<"w", gradient>
module @p7_elements attributes {cgx.num_ranks = 2 : i64} {
  func.func @f(%w: tensor<5xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@below {{expected as many elements as operand 0, of type 'tensor<4xf32>', has, got 'tensor<5xf32>'}}
    cgx.bind_optimizer_state parameter(%w : tensor<5xf32>) id(0) operand_number(0)
    %0 = cgx.all_reduce sum(%g) codec(gcomp<optimizer = sgd, learning_rate = 0.1>) groups([[0, 1]]) id(0) layer(#x)
        : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

#x = #cgx.layer<"w", gradient>
module @p7_nothing_is_read attributes {cgx.num_ranks = 2 : i64} {
  func.func @f(%w: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@below {{expected an operand of collective 0 whose codec reads what an optimizer keeps, got operand 0}}
    cgx.bind_optimizer_state parameter(%w : tensor<4xf32>) id(0) operand_number(0)
    %0 = cgx.all_reduce sum(%g) codec(natural) groups([[0, 1]]) id(0) layer(#x) : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module @p7_of_no_collective attributes {cgx.num_ranks = 2 : i64} {
  func.func @f(%w: tensor<4xf32>) {
    // expected-error@below {{expected a collective of id 3, found none}}
    cgx.bind_optimizer_state parameter(%w : tensor<4xf32>) id(3) operand_number(0)
    return
  }
}

// -----

#x = #cgx.layer<"w", weight>
module @p9_decoded_before_it_is_there attributes {cgx.num_ranks = 2 : i64} {
  func.func @f(%w: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    // expected-error@below {{decodes the payloads of gather 0 again, expected it before, in the same block, with keeps_payloads}}
    %0 = cgx.all_gather(%w) decodes_again(0) dim(0) groups([[0, 1]]) id(1) layer(#x) : (tensor<4xf32>) -> tensor<8xf32>
    %1 = cgx.all_gather(%w) codec(natural) dim(0) groups([[0, 1]]) id(0) keeps_payloads layer(#x)
        : (tensor<4xf32>) -> tensor<8xf32>
    return %0, %1 : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

#x = #cgx.layer<"w", weight>
module @p9_of_another_shape attributes {cgx.num_ranks = 2 : i64} {
  func.func @f(%w: tensor<4xf32>, %v: tensor<5xf32>) -> (tensor<10xf32>, tensor<8xf32>) {
    %0 = cgx.all_gather(%v) codec(natural) dim(0) groups([[0, 1]]) id(0) keeps_payloads layer(#x)
        : (tensor<5xf32>) -> tensor<10xf32>
    // expected-error@below {{with the same groups, dimension and types of operands}}
    %1 = cgx.all_gather(%w) decodes_again(0) dim(0) groups([[0, 1]]) id(1) layer(#x) : (tensor<4xf32>) -> tensor<8xf32>
    return %0, %1 : tensor<10xf32>, tensor<8xf32>
  }
}

// -----

// A program in explicit form, with a group for each rank beside it, is as it should be.
#x = #cgx.layer<"", other>
module @valid attributes {cgx.mesh = #cgx.mesh<["data" = 2, "model" = 3]>, cgx.num_ranks = 6 : i64} {
  func.func @main(%a: tensor<4xf32> {cgx.sharding = #cgx.sharding<[["model", "data"]]>, cgx.global_type = tensor<24xf32>})
      -> (tensor<4xf32> {cgx.feeds = 0 : i64}, tensor<f32>) {
    %0 = cgx.compress %a phase(contribution) id(0) layer(#x) operand_number(0)
        : tensor<4xf32> -> !cgx.payload<4xf32, #cgx.identity, chunks = 2>
    %1 = cgx.compress %a phase(contribution) id(0) layer(#x) operand_number(1)
        : tensor<4xf32> -> !cgx.payload<4xf32, #cgx.identity, chunks = 2>
    %2 = cgx.all_reduce sum(%a) groups([]) id(1) layer(#x) : tensor<4xf32>
    %3 = stablehlo.constant dense<1.0> : tensor<f32>
    return %2, %3 : tensor<4xf32>, tensor<f32>
  }
}
