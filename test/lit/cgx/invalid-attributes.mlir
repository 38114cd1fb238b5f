// Attributes, types and the placement of discardable attributes: one test per constraint.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{expected bits in 1..8, got 9}}
func.func private @quantize_c1() attributes {a = #cgx.quantize<bits = 9>}

// -----
// expected-error@below {{expected bucket in 1..4294967295, got 0}}
func.func private @quantize_c2() attributes {a = #cgx.quantize<bucket = 0>}

// -----
// expected-error@below {{expected bits, bucket, rounding, scale, scaling, levels, rotate or checksum, got bit}}
func.func private @quantize_unknown() attributes {a = #cgx.quantize<bit = 4>}

// -----
// expected-error@below {{parameter bits is given twice}}
func.func private @quantize_twice() attributes {a = #cgx.quantize<bits = 4, bits = 5>}

// -----
// expected-error@below {{expected nearest, stochastic or random_shift, got up}}
func.func private @quantize_rounding() attributes {a = #cgx.quantize<rounding = up>}

// -----
// expected-error@below {{expected bf16 or f32, got f64}}
func.func private @quantize_scale() attributes {a = #cgx.quantize<scale = f64>}

// -----
// expected-error@below {{expected error feedback of a lossy codec, got #cgx.identity}}
func.func private @error_feedback_c1_exact() attributes {a = #cgx.error_feedback<#cgx.identity>}

// -----
// expected-error@below {{expected error feedback of a lossy codec, got #cgx.error_feedback<#cgx.quantize}}
func.func private @error_feedback_c1_twice() attributes {a = #cgx.error_feedback<#cgx.error_feedback<#cgx.quantize<>>>}

// -----
// expected-error@below {{expected decay to be above 0 and up to 1, got 1.5}}
func.func private @error_feedback_c2() attributes {a = #cgx.error_feedback<#cgx.quantize<>, decay = 1.5>}

// -----
// expected-error@below {{expected decay or storage, got store}}
func.func private @error_feedback_unknown() attributes {a = #cgx.error_feedback<#cgx.quantize<>, store = f32>}

// -----
// expected-error@below {{expected f32, bf16 or int8, got f16}}
func.func private @error_feedback_storage() attributes {a = #cgx.error_feedback<#cgx.quantize<>, storage = f16>}

// -----
// expected-error@below {{expected bits in 2..8 with rounding random_shift, got 1}}
func.func private @quantize_c3_shift() attributes {a = #cgx.quantize<bits = 1, rounding = random_shift, scale = f32>}

// -----
// expected-error@below {{expected bits in 2..8 with scaling l2, got 1}}
func.func private @quantize_c3_scaling() attributes {a = #cgx.quantize<bits = 1, scaling = l2>}

// -----
// expected-error@below {{expected scale f32 with rounding random_shift, got bf16}}
func.func private @quantize_c4_scale() attributes {a = #cgx.quantize<rounding = random_shift>}

// -----
// expected-error@below {{expected scaling min_max with rounding random_shift, got max_abs}}
func.func private @quantize_c4_scaling() attributes {a = #cgx.quantize<rounding = random_shift, scale = f32, scaling = max_abs>}

// -----
// expected-error@below {{expected levels uniform with rounding random_shift, got learned}}
func.func private @quantize_c4_levels() attributes {a = #cgx.quantize<rounding = random_shift, scale = f32, levels = learned>}

// -----
// expected-error@below {{expected scaling max_abs or l2 with levels exponential, got min_max}}
func.func private @quantize_c5() attributes {a = #cgx.quantize<levels = exponential>}

// -----
// expected-error@below {{expected scaling min_max with levels learned, got l2}}
func.func private @quantize_c6() attributes {a = #cgx.quantize<levels = learned, scaling = l2>}

// -----
// expected-error@below {{expected bucket in 1..4294967295, got 4294967296}}
func.func private @ternary_c1() attributes {a = #cgx.ternary<bucket = 4294967296>}

// -----
// expected-error@below {{expected bucket in 1..4294967295, got 0}}
func.func private @sign_c1() attributes {a = #cgx.sign<bucket = 0>}

// -----
// expected-error@below {{expected means or norm, got max}}
func.func private @sign_magnitude() attributes {a = #cgx.sign<magnitude = max>}

// -----
// expected-error@below {{expected rotate or checksum, got bits}}
func.func private @natural_unknown() attributes {a = #cgx.natural<bits = 8>}

// -----
// expected-error@below {{expected bf16, f16, fp8_e4m3, fp8_e5m2, mxfp8, mxfp4 or nvfp4, got fp16}}
func.func private @cast_format() attributes {a = #cgx.cast<format = fp16>}

// -----
// expected-error@below {{expected bucket in 1..4294967295, got 0}}
func.func private @cast_c1() attributes {a = #cgx.cast<format = fp8_e4m3, bucket = 0>}

// -----
// expected-error@below {{expected bucket and scale with format fp8_e4m3 or fp8_e5m2 only, got format mxfp8}}
func.func private @cast_c2_bucket() attributes {a = #cgx.cast<format = mxfp8, bucket = 64>}

// -----
// expected-error@below {{expected bucket and scale with format fp8_e4m3 or fp8_e5m2 only, got format bf16}}
func.func private @cast_c2_scale() attributes {a = #cgx.cast<format = bf16, scale = f32>}

// -----
// expected-error@below {{expected no parameters}}
func.func private @identity_parameters() attributes {a = #cgx.identity<bits = 4>}

// -----
// expected-error@below {{expected at least one rank in each group, got none in group 1}}
func.func private @groups_c1() attributes {a = #cgx.groups<[[0], []]>}

// -----
// expected-error@below {{expected ranks to be 0 or more, got -1 in group 0}}
func.func private @groups_c2() attributes {a = #cgx.groups<[[-1]]>}

// -----
// expected-error@below {{expected each rank at most once, got rank 0 again in group 1}}
func.func private @groups_c3() attributes {a = #cgx.groups<[[0, 1], [2, 0]]>}

// -----
// expected-error@below {{expected dimensions to be 0 or more, got -2}}
func.func private @layer_c1() attributes {a = #cgx.layer<"w", gradient, [-2]>}

// -----
// expected-error@below {{expected 0 to 2 stacked dimensions of a shape of rank 2, got 3}}
func.func private @layer_c3() attributes {a = #cgx.layer<"w", gradient, [4, 4], stacked = 3>}

// -----
// expected-error@below {{expected 'stacked'}}
func.func private @layer_stacked() attributes {a = #cgx.layer<"w", gradient, [4, 4], deep = 1>}

// -----
// expected-error@below {{expected gradient, weight, activation, other, outer_gradient, activation_gradient, dispatch, dispatch_gradient, combine or combine_gradient, got grad}}
func.func private @layer_kind() attributes {a = #cgx.layer<"w", grad>}

// -----
// expected-error@below {{expected each axis once, got "data" again}}
module @mesh_c1 attributes {cgx.mesh = #cgx.mesh<["data" = 2, "data" = 2]>} {}

// -----
// expected-error@below {{expected each axis to have a name, got ""}}
module @mesh_c1_unnamed attributes {cgx.mesh = #cgx.mesh<["" = 2]>} {}

// -----
// expected-error@below {{expected the size of axis "data" to be positive, got 0}}
module @mesh_c2 attributes {cgx.mesh = #cgx.mesh<["data" = 0]>} {}

// -----
// expected-error@below {{expected each axis at most once, got "data" again}}
func.func private @sharding_c1() attributes {a = #cgx.sharding<[["data"], ["data"]]>}

// -----
// expected-error@below {{codec quantize: expected an element type of f16, bf16 or f32, got 'i32'}}
func.func private @payload_c2(!cgx.payload<4xi32, #cgx.quantize, chunks = 2>)

// -----
// expected-error@below {{expected a codec that has an explicit form, got #cgx.error_feedback<#cgx.lowrank<rank = 2>, decay = 1.000000e+00, storage = f32>}}
func.func private @payload_c2_lowrank(!cgx.payload<64x64xf32, #cgx.error_feedback<#cgx.lowrank<rank = 2>>, chunks = 2>)

// -----

// expected-error@below {{expected chunks to be positive, got 0}}
func.func private @payload_c3(!cgx.payload<4xf32, #cgx.identity, chunks = 0>)

// -----
// expected-error@below {{expected slots to be positive, got 0}}
func.func private @payload_c4(!cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 0>)

// -----
// expected-error@below {{expected cgx.num_ranks to be 8, the size of the mesh, got 4}}
module attributes {cgx.mesh = #cgx.mesh<["data" = 4, "model" = 2]>, cgx.num_ranks = 4 : i64} {}

// -----
// expected-error@below {{expected cgx.num_ranks to be a positive i64, got 4 : i32}}
module attributes {cgx.num_ranks = 4 : i32} {}

// -----
// expected-error@below {{has cgx.num_ranks, which belongs on a module}}
func.func private @num_ranks_elsewhere() attributes {cgx.num_ranks = 4 : i64}

// -----
// expected-error@below {{has cgx.exact_reason, which belongs on a collective}}
func.func private @exact_reason_elsewhere() attributes {cgx.exact_reason = [""]}

// -----
func.func @exact_reason_count(%a: tensor<2xf32>) {
  // expected-error@below {{expected exact_reasons to be 1 strings, one per operand, got ["", ""]}}
  %0 = cgx.all_reduce sum(%a) exact_reasons("", "") groups([[0, 1]]) id(0) : tensor<2xf32>
  return
}

// -----
// expected-error@below {{expected cgx.sharding of argument 0 to have 1 dimensions, as its type has, got 2}}
func.func private @argument_sharding(tensor<4xf32> {cgx.sharding = #cgx.sharding<[[], []]>})

// -----
// expected-error@below {{expected cgx.name of argument 0 to be a string, got 4 : i64}}
func.func private @argument_name(tensor<4xf32> {cgx.name = 4})

// -----
// expected-error@below {{expected cgx.global_type of result 0 to be a type, got "f32"}}
func.func private @result_type() -> (tensor<4xf32> {cgx.global_type = "f32"})

// -----
// expected-error@below {{expected cgx.feeds of result 0 to be the number of one of 1 arguments as i64, got 1 : i64}}
func.func private @result_feeds(tensor<4xf32>) -> (tensor<4xf32> {cgx.feeds = 1 : i64})

// -----

// expected-error@below {{expected density to be above 0 and up to 1, got 0}}
func.func private @topk_c1() attributes {a = #cgx.topk<density = 0.0>}

// -----

// expected-error@below {{expected density to be above 0 and up to 1, got 1.5}}
func.func private @randk_c1() attributes {a = #cgx.randk<density = 1.5>}

// -----

// expected-error@below {{expected threshold to be at least 0, as an f32, got 1.0}}
func.func private @threshold_c1() attributes {a = #cgx.threshold<threshold = 1.0e39>}

// -----

// expected-error@below {{expected bucket in 1..4294967295, got 0}}
func.func private @adaptive_threshold_c1() attributes {a = #cgx.adaptive_threshold<bucket = 0>}

// -----

// expected-error@below {{expected threshold to be above 0 and up to 1, got 0}}
func.func private @adaptive_threshold_c2() attributes {a = #cgx.adaptive_threshold<threshold = 0.0>}

// -----

// expected-error@below {{expected bucket, a power of two, in 64..4096, got 100}}
func.func private @eden_c1_bucket() attributes {a = #cgx.eden<bucket = 100>}

// -----

// expected-error@below {{expected bits in 1..8, got 9}}
func.func private @eden_c1_bits() attributes {a = #cgx.eden<bits = 9>}

// -----

// expected-error@below {{expected an optimizer: sgd, momentum, nesterov, adagrad, rmsprop, adam or adamw}}
func.func private @gcomp_without_optimizer() attributes {a = #cgx.gcomp<learning_rate = 0.1>}

// -----

// expected-error@below {{expected sgd, momentum, nesterov, adagrad, rmsprop, adam or adamw, got lion}}
func.func private @gcomp_of_another_optimizer() attributes {a = #cgx.gcomp<optimizer = lion>}

// -----

// expected-error@below {{expected learning_rate to be at least 0, as an f32, got 1.0}}
func.func private @gcomp_c1() attributes {a = #cgx.gcomp<optimizer = sgd, learning_rate = 1.0e39>}

// -----

// expected-error@below {{expected learning_rate to be 0 or above 0 as an f32, got 1.0}}
func.func private @gcomp_c1_underflow() attributes {a = #cgx.gcomp<optimizer = sgd, learning_rate = 1.0e-50>}

// -----

// expected-error@below {{expected epsilon to be at least 0, as an f32, got 1.0}}
func.func private @gcomp_c1_epsilon() attributes {a = #cgx.gcomp<optimizer = adam, epsilon = 1.0e39>}

// -----

// expected-error@below {{expected beta2 to be at least 0 and below 1, got 1}}
func.func private @gcomp_c2() attributes {a = #cgx.gcomp<optimizer = rmsprop, beta2 = 1.0>}

// -----

// expected-error@below {{expected momentum with optimizer momentum or nesterov only, got optimizer adam}}
func.func private @gcomp_c3() attributes {a = #cgx.gcomp<optimizer = adam, momentum = 0.9>}

// -----

// expected-error@below {{expected truncation in 0..7, got 8}}
func.func private @gcomp_c4() attributes {a = #cgx.gcomp<optimizer = sgd, truncation = 8>}

// -----

// expected-error@below {{expected a codec for one way, without error feedback, got #cgx.gcomp}}
func.func private @two_way_c1_gcomp() attributes {a = #cgx.two_way<there = #cgx.gcomp<optimizer = sgd>, back = #cgx.natural>}

// -----

// expected-error@below {{expected a codec of payloads inside of hosts, which reads nothing of an optimizer}}
func.func private @hierarchy_c3_gcomp() attributes {a = #cgx.hierarchy<local = 2, inside = #cgx.gcomp<optimizer = sgd>>}

// -----

// expected-error@below {{expected rank in 1..4294967295, got 0}}
func.func private @lowrank_c1() attributes {a = #cgx.lowrank<rank = 0>}

// -----

// expected-error@below {{expected rank, got checksum}}
func.func private @lowrank_has_no_payload_to_check() attributes {a = #cgx.lowrank<rank = 2, checksum>}

// -----

// expected-error@below {{expected a codec for one way, without error feedback, got #cgx.two_way<there = #cgx.topk<density = 1.000000e-02>, back = #cgx.natural>}}
func.func private @two_way_c1() attributes {a = #cgx.two_way<there = #cgx.two_way<there = #cgx.topk, back = #cgx.natural>, back = #cgx.natural>}

// -----

// expected-error@below {{expected a lossy codec for one of the ways, got #cgx.identity and #cgx.identity}}
func.func private @two_way_c2() attributes {a = #cgx.two_way<there = #cgx.identity, back = #cgx.identity>}

// -----

// Reports and manifests are JSON, which is UTF-8.
// expected-error@below {{expected the name of a layer to be UTF-8, got "w}}
func.func private @layer_c2() attributes {a = #cgx.layer<"w\FF", gradient>}

// -----

// expected-error@below {{expected the name of an axis to be UTF-8}}
func.func private @mesh_c1_utf8() attributes {a = #cgx.mesh<["\FE" = 4]>}

// -----

// expected-error@below {{expected cgx.name of argument 0 to be UTF-8}}
func.func @main(%x: tensor<4xf32> {cgx.name = "\C0"}) {
  return
}

// -----

func.func @origins_of_every_operand(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error@below {{expected origins to be 4 numbers, two per operand, got array<i64: 0, 0>}}
  %0:2 = cgx.all_reduce sum(%a, %b) origins(0, 0) groups([[0, 1]]) id(0) : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

// expected-error@below {{has cgx.origins, which belongs on a collective}}
func.func private @origins_of_a_function() attributes {cgx.origins = array<i64: 0, 0>}

// -----

// expected-error@below {{expected at least 1 rank per host, got 0}}
func.func private @hierarchy_c1() attributes {a = #cgx.hierarchy<local = 0>}

// -----

// expected-error@below {{expected a codec without error feedback and another way back inside of hosts}}
func.func private @hierarchy_c2() attributes {a = #cgx.hierarchy<local = 2, inside = #cgx.error_feedback<#cgx.quantize>>}

// -----

// expected-error@below {{expected a codec of payloads inside of hosts}}
func.func private @hierarchy_c3() attributes {a = #cgx.hierarchy<local = 2, inside = #cgx.lowrank<rank = 1>>}

// -----

// expected-error@below {{expected local, inside or leaders, got outside}}
func.func private @hierarchy_parameter() attributes {a = #cgx.hierarchy<local = 2, outside = #cgx.identity>}

// -----

// expected-error@below {{expected changes in a lossy codec with payloads of one size, without error feedback and with one way, got #cgx.identity}}
func.func private @delta_c1() attributes {a = #cgx.delta<#cgx.identity, samples = 4>}

// -----

// expected-error@below {{expected changes in a lossy codec with payloads of one size}}
func.func private @delta_c1_size() attributes {a = #cgx.delta<#cgx.threshold, samples = 4>}

// -----

// expected-error@below {{expected samples to be 1 to 2147483647, got 0}}
func.func private @delta_c2() attributes {a = #cgx.delta<#cgx.quantize, samples = 0>}

// -----

// expected-error@below {{expected messages in f32 or bf16, got int8}}
func.func private @delta_c3() attributes {a = #cgx.delta<#cgx.quantize, samples = 4, storage = int8>}

// -----

// expected-error@below {{expected error feedback of a lossy codec, got #cgx.delta}}
func.func private @feedback_of_delta() attributes {a = #cgx.error_feedback<#cgx.delta<#cgx.quantize, samples = 4>>}

// -----

func.func @earlier_name_in_generic_form(%a: tensor<4xf32>) {
  // expected-error@below {{expected origins, got cgx.origins, as earlier programs have it in pretty form only}}
  %0 = "cgx.all_reduce"(%a) <{reduction = #cgx<reduction sum>, id = 0 : i64, groups = #cgx.groups<[[0, 1]]>,
      codecs = [#cgx.identity], layers = [#cgx.layer<"", other>]}> {cgx.origins = array<i64: 0, 0>}
      : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @both_names(%a: tensor<4xf32>) {
  // expected-error@below {{expected origins or cgx.origins, got both}}
  %0 = cgx.all_reduce sum(%a) {origins = array<i64: 0, 0>, cgx.origins = array<i64: 0, 0>, id = 0 : i64,
      groups = #cgx.groups<[[0, 1]]>, codecs = [#cgx.identity], layers = [#cgx.layer<"", other>]} : tensor<4xf32>
  return
}

// -----

// expected-error@below {{expected cgx.turn to be an i64 from 1 to cgx.every, got 4 : i64}}
module attributes {cgx.every = 3 : i64, cgx.turn = 4 : i64} {}

// -----

// expected-error@below {{expected bits in 0..8, got 9}}
func.func private @topk_bits() attributes {a = #cgx.topk<bits = 9>}

// -----

// expected-error@below {{expected bucket and scale with bits 1..8 only, got bits 0}}
func.func private @topk_bucket() attributes {a = #cgx.topk<bucket = 64>}
