// RUN: cgx-opt %s --split-input-file --verify-diagnostics

// Sharding rules and propagation edges go through as text; what a partitioner would refuse is refused here.

func.func @rule_c1_type(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected #sdy.op_sharding_rule<...> as 'sdy.sharding_rule', got 1 : i64}}
  %0 = stablehlo.negate %arg0 {sdy.sharding_rule = 1 : i64} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @rule_c1_brackets(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{sdy.op_sharding_rule: expected ']', got 'j])->(}}
  %0 = stablehlo.negate %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i j])->([i]) {i=8}>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @rule_c1_empty(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected a mapping between '(' and ')'}}
  %0 = stablehlo.negate %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<()->([i]) {i=8}>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @rule_c1_symbol(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected a factor from i to z, got 'a])}}
  %0 = stablehlo.negate %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([a])->([i]) {i=8}>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @rule_c1_number(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected a positive number without leading zeros after 'z_', got 'z_0])}}
  %0 = stablehlo.negate %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([z_0])->([i]) {i=8}>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @rule_c1_large_number(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected a positive number without leading zeros after 'z_'}}
  %0 = stablehlo.negate %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([z_9223372036854775808])->([i]) {i=8}>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @rule_c1_order(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{expected the size of factor i, got that of j}}
  %0 = stablehlo.negate %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {j=4, i=8}>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @rule_c1_keyword(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected '>', got 'reduce={i}>'}}
  %0 = stablehlo.negate %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8} reduce={i}>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @rule_c1_custom(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected 'custom', got '>'}}
  %0 = stablehlo.negate %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8},>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @rule_c2_operands(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected a mapping for each of the 2 operands, got 1}}
  %0 = stablehlo.add %arg0, %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @rule_c2_results(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected a mapping for each of the 1 results, got 2}}
  %0 = stablehlo.negate %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i], [i]) {i=8}>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @rule_c2_rank(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{result 0: expected 2 dimensions, got 1}}
  %0 = stablehlo.negate %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i]) {i=8, j=4}>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @rule_c2_static(%arg0: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{operand 0: expected a tensor of static shape}}
  %0 = stablehlo.negate %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>} : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @rule_c3_unknown(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{operand 0: expected one of 1 factors, got z_3}}
  %0 = stablehlo.negate %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([z_3])->([i]) {i=8}>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @rule_c3_unused(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected each factor in a mapping, got no j}}
  %0 = stablehlo.negate %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8, j=2}>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @rule_c3_twice(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{result 0: expected each factor once, got i again in dimension 0}}
  %0 = stablehlo.negate %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([ij])->([ii]) {i=2, j=2}>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @rule_c3_one(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected factors above 1 in dimension 0, which has several, got j=1}}
  %0 = stablehlo.negate %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([ij])->([ij]) {i=4, j=1}>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @rule_c4_order(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{need_replication: expected factors in increasing order, got i after j}}
  %0 = stablehlo.negate %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4} need_replication={j, i}>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @rule_c4_range(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{blocked_propagation: expected one of 1 factors, got z}}
  %0 = stablehlo.negate %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8} blocked_propagation={z}>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @rule_c4_disjoint(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{permutation: expected other factors than those of need_replication, got i}}
  %0 = stablehlo.negate %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8} need_replication={i} permutation={i}>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @rule_c5(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{reduction: expected factors that are in no result, got i}}
  %0 = stablehlo.negate %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8} reduction={i}>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @edges_c1(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected #sdy.propagation_edges<...> as 'sdy.propagation_edges', got 64 : i64}}
  %0 = stablehlo.negate %arg0 {sdy.propagation_edges = 64} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @edges_c1_list(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected a list of #sdy.propagation_edges<...> as 'sdy.result_propagation_edges', got 64 : i64}}
  %0 = stablehlo.negate %arg0 {sdy.result_propagation_edges = 64} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @edges_c1_element(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected #sdy.propagation_edges<...> as 'sdy.block_arg_propagation_edges', got 2 : i64}}
  %0 = stablehlo.negate %arg0 {sdy.block_arg_propagation_edges = [2]} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @edges_c1_text(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{sdy.propagation_edges: expected 'operand', got 'argument-0 -}}
  %0 = stablehlo.negate %arg0 {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"a" = argument-0 -> [result-0]}]}]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @edges_c6_negative(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected steps that are not negative, got -3}}
  %0 = stablehlo.negate %arg0 {sdy.propagation_edges = #sdy.propagation_edges<[{step--3 = [{"a" = operand-0 -> [result-0]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @edges_c6_twice(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected each step once, got 1 again}}
  %0 = stablehlo.negate %arg0 {sdy.propagation_edges = #sdy.propagation_edges<[{step-1 = [{"a" = operand-0 -> [result-0]}]}, {step-1 = []}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @edges_c7_source(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected a source that is none of its targets}}
  %0 = stablehlo.negate %arg0 {sdy.propagation_edges = #sdy.propagation_edges<[{step-1 = [{"a" = operand-0 -> [operand-0]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @edges_c7_range(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected a result in range [0, 1), got 1}}
  %0 = stablehlo.negate %arg0 {sdy.propagation_edges = #sdy.propagation_edges<[{step-1 = [{"a":(1)2 = operand-0 -> [result-1]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @edges_c8(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected 'sdy.sharding' beside 'sdy.propagation_edges'}}
  %0 = stablehlo.negate %arg0 {sdy.propagation_edges = #sdy.propagation_edges<[{step-1 = [{"a" = operand-0 -> [result-0]}]}]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
