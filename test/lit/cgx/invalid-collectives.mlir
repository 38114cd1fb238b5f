// Collectives: one test per constraint, named by its label.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @all_reduce_c1(%a: tensor<4xf32>) {
  // expected-error@below {{expected id to be 0 or more, got -1}}
  %0 = cgx.all_reduce sum(%a) groups([[0, 1]]) id(-1) : tensor<4xf32>
  return
}

// -----

func.func @all_reduce_c2(%a: tensor<4xf32>) {
  // expected-error@below {{expected 1 codecs, one per operand, got 0}}
  %0 = cgx.all_reduce sum(%a) codec() groups([[0, 1]]) id(0) : tensor<4xf32>
  return
}

// -----

func.func @all_reduce_c2_layers(%a: tensor<4xf32>) {
  // expected-error@below {{expected 1 layers, one per operand, got 0}}
  %0 = cgx.all_reduce sum(%a) groups([[0, 1]]) id(0) {layers = []} : tensor<4xf32>
  return
}

// -----

func.func @all_reduce_c3(%a: tensor<4xi32>) {
  // expected-error@below {{operand 0: codec quantize: expected an element type of f16, bf16 or f32, got 'i32'}}
  %0 = cgx.all_reduce sum(%a) codec(quantize) groups([[0, 1]]) id(0) : tensor<4xi32>
  return
}

// -----

func.func @all_reduce_c3_shape(%a: tensor<3x4xf32>) {
  // expected-error@below {{operand 0: codec lowrank: factors of rank 2 are no shorter than a matrix of 3x4}}
  %0 = cgx.all_reduce sum(%a) codec(lowrank<rank = 2>) groups([[0, 1]]) id(0) : tensor<3x4xf32>
  return
}

// -----

