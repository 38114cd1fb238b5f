// Text that cannot be parsed is rejected where it stands.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @twice(%a: tensor<4xf32>) {
  // expected-error@below {{expected id once, got it again}}
  %0 = cgx.all_reduce sum(%a) id(0) groups([[0, 1]]) id(1) : tensor<4xf32>
}

// -----

func.func @as_clause_and_in_the_dictionary(%a: tensor<4xf32>) {
  // expected-error@below {{expected id once, got it again}}
  %0 = cgx.all_reduce sum(%a) id(0) groups([[0, 1]]) {id = 1 : i64} : tensor<4xf32>
}

// -----

func.func @layers_as_clause_and_in_the_dictionary(%a: tensor<4xf32>) {
  // expected-error@below {{expected layers once, got it again}}
  %0 = cgx.all_reduce sum(%a) id(0) groups([[0, 1]]) layer("w", gradient) {layers = []} : tensor<4xf32>
}

// -----

func.func @of_another_collective(%a: tensor<4xf32>) {
  // expected-error@below {{expected one of algorithm, exact_reasons, origins, codec, groups, hierarchy, id, layer, got root}}
  %0 = cgx.all_reduce sum(%a) id(0) groups([[0, 1]]) root(1) : tensor<4xf32>
}

// -----

func.func @no_codec(%a: tensor<4xf32>) {
  // expected-error@below {{expected a codec, got #cgx.layer<"w", gradient>}}
  %0 = cgx.all_reduce sum(%a) codec(layer<"w", gradient>) id(0) groups([[0, 1]]) : tensor<4xf32>
}

// -----

func.func @no_codec_written_out(%a: tensor<4xf32>) {
  // expected-error@below {{expected a codec, got #cgx.layer<"w", gradient>}}
  %0 = cgx.all_reduce sum(%a) codec(#cgx.layer<"w", gradient>) id(0) groups([[0, 1]]) : tensor<4xf32>
}

// -----

func.func @no_algorithm(%a: tensor<4xf32>) {
  // expected-error@below {{expected one of auto, scatter_reduce_allgather, ring, tree, hierarchical, one_shot, halving_doubling, got butterfly}}
  %0 = cgx.all_reduce sum(%a) algorithm(butterfly) id(0) groups([[0, 1]]) : tensor<4xf32>
}

// -----

func.func @no_pair(%a: tensor<4xf32>) {
  // expected-error@below {{expected a source and a target, got 3 ranks}}
  %0 = cgx.permute(%a) id(0) groups([[0, 1]]) source_target_pairs([[0, 1], [1, 0, 2]]) : tensor<4xf32>
}

// -----

func.func @rank_twice(%a: tensor<4xf32>) {
  // expected-error@below {{expected each rank at most once, got rank 0 again in group 0}}
  %0 = cgx.all_reduce sum(%a) id(0) groups([[0, 0]]) : tensor<4xf32>
}

// -----

func.func @no_id(%a: tensor<4xf32>) {
  // expected-error@below {{requires attribute 'id'}}
  %0 = cgx.all_reduce sum(%a) groups([[0, 1]]) : tensor<4xf32>
  return
}

// -----

func.func @under_its_earlier_name_too(%a: tensor<4xf32>) {
  // expected-error@below {{expected exact_reasons or cgx.exact_reason, got both}}
  %0 = cgx.all_reduce sum(%a) exact_reasons("") id(0) groups([[0, 1]]) {cgx.exact_reason = [""]} : tensor<4xf32>
}

// -----

func.func @no_algorithm_written_out(%a: tensor<4xf32>) {
  // expected-error@below {{expected an algorithm, got #cgx.identity}}
  %0 = cgx.all_reduce sum(%a) algorithm(#cgx.identity) id(0) groups([[0, 1]]) : tensor<4xf32>
}

// -----

func.func @no_hierarchy_written_out(%a: tensor<4xf32>) {
  // expected-error@below {{expected a hierarchy, got #cgx.identity}}
  %0 = cgx.all_reduce sum(%a) hierarchy(#cgx.identity) id(0) groups([[0, 1]]) : tensor<4xf32>
}

// -----

// A dictionary says what a clause cannot: the verifier refuses it.
func.func @of_another_type(%a: tensor<4xf32>) {
  // expected-error@below {{attribute 'id' failed to satisfy constraint: 64-bit signless integer attribute}}
  %0 = cgx.all_reduce sum(%a) groups([[0, 1]]) {id = 0 : i32} : tensor<4xf32>
}
