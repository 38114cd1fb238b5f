// The scale of a loss is divided out before gradients are reduced, so that residuals are in units that stay.
// RUN: cgx-opt %s --split-input-file --cgx-unscale-gradients | FileCheck %s
// A remark names gradients that are left alone, and no others.
// RUN: cgx-opt %s --split-input-file --cgx-unscale-gradients --cgx-warn-of-lost-residuals -o /dev/null --verify-diagnostics

#ef = #cgx.error_feedback<#cgx.quantize<bits = 2, bucket = 128, rounding = stochastic, scale = bf16>, decay = 1.0, storage = f32>

// The scale halves. Ops that compute it after the collective move before it.
// CHECK-LABEL: @divided
// CHECK:         @main(%[[W:.*]]: tensor<64x64xf32> {{.*}}, %[[SCALE:.*]]: tensor<f32> {{.*}}, %[[X:.*]]: tensor<64x64xf32>
module @divided attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
func.func @main(%w: tensor<64x64xf32> {cgx.sharding = #cgx.sharding<[[], []]>}, %scale: tensor<f32> {cgx.sharding = #cgx.sharding<[]>},
                %x: tensor<64x64xf32>)
    -> (tensor<64x64xf32> {cgx.feeds = 0 : i64}, tensor<f32> {cgx.feeds = 1 : i64}) {
  // CHECK: %[[S:.*]] = stablehlo.broadcast_in_dim %[[SCALE]]
  // CHECK: %[[Y:.*]] = stablehlo.multiply %[[X]], %[[S]]
  // CHECK: %[[T:.*]] = stablehlo.broadcast_in_dim %[[SCALE]]
  // CHECK: %[[Z:.*]] = stablehlo.divide %[[Y]], %[[T]]
  // CHECK: %[[G:.*]] = cgx.all_reduce mean(%[[Z]])
  // CHECK-NOT: stablehlo.divide
  // CHECK: %[[HALF:.*]] = stablehlo.constant
  // CHECK: %[[U:.*]] = stablehlo.multiply %[[G]], %[[HALF]]
  // CHECK: stablehlo.subtract %[[W]], %[[U]]
  %s = stablehlo.broadcast_in_dim %scale, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
  %y = stablehlo.multiply %x, %s : tensor<64x64xf32>
  %g = cgx.all_reduce mean(%y) codec(#ef) groups([[0, 1]]) id(0) layer("w", gradient, [64, 64]) : tensor<64x64xf32>
  %halves = stablehlo.constant dense<0.5> : tensor<64x64xf32>
  %0 = stablehlo.multiply %g, %halves : tensor<64x64xf32>
  %t = stablehlo.broadcast_in_dim %scale, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
  %1 = stablehlo.divide %0, %t : tensor<64x64xf32>
  %2 = stablehlo.subtract %w, %1 : tensor<64x64xf32>
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %3 = stablehlo.multiply %scale, %half : tensor<f32>
  return %2, %3 : tensor<64x64xf32>, tensor<f32>
}
}

// -----

#ef = #cgx.error_feedback<#cgx.quantize<bits = 2, bucket = 128, rounding = stochastic, scale = bf16>, decay = 1.0, storage = f32>

// Gradients of f16, multiplied with the reciprocal, and a scale that follows what overflows, which reads the reduction
// with its scale.
// CHECK-LABEL: @follows_overflows
// CHECK:         @main({{.*}}, %[[SCALE:.*]]: tensor<f32> {{.*}}, %[[X:.*]]: tensor<64x64xf16>
module @follows_overflows attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
func.func @main(%w: tensor<64x64xf32> {cgx.sharding = #cgx.sharding<[[], []]>}, %scale: tensor<f32> {cgx.sharding = #cgx.sharding<[]>},
                %x: tensor<64x64xf16>)
    -> (tensor<64x64xf32> {cgx.feeds = 0 : i64}, tensor<f32> {cgx.feeds = 1 : i64}) {
  // CHECK: %[[R:.*]] = stablehlo.divide %{{.*}}, %[[SCALE]]
  // CHECK: %[[D:.*]] = stablehlo.divide %{{.*}}, %[[R]] : tensor<f32>
  // CHECK: %[[Y:.*]] = stablehlo.convert %{{.*}} : (tensor<64x64xf16>) -> tensor<64x64xf32>
  // CHECK: %[[T:.*]] = stablehlo.broadcast_in_dim %[[D]]
  // CHECK: %[[Z:.*]] = stablehlo.divide %[[Y]], %[[T]]
  // CHECK: %[[G:.*]] = cgx.all_reduce sum(%[[Z]]) {{.*}} : tensor<64x64xf32>
  // CHECK: %[[B:.*]] = stablehlo.multiply %[[G]]
  // CHECK: %[[H:.*]] = stablehlo.convert %[[B]] : (tensor<64x64xf32>) -> tensor<64x64xf16>
  // CHECK: stablehlo.subtract %{{.*}}, %[[G]]
  // CHECK: stablehlo.is_finite %[[H]]
  %h = stablehlo.convert %scale : (tensor<f32>) -> tensor<f16>
  %s = stablehlo.broadcast_in_dim %h, dims = [] : (tensor<f16>) -> tensor<64x64xf16>
  %y = stablehlo.multiply %x, %s : tensor<64x64xf16>
  %g = cgx.all_reduce sum(%y) codec(#ef) groups([[0, 1]]) id(0) layer("w", gradient, [64, 64]) : tensor<64x64xf16>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %r = stablehlo.divide %one, %scale : tensor<f32>
  %0 = stablehlo.convert %g : (tensor<64x64xf16>) -> tensor<64x64xf32>
  %t = stablehlo.broadcast_in_dim %r, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
  %1 = stablehlo.multiply %0, %t : tensor<64x64xf32>
  %2 = stablehlo.subtract %w, %1 : tensor<64x64xf32>
  %3 = stablehlo.is_finite %g : (tensor<64x64xf16>) -> tensor<64x64xi1>
  %true = stablehlo.constant dense<true> : tensor<i1>
  %4 = stablehlo.reduce(%3 init: %true) applies stablehlo.and across dimensions = [0, 1] : (tensor<64x64xi1>, tensor<i1>) -> tensor<i1>
  %less = stablehlo.constant dense<0.015625> : tensor<f32>
  %5 = stablehlo.multiply %scale, %less : tensor<f32>
  %6 = stablehlo.select %4, %scale, %5 : tensor<i1>, tensor<f32>
  return %2, %6 : tensor<64x64xf32>, tensor<f32>
}
}

// -----

#ef = #cgx.error_feedback<#cgx.quantize<bits = 2, bucket = 128, rounding = stochastic, scale = bf16>, decay = 1.0, storage = f32>

// A scale that follows from each rank's own gradients may differ between ranks.
// CHECK-LABEL: @own_scales
// CHECK: %[[G:.*]] = cgx.all_reduce
// CHECK: stablehlo.divide %[[G]]
// expected-warning @below {{layer 'w': error feedback keeps what encoding lost in units of the scale}}
module @own_scales attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
func.func @main(%w: tensor<64x64xf32> {cgx.sharding = #cgx.sharding<[[], []]>}, %scale: tensor<f32> {cgx.sharding = #cgx.sharding<[]>},
                %x: tensor<64x64xf32>)
    -> (tensor<64x64xf32> {cgx.feeds = 0 : i64}, tensor<f32> {cgx.feeds = 1 : i64}) {
  %s = stablehlo.broadcast_in_dim %scale, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
  %y = stablehlo.multiply %x, %s : tensor<64x64xf32>
  %g = cgx.all_reduce mean(%y) codec(#ef) groups([[0, 1]]) id(0) layer("w", gradient, [64, 64]) : tensor<64x64xf32>
  %0 = stablehlo.divide %g, %s : tensor<64x64xf32>
  %1 = stablehlo.subtract %w, %0 : tensor<64x64xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.reduce(%x init: %zero) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<f32>
  %3 = stablehlo.add %scale, %2 : tensor<f32>
  return %1, %3 : tensor<64x64xf32>, tensor<f32>
}
}

// -----

// Without error feedback nothing is kept in units of anything.
// CHECK-LABEL: @nothing_kept
// CHECK: %[[G:.*]] = cgx.all_reduce
// CHECK: stablehlo.divide %[[G]]
module @nothing_kept attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
func.func @main(%w: tensor<64x64xf32> {cgx.sharding = #cgx.sharding<[[], []]>}, %scale: tensor<f32> {cgx.sharding = #cgx.sharding<[]>},
                %x: tensor<64x64xf32>)
    -> (tensor<64x64xf32> {cgx.feeds = 0 : i64}, tensor<f32> {cgx.feeds = 1 : i64}) {
  %s = stablehlo.broadcast_in_dim %scale, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
  %y = stablehlo.multiply %x, %s : tensor<64x64xf32>
  %g = cgx.all_reduce mean(%y) codec(quantize) groups([[0, 1]]) id(0) layer("w", gradient, [64, 64]) : tensor<64x64xf32>
  %0 = stablehlo.divide %g, %s : tensor<64x64xf32>
  %1 = stablehlo.subtract %w, %0 : tensor<64x64xf32>
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %2 = stablehlo.multiply %scale, %half : tensor<f32>
  return %1, %2 : tensor<64x64xf32>, tensor<f32>
}
}

// -----

#ef = #cgx.error_feedback<#cgx.cast<format = f16>, decay = 1.0, storage = f32>

// A cast to few exponents needs the scale.
// CHECK-LABEL: @cast_to_f16
// CHECK: %[[G:.*]] = cgx.all_reduce
// CHECK: stablehlo.divide %[[G]]
// expected-warning @below {{layer 'w': error feedback keeps what encoding lost in units of the scale}}
module @cast_to_f16 attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
func.func @main(%w: tensor<64x64xf32> {cgx.sharding = #cgx.sharding<[[], []]>}, %scale: tensor<f32> {cgx.sharding = #cgx.sharding<[]>},
                %x: tensor<64x64xf32>)
    -> (tensor<64x64xf32> {cgx.feeds = 0 : i64}, tensor<f32> {cgx.feeds = 1 : i64}) {
  %s = stablehlo.broadcast_in_dim %scale, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
  %y = stablehlo.multiply %x, %s : tensor<64x64xf32>
  %g = cgx.all_reduce mean(%y) codec(#ef) groups([[0, 1]]) id(0) layer("w", gradient, [64, 64]) : tensor<64x64xf32>
  %0 = stablehlo.divide %g, %s : tensor<64x64xf32>
  %1 = stablehlo.subtract %w, %0 : tensor<64x64xf32>
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %2 = stablehlo.multiply %scale, %half : tensor<f32>
  return %1, %2 : tensor<64x64xf32>, tensor<f32>
}
}