func.func @all_reduce_c3_vector(%a: tensor<100xf32>) {
  // expected-error@below {{operand 0: codec lowrank: factors of rank 1 are no shorter than a matrix of 1x100}}
  %0 = cgx.all_reduce sum(%a) codec(error_feedback<#cgx.lowrank<rank = 1>>) groups([[0, 1]]) id(0) : tensor<100xf32>
  return
}

// -----

func.func @reduce_scatter_c3_lowrank(%a: tensor<64x64xf32>) {
  // expected-error@below {{operand 0: codec lowrank: expected an all_reduce}}
  %0 = cgx.reduce_scatter sum(%a) codec(lowrank) dim(0) groups([[0, 1]]) id(0)
      : (tensor<64x64xf32>) -> tensor<32x64xf32>
  return
}

// -----

func.func @all_gather_c3_two_way(%a: tensor<64x64xf32>) {
  // expected-error@below {{operand 0: codec topk: expected an all_reduce}}
  %0 = cgx.all_gather(%a) codec(two_way<there = #cgx.topk, back = #cgx.natural>) dim(0) groups([[0, 1]]) id(0)
      : (tensor<64x64xf32>) -> tensor<128x64xf32>
  return
}

// -----

func.func @all_reduce_c4(%a: tensor<4xf32>) {
  // expected-error@below {{results have the types of the operands}}
  %0 = "cgx.all_reduce"(%a) <{reduction = #cgx<reduction sum>, id = 0 : i64, groups = #cgx.groups<[[0, 1]]>,
      codecs = [#cgx.identity], layers = [#cgx.layer<"", other>]}> : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @all_reduce_c5(%a: tensor<4xf32>) {
  // expected-error@below {{operand 0: expected an exact codec with reduction max, got #cgx.quantize}}
  %0 = cgx.all_reduce max(%a) codec(quantize) groups([[0, 1]]) id(0) : tensor<4xf32>
  return
}

// -----

func.func @all_reduce_c6(%a: tensor<4xi32>) {
  // expected-error@below {{operand 0: expected a floating-point element type with reduction mean, got 'i32'}}
  %0 = cgx.all_reduce mean(%a) groups([[0, 1]]) id(0) : tensor<4xi32>
  return
}

// -----

func.func @all_reduce_c7(%a: tensor<4xf32>) {
  // expected-error@below {{expected a hierarchy with the algorithm hierarchical}}
  %0 = cgx.all_reduce sum(%a) algorithm(hierarchical) groups([[0, 1]]) id(0) : tensor<4xf32>
  return
}

// -----

func.func @all_reduce_c7_ring(%a: tensor<4xf32>) {
  // expected-error@below {{expected no hierarchy with the algorithm ring}}
  %0 = cgx.all_reduce sum(%a) algorithm(ring) groups([[0, 1]]) hierarchy(local = 2) id(0) : tensor<4xf32>
  return
}

// -----

func.func @all_reduce_c8(%a: tensor<4xf32>) {
  // expected-error@below {{expected groups of hosts of 2 ranks, got a group of 3}}
  %0 = cgx.all_reduce sum(%a) algorithm(hierarchical) groups([[0, 1, 2], [3]]) hierarchy(local = 2) id(0)
      : tensor<4xf32>
  return
}

// -----

// (C3) already refuses any other lossy codec for an operand that no lossy codec takes.
func.func @all_reduce_c9(%a: tensor<4xi32>, %b: tensor<4xf32>) {
  // Exact operands travel exactly inside of hosts, too.
  %0:2 = cgx.all_reduce sum(%a, %b) algorithm(hierarchical) codec(identity, quantize) groups([[0, 1]])
      hierarchy(local = 2, inside = #cgx.natural) id(0) : tensor<4xi32>, tensor<4xf32>
  return
}

// -----

func.func @all_reduce_c10(%a: tensor<4xi32>, %b: tensor<4xf32>) {
  // expected-error@below {{operand 1: expected one codec with the algorithm one_shot, which sends nothing back, got #cgx.two_way}}
  %0:2 = cgx.all_reduce sum(%a, %b) algorithm(one_shot) codec(identity, two_way<there = #cgx.topk, back = #cgx.natural>)
      groups([[0, 1]]) id(0) : tensor<4xi32>, tensor<4xf32>
  return
}

// -----

func.func @all_gather_c1(%a: tensor<4xf32>) {
  // expected-error@below {{expected id to be 0 or more, got -1}}
  %0 = cgx.all_gather(%a) dim(0) groups([[0, 1]]) id(-1) : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @all_gather_c2(%a: tensor<4xf32>) {
  // expected-error@below {{expected 1 results, one per operand, got 2}}
  %0:2 = cgx.all_gather(%a) dim(0) groups([[0, 1]]) id(0) : (tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @all_gather_c3(%a: tensor<4xf64>) {
  // expected-error@below {{operand 0: codec quantize: expected an element type of f16, bf16 or f32, got 'f64'}}
  %0 = cgx.all_gather(%a) codec(quantize) dim(0) groups([[0, 1]]) id(0) : (tensor<4xf64>) -> tensor<8xf64>
  return
}

// -----

func.func @all_gather_c4(%a: tensor<4xf32>) {
  // expected-error@below {{expected groups of one size, got #cgx.groups<}}
  %0 = cgx.all_gather(%a) dim(0) groups([[0, 1], [2]]) id(0) : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @all_gather_c5(%a: tensor<4xf32>) {
  // expected-error@below {{operand 0: expected dim to be a dimension of 'tensor<4xf32>', got 1}}
  %0 = cgx.all_gather(%a) dim(1) groups([[0, 1]]) id(0) : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @all_gather_c6(%a: tensor<4xf32>) {
  // expected-error@below {{expected result 0 to be 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %0 = cgx.all_gather(%a) dim(0) groups([[0, 1]]) id(0) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_scatter_c1(%a: tensor<4xf32>) {
  // expected-error@below {{expected id to be 0 or more, got -1}}
  %0 = cgx.reduce_scatter sum(%a) dim(0) groups([[0, 1]]) id(-1) : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_scatter_c2(%a: tensor<4xf32>) {
  // expected-error@below {{expected 1 codecs, one per operand, got 2}}
  %0 = cgx.reduce_scatter sum(%a) codec(identity, identity) dim(0) groups([[0, 1]]) id(0) : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_scatter_c3(%a: tensor<4xi8>) {
  // expected-error@below {{operand 0: codec quantize: expected an element type of f16, bf16 or f32, got 'i8'}}
  %0 = cgx.reduce_scatter sum(%a) codec(quantize) dim(0) groups([[0, 1]]) id(0) : (tensor<4xi8>) -> tensor<2xi8>
  return
}

// -----

func.func @reduce_scatter_c4(%a: tensor<4xf32>) {
  // expected-error@below {{expected groups of one size, got #cgx.groups<}}
  %0 = cgx.reduce_scatter sum(%a) dim(0) groups([[0, 1], [2]]) id(0) : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_scatter_c5(%a: tensor<4xf32>) {
  // expected-error@below {{operand 0: expected dim to be a dimension of 'tensor<4xf32>', got -1}}
  %0 = cgx.reduce_scatter sum(%a) dim(-1) groups([[0, 1]]) id(0) : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_scatter_c6(%a: tensor<4xf32>) {
  // expected-error@below {{expected result 0 to be 'tensor<2xf32>', got 'tensor<4xf32>'}}
  %0 = cgx.reduce_scatter sum(%a) dim(0) groups([[0, 1]]) id(0) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_scatter_c6_remainder(%a: tensor<4xf32>) {
  // expected-error@below {{operand 0: expected dimension 0 to be a multiple of the group size 3, got 4}}
  %0 = cgx.reduce_scatter sum(%a) dim(0) groups([[0, 1, 2]]) id(0) : (tensor<4xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @reduce_scatter_c7(%a: tensor<4xf32>) {
  // expected-error@below {{operand 0: expected an exact codec with reduction product, got #cgx.quantize}}
  %0 = cgx.reduce_scatter product(%a) codec(quantize) dim(0) groups([[0, 1]]) id(0) : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_scatter_c8(%a: tensor<4xi8>) {
  // expected-error@below {{operand 0: expected a floating-point element type with reduction mean, got 'i8'}}
  %0 = cgx.reduce_scatter mean(%a) dim(0) groups([[0, 1]]) id(0) : (tensor<4xi8>) -> tensor<2xi8>
  return
}

// -----

func.func @all_to_all_c1(%a: tensor<4x4xf32>) {
  // expected-error@below {{expected id to be 0 or more, got -1}}
  %0 = cgx.all_to_all(%a) concat_dim(1) groups([[0, 1]]) id(-1) split_dim(0) : (tensor<4x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @all_to_all_c2(%a: tensor<4x4xf32>) {
  // expected-error@below {{expected 1 codecs, one per operand, got 0}}
  %0 = cgx.all_to_all(%a) codec() concat_dim(1) groups([[0, 1]]) id(0) split_dim(0)
      : (tensor<4x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @all_to_all_c3(%a: tensor<4x4xi1>) {
  // expected-error@below {{operand 0: codec quantize: expected an element type of f16, bf16 or f32, got 'i1'}}
  %0 = cgx.all_to_all(%a) codec(quantize) concat_dim(1) groups([[0, 1]]) id(0) split_dim(0)
      : (tensor<4x4xi1>) -> tensor<2x8xi1>
  return
}

// -----

func.func @all_to_all_c4(%a: tensor<4x4xf32>) {
  // expected-error@below {{expected groups of one size, got #cgx.groups<}}
  %0 = cgx.all_to_all(%a) concat_dim(1) groups([[0, 1], [2]]) id(0) split_dim(0) : (tensor<4x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @all_to_all_c5(%a: tensor<4x4xf32>) {
  // expected-error@below {{operand 0: expected split_dim to be a dimension of 'tensor<4x4xf32>', got 2}}
  %0 = cgx.all_to_all(%a) concat_dim(1) groups([[0, 1]]) id(0) split_dim(2) : (tensor<4x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @all_to_all_c5_concat(%a: tensor<4x4xf32>) {
  // expected-error@below {{operand 0: expected concat_dim to be a dimension of 'tensor<4x4xf32>', got 2}}
  %0 = cgx.all_to_all(%a) concat_dim(2) groups([[0, 1]]) id(0) split_dim(0) : (tensor<4x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @all_to_all_c6(%a: tensor<4x4xf32>) {
  // expected-error@below {{expected result 0 to be 'tensor<2x8xf32>', got 'tensor<4x4xf32>'}}
  %0 = cgx.all_to_all(%a) concat_dim(1) groups([[0, 1]]) id(0) split_dim(0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @broadcast_c1(%a: tensor<4xf32>) {
  // expected-error@below {{expected id to be 0 or more, got -1}}
  %0 = cgx.broadcast(%a) groups([[0, 1]]) id(-1) root(0) : tensor<4xf32>
  return
}

// -----

func.func @broadcast_c2(%a: tensor<4xf32>) {
  // expected-error@below {{expected 1 layers, one per operand, got 0}}
  %0 = cgx.broadcast(%a) groups([[0, 1]]) id(0) root(0) {layers = []} : tensor<4xf32>
  return
}

// -----

func.func @broadcast_c3(%a: tensor<4xi64>) {
  // expected-error@below {{operand 0: codec quantize: expected an element type of f16, bf16 or f32, got 'i64'}}
  %0 = cgx.broadcast(%a) codec(quantize) groups([[0, 1]]) id(0) root(0) : tensor<4xi64>
  return
}

// -----

func.func @broadcast_c4(%a: tensor<4xf32>) {
  // expected-error@below {{results have the types of the operands}}
  %0 = "cgx.broadcast"(%a) <{root = 0 : i64, id = 0 : i64, groups = #cgx.groups<[[0, 1]]>,
      codecs = [#cgx.identity], layers = [#cgx.layer<"", other>]}> : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @broadcast_c5(%a: tensor<4xf32>) {
  // expected-error@below {{expected root in 0..0, the positions of the smallest group, got 1}}
  %0 = cgx.broadcast(%a) groups([[0, 1], [2]]) id(0) root(1) : tensor<4xf32>
  return
}

// -----

func.func @permute_c1(%a: tensor<4xf32>) {
  // expected-error@below {{expected id to be 0 or more, got -1}}
  %0 = cgx.permute(%a) groups([[0, 1]]) id(-1) source_target_pairs([[0, 1]]) : tensor<4xf32>
  return
}

// -----

func.func @permute_c2(%a: tensor<4xf32>) {
  // expected-error@below {{expected 1 layers, one per operand, got 0}}
  %0 = cgx.permute(%a) groups([[0, 1]]) id(0) source_target_pairs([[0, 1]]) {layers = []} : tensor<4xf32>
  return
}

// -----

func.func @permute_c3(%a: tensor<4xi64>) {
  // expected-error@below {{operand 0: codec quantize: expected an element type of f16, bf16 or f32, got 'i64'}}
  %0 = cgx.permute(%a) codec(quantize) groups([[0, 1]]) id(0) source_target_pairs([[0, 1]]) : tensor<4xi64>
  return
}

// -----

func.func @permute_c4(%a: tensor<4xf32>) {
  // expected-error@below {{results have the types of the operands}}
  %0 = "cgx.permute"(%a) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>, id = 0 : i64,
      groups = #cgx.groups<[[0, 1]]>, codecs = [#cgx.identity],
      layers = [#cgx.layer<"", other>]}> : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @permute_c5(%a: tensor<4xf32>) {
  // expected-error@below {{expected source_target_pairs of shape [n, 2], got [2]}}
  %0 = cgx.permute(%a) groups([[0, 1]]) id(0) {source_target_pairs = dense<[0, 1]> : tensor<2xi64>} : tensor<4xf32>
  return
}

// -----

func.func @permute_c6(%a: tensor<4xf32>) {
  // expected-error@below {{expected each rank at most once as a source, got rank 0 again}}
  %0 = cgx.permute(%a) groups([[0, 1]]) id(0) source_target_pairs([[0, 1], [0, 0]]) : tensor<4xf32>
  return
}

// -----

func.func @permute_c6_target(%a: tensor<4xf32>) {
  // expected-error@below {{expected each rank at most once as a target, got rank 1 again}}
  %0 = cgx.permute(%a) groups([[0, 1]]) id(0) source_target_pairs([[0, 1], [1, 1]]) : tensor<4xf32>
  return
}

// -----

func.func @permute_c7(%a: tensor<4xf32>) {
  // expected-error@below {{expected source and target to be in one group, got 0 and 2}}
  %0 = cgx.permute(%a) groups([[0, 1], [2]]) id(0) source_target_pairs([[0, 2]]) : tensor<4xf32>
  return
}

// -----

func.func @permute_c8(%a: tensor<4xf32>) {
  // expected-error@below {{expected sends of each of 1 pairs, got 2}}
  %0 = cgx.permute(%a) groups([[0, 1]]) id(0) sends("10", "01") source_target_pairs([[0, 1]]) : tensor<4xf32>
  return
}

// -----

func.func @permute_c8_lengths(%a: tensor<4xf32>) {
  // expected-error@below {{expected sends to be strings of as many digits, 0 or 1, got '011'}}
  %0 = cgx.permute(%a) groups([[0, 1]]) id(0) sends("10", "011") source_target_pairs([[0, 1], [1, 0]]) : tensor<4xf32>
  return
}

// -----

func.func @permute_c8_digits(%a: tensor<4xf32>) {
  // expected-error@below {{expected sends to be strings of as many digits, 0 or 1, got '12'}}
  %0 = cgx.permute(%a) groups([[0, 1]]) id(0) sends("12") source_target_pairs([[0, 1]]) : tensor<4xf32>
  return
}

// -----

func.func @reduction_name(%a: tensor<4xf32>) {
  // expected-error@below {{expected sum, mean, max, min or product, got add}}
  %0 = cgx.all_reduce add(%a) groups([[0, 1]]) id(0) : tensor<4xf32>
  return
}

// -----

func.func @all_gather_c7(%a: tensor<4xf32>) {
  // expected-error@below {{operand 0: expected #cgx.identity of what decodes the payloads of gather 0 again, got #cgx.quantize}}
  %0 = cgx.all_gather(%a) codec(quantize<bits = 4>) decodes_again(0) dim(0) groups([[0, 1]]) id(1)
      : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @all_gather_c7_keeps(%a: tensor<4xf32>) {
  // expected-error@below {{decodes the payloads of gather 0 again, expected no keeps_payloads}}
  %0 = cgx.all_gather(%a) decodes_again(0) dim(0) groups([[0, 1]]) id(1) keeps_payloads
      : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @all_gather_c7_start(%a: tensor<4xf32>) {
  // expected-error@below {{decodes the payloads of gather 0 again, expected it not to be started}}
  %h = cgx.start all_gather(%a) decodes_again(0) dim(0) groups([[0, 1]]) id(1)
      : (tensor<4xf32>) -> tensor<8xf32>
  %0 = cgx.wait %h : !cgx.handle<tensor<8xf32>>
  return
}
