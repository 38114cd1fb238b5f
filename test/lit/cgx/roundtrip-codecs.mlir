// Every codec prints what it was parsed from; what is left out has its default.
// RUN: cgx-opt %s --verify-roundtrip | FileCheck %s

// CHECK: #cgx.identity
func.func private @identity() attributes {a = #cgx.identity}
// CHECK: #cgx.quantize<bits = 4, bucket = 128, rounding = stochastic, scale = bf16>
func.func private @quantize() attributes {a = #cgx.quantize}
// CHECK: #cgx.quantize<bits = 8, bucket = 64, rounding = random_shift, scale = f32, checksum>
func.func private @quantize_shift() attributes {a = #cgx.quantize<checksum, scale = f32, rounding = random_shift, bucket = 64, bits = 8>}
// CHECK: #cgx.quantize<bits = 4, bucket = 128, rounding = nearest, scale = bf16, scaling = max_abs, levels = exponential>
func.func private @quantize_exponential() attributes {a = #cgx.quantize<levels = exponential, scaling = max_abs, rounding = nearest>}
// CHECK: #cgx.quantize<bits = 2, bucket = 128, rounding = stochastic, scale = bf16, scaling = l2>
func.func private @quantize_l2() attributes {a = #cgx.quantize<bits = 2, scaling = l2>}
// CHECK: #cgx.quantize<bits = 3, bucket = 128, rounding = nearest, scale = bf16, levels = learned>
func.func private @quantize_learned() attributes {a = #cgx.quantize<bits = 3, rounding = nearest, levels = learned>}
// CHECK: #cgx.ternary<bucket = 512, scale = bf16>
func.func private @ternary() attributes {a = #cgx.ternary}
// CHECK: #cgx.ternary<bucket = 100, scale = f32, checksum>
func.func private @ternary_all() attributes {a = #cgx.ternary<scale = f32, bucket = 100, checksum>}
// CHECK: #cgx.sign<bucket = 512, magnitude = means, scale = bf16>
func.func private @sign() attributes {a = #cgx.sign}
// CHECK: #cgx.sign<bucket = 64, magnitude = norm, scale = f32, checksum>
func.func private @sign_all() attributes {a = #cgx.sign<bucket = 64, magnitude = norm, scale = f32, checksum>}
// CHECK: #cgx.natural
func.func private @natural() attributes {a = #cgx.natural}
// CHECK: #cgx.natural<checksum>
func.func private @natural_checksum() attributes {a = #cgx.natural<checksum>}
// CHECK: #cgx.topk<density = 1.000000e-02>
func.func private @topk() attributes {a = #cgx.topk}
// CHECK: #cgx.topk<density = 1.000000e-02, bits = 4, bucket = 4096, scale = bf16>
func.func private @topk_levels() attributes {a = #cgx.topk<bits = 4>}
// CHECK: #cgx.topk<density = 2.000000e-02, bits = 1, bucket = 64, scale = f32, checksum>
func.func private @topk_signs() attributes {a = #cgx.topk<bits = 1, bucket = 64, scale = f32, density = 0.02, checksum>}
// CHECK: #cgx.topk<density = 1.000000e+00, checksum>
func.func private @topk_all() attributes {a = #cgx.topk<density = 1, checksum>}
// CHECK: #cgx.randk<density = 2.500000e-01>
func.func private @randk() attributes {a = #cgx.randk<density = 0.25>}
// CHECK: #cgx.error_feedback<#cgx.topk<density = 1.000000e-03>, decay = 1.000000e+00, storage = f32>
func.func private @topk_feedback() attributes {a = #cgx.error_feedback<#cgx.topk<density = 0.001>>}
// CHECK: a = #cgx.lossless}
func.func private @lossless() attributes {a = #cgx.lossless}
// CHECK: #cgx.lossless<checksum>
func.func private @lossless_checksum() attributes {a = #cgx.lossless<checksum>}
// CHECK: #cgx.gcomp<optimizer = sgd, weight_decay = 0.000000e+00>
func.func private @gcomp_sgd() attributes {a = #cgx.gcomp<optimizer = sgd>}
// CHECK: #cgx.gcomp<optimizer = momentum, learning_rate = 1.000000e-02, weight_decay = 0.000000e+00, momentum = 9.000000e-01, dampening = 0.000000e+00, truncation = 4, checksum>
func.func private @gcomp_momentum() attributes {a = #cgx.gcomp<learning_rate = 0.01, checksum, truncation = 4, optimizer = momentum>}
// CHECK: #cgx.gcomp<optimizer = nesterov, weight_decay = 0.000000e+00, momentum = 5.000000e-01>
func.func private @gcomp_nesterov() attributes {a = #cgx.gcomp<optimizer = nesterov, momentum = 0.5>}
// CHECK: #cgx.gcomp<optimizer = adagrad, weight_decay = 0.000000e+00, epsilon = 1.000000e-08>
func.func private @gcomp_adagrad() attributes {a = #cgx.gcomp<optimizer = adagrad>}
// CHECK: #cgx.gcomp<optimizer = rmsprop, weight_decay = 0.000000e+00, beta2 = 0.98999999999999999, epsilon = 1.000000e-08>
func.func private @gcomp_rmsprop() attributes {a = #cgx.gcomp<optimizer = rmsprop, beta2 = 0.99>}
// CHECK: #cgx.gcomp<optimizer = adam, weight_decay = 0.000000e+00, beta1 = 9.000000e-01, beta2 = 0.99899999999999999, epsilon = 1.000000e-08>
func.func private @gcomp_adam() attributes {a = #cgx.gcomp<optimizer = adam>}
// CHECK: #cgx.error_feedback<#cgx.gcomp<optimizer = adamw, weight_decay = 1.000000e-01, beta1 = 9.000000e-01, beta2 = 0.99899999999999999, epsilon = 1.000000e-08>, decay = 1.000000e+00, storage = f32>
func.func private @gcomp_adamw() attributes {a = #cgx.error_feedback<#cgx.gcomp<optimizer = adamw, weight_decay = 0.1>>}
// CHECK: #cgx.threshold<threshold = 1.000000e-03>
func.func private @threshold() attributes {a = #cgx.threshold}
// CHECK: #cgx.threshold<threshold = 0.000000e+00, checksum>
func.func private @threshold_none() attributes {a = #cgx.threshold<threshold = 0, checksum>}
// CHECK: #cgx.adaptive_threshold<bucket = 512, threshold = 5.000000e-01>
func.func private @adaptive_threshold() attributes {a = #cgx.adaptive_threshold}
// CHECK: #cgx.adaptive_threshold<bucket = 50, threshold = 1.000000e+00, checksum>
func.func private @adaptive_threshold_all() attributes {a = #cgx.adaptive_threshold<bucket = 50, threshold = 1, checksum>}
// CHECK: #cgx.eden<bits = 4, bucket = 128, scale = bf16>
func.func private @eden() attributes {a = #cgx.eden}
// CHECK: #cgx.eden<bits = 2, bucket = 1024, scale = f32, checksum>
func.func private @eden_two_bits() attributes {a = #cgx.eden<checksum, scale = f32, bucket = 1024, bits = 2>}
// CHECK: #cgx.lowrank<rank = 4>
func.func private @lowrank() attributes {a = #cgx.lowrank}
// CHECK: #cgx.error_feedback<#cgx.lowrank<rank = 1>, decay = 1.000000e+00, storage = bf16>
func.func private @lowrank_feedback() attributes {a = #cgx.error_feedback<#cgx.lowrank<rank = 1>, storage = bf16>}
// CHECK: #cgx.two_way<there = #cgx.topk<density = 1.000000e-02>, back = #cgx.natural>
func.func private @two_way() attributes {a = #cgx.two_way<there = #cgx.topk, back = #cgx.natural>}
// CHECK: #cgx.error_feedback<#cgx.two_way<there = #cgx.identity, back = #cgx.ternary<{{.*}}>>, decay = 1.000000e+00, storage = f32>
func.func private @two_way_feedback() attributes {a = #cgx.error_feedback<#cgx.two_way<there = #cgx.identity, back = #cgx.ternary>>}
// CHECK: #cgx.cast<format = bf16>
func.func private @cast() attributes {a = #cgx.cast}
// CHECK: #cgx.cast<format = fp8_e5m2, bucket = 128, scale = bf16>
func.func private @cast_fp8() attributes {a = #cgx.cast<format = fp8_e5m2>}
// CHECK: #cgx.cast<format = fp8_e4m3, bucket = 64, scale = f32, checksum>
func.func private @cast_fp8_all() attributes {a = #cgx.cast<format = fp8_e4m3, bucket = 64, scale = f32, checksum>}
// CHECK: #cgx.cast<format = mxfp4>
func.func private @cast_mx() attributes {a = #cgx.cast<format = mxfp4>}
// CHECK: #cgx.delta<#cgx.quantize<bits = 3, {{.*}}>, samples = 64, storage = f32>
func.func private @delta() attributes {a = #cgx.delta<#cgx.quantize<bits = 3>, samples = 64>}
// CHECK: #cgx.delta<#cgx.sign<{{.*}}>, samples = 1, storage = bf16>
func.func private @delta_bf16() attributes {a = #cgx.delta<#cgx.sign, samples = 1, storage = bf16>}
