// One vector of gradients becomes its layers.
// RUN: cgx-opt %s --cgx-split-reductions | FileCheck %s

#g = #cgx.groups<[[0, 1]]>
#x = #cgx.layer<"", other>
module attributes {cgx.num_ranks = 2 : i64} {

// ravel_pytree and pmean, as JAX prints them.
// CHECK-LABEL: @raveled
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4x8xf32>, %[[B:[a-z0-9]+]]: tensor<8xf32>
func.func @raveled(%a: tensor<4x8xf32>, %b: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>) {
  // CHECK: %[[RA:.*]] = cgx.all_reduce sum(%[[A]]) {{.*}} : tensor<4x8xf32>
  // CHECK: %[[RB:.*]] = cgx.all_reduce sum(%[[B]]) {{.*}} : tensor<8xf32>
  // CHECK: %[[DA:.*]] = stablehlo.divide %[[RA]], %{{.*}} : tensor<4x8xf32>
  // CHECK-NOT: stablehlo.concatenate
  // CHECK-NOT: stablehlo.slice
  %0 = stablehlo.reshape %a : (tensor<4x8xf32>) -> tensor<32xf32>
  %1 = stablehlo.concatenate %0, %b, dim = 0 : (tensor<32xf32>, tensor<8xf32>) -> tensor<40xf32>
  %2 = cgx.all_reduce sum(%1) groups(#g) id(0) layer(#x) : tensor<40xf32>
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  %n = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<40xf32>
  %3 = stablehlo.divide %2, %n : tensor<40xf32>
  %4 = stablehlo.slice %3 [0:32] : (tensor<40xf32>) -> tensor<32xf32>
  %5 = stablehlo.slice %3 [32:40] : (tensor<40xf32>) -> tensor<8xf32>
  %6 = stablehlo.reshape %4 : (tensor<32xf32>) -> tensor<4x8xf32>
  return %6, %5 : tensor<4x8xf32>, tensor<8xf32>
}

// In 16 bits, padded to a multiple of 16: the padding does not travel.
// CHECK-LABEL: @padded
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4x8xf32>, %[[B:[a-z0-9]+]]: tensor<9xf32>
func.func @padded(%a: tensor<4x8xf32>, %b: tensor<9xf32>) -> (tensor<4x8xf32>, tensor<9xf32>) {
  // CHECK: cgx.all_reduce max(%{{[^,)]*}}) {{.*}} : tensor<4x8xbf16>
  // CHECK: cgx.all_reduce max(%{{[^,)]*}}) {{.*}} : tensor<9xbf16>
  // CHECK-NOT: cgx.all_reduce
  // CHECK-NOT: stablehlo.pad
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %z = stablehlo.convert %zero : (tensor<i32>) -> tensor<bf16>
  %0 = stablehlo.reshape %a : (tensor<4x8xf32>) -> tensor<32xf32>
  %1 = stablehlo.concatenate %0, %b, dim = 0 : (tensor<32xf32>, tensor<9xf32>) -> tensor<41xf32>
  %2 = stablehlo.convert %1 : (tensor<41xf32>) -> tensor<41xbf16>
  %3 = stablehlo.pad %2, %z, low = [0], high = [7], interior = [0] : (tensor<41xbf16>, tensor<bf16>) -> tensor<48xbf16>
  %4 = cgx.all_reduce max(%3) groups(#g) id(0) layer(#x) : tensor<48xbf16>
  %5 = stablehlo.slice %4 [0:41] : (tensor<48xbf16>) -> tensor<41xbf16>
  %6 = stablehlo.convert %5 : (tensor<41xbf16>) -> tensor<41xf32>
  %7 = stablehlo.slice %6 [0:32] : (tensor<41xf32>) -> tensor<32xf32>
  %8 = stablehlo.slice %6 [32:41] : (tensor<41xf32>) -> tensor<9xf32>
  %9 = stablehlo.reshape %7 : (tensor<32xf32>) -> tensor<4x8xf32>
  return %9, %8 : tensor<4x8xf32>, tensor<9xf32>
}

// An optimizer on the vector: what it keeps stays one, and each layer's update is computed from its piece.
// CHECK-LABEL: @optimizer_on_vector
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4x8xf32>, %[[B:[a-z0-9]+]]: tensor<8xf32>, %[[M:[a-z0-9]+]]: tensor<40xf32>
func.func @optimizer_on_vector(%a: tensor<4x8xf32>, %b: tensor<8xf32>, %m: tensor<40xf32>)
    -> (tensor<4x8xf32>, tensor<8xf32>, tensor<40xf32>, tensor<f32>) {
  // CHECK: %[[M0:.*]] = stablehlo.slice %[[M]] [0:32]
  // CHECK: %[[RA:.*]] = cgx.all_reduce mean(%[[A]]) {{.*}} : tensor<4x8xf32>
  // CHECK: %[[RB:.*]] = cgx.all_reduce mean(%[[B]]) {{.*}} : tensor<8xf32>
  // CHECK: %[[NORM:.*]] = stablehlo.reduce
  // CHECK: %[[NEXT:.*]] = stablehlo.concatenate
  // CHECK: return %{{.*}}, %{{.*}}, %[[NEXT]], %[[NORM]]
  %0 = stablehlo.reshape %a : (tensor<4x8xf32>) -> tensor<32xf32>
  %1 = stablehlo.concatenate %0, %b, dim = 0 : (tensor<32xf32>, tensor<8xf32>) -> tensor<40xf32>
  %2 = cgx.all_reduce mean(%1) groups(#g) id(0) layer(#x) : tensor<40xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %norm = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<40xf32>, tensor<f32>) -> tensor<f32>
  %3 = stablehlo.add %m, %2 : tensor<40xf32>
  %4 = stablehlo.slice %3 [0:32] : (tensor<40xf32>) -> tensor<32xf32>
  %5 = stablehlo.slice %3 [32:40] : (tensor<40xf32>) -> tensor<8xf32>
  %6 = stablehlo.reshape %4 : (tensor<32xf32>) -> tensor<4x8xf32>
  return %6, %5, %3, %norm : tensor<4x8xf32>, tensor<8xf32>, tensor<40xf32>, tensor<f32>
}

// A sum of a loop is no concatenation any more: its pieces are cut out, with the shapes of their layers.
// CHECK-LABEL: @opaque
// CHECK-SAME: %[[V:[a-z0-9]+]]: tensor<40xf32>
func.func @opaque(%v: tensor<40xf32>) -> (tensor<4x8xf32>, tensor<8xf32>) {
  // CHECK-DAG: %[[A:.*]] = stablehlo.slice %[[V]] [0:32]
  // CHECK-DAG: %[[B:.*]] = stablehlo.slice %[[V]] [32:40]
  // CHECK: %[[SHAPED:.*]] = stablehlo.reshape %[[A]] : (tensor<32xf32>) -> tensor<4x8xf32>
  // CHECK: cgx.all_reduce sum(%[[SHAPED]])
  // CHECK: cgx.all_reduce sum(%[[B]])
  %0 = cgx.all_reduce sum(%v) groups(#g) id(0) layer(#x) : tensor<40xf32>
  %1 = stablehlo.slice %0 [0:32] : (tensor<40xf32>) -> tensor<32xf32>
  %i = stablehlo.constant dense<32> : tensor<i32>
  %2 = stablehlo.dynamic_slice %0, %i, sizes = [8] : (tensor<40xf32>, tensor<i32>) -> tensor<8xf32>
  %3 = stablehlo.reshape %1 : (tensor<32xf32>) -> tensor<4x8xf32>
  return %3, %2 : tensor<4x8xf32>, tensor<8xf32>
}

// A bucket into which gradients are written at constant places, the rest zeros.
// CHECK-LABEL: @bucket
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<16xf32>, %[[B:[a-z0-9]+]]: tensor<8xf32>
func.func @bucket(%a: tensor<16xf32>, %b: tensor<8xf32>) -> (tensor<16xf32>, tensor<8xf32>) {
  // CHECK: cgx.all_reduce sum(%[[A]])
  // CHECK: cgx.all_reduce sum(%[[B]])
  // CHECK-NOT: cgx.all_reduce
  %z = stablehlo.constant dense<0.0> : tensor<32xf32>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c16 = stablehlo.constant dense<16> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %z, %a, %c0 : (tensor<32xf32>, tensor<16xf32>, tensor<i32>) -> tensor<32xf32>
  %1 = stablehlo.dynamic_update_slice %0, %b, %c16 : (tensor<32xf32>, tensor<8xf32>, tensor<i32>) -> tensor<32xf32>
  %2 = cgx.all_reduce sum(%1) groups(#g) id(0) layer(#x) : tensor<32xf32>
  %3 = stablehlo.slice %2 [0:16] : (tensor<32xf32>) -> tensor<16xf32>
  %4 = stablehlo.slice %2 [16:24] : (tensor<32xf32>) -> tensor<8xf32>
  return %3, %4 : tensor<16xf32>, tensor<8xf32>
}

// One of them has a single element.
// CHECK-LABEL: @single_in_bucket
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<16xf32>, %[[B:[a-z0-9]+]]: tensor<1xf32>
func.func @single_in_bucket(%a: tensor<16xf32>, %b: tensor<1xf32>) -> (tensor<16xf32>, tensor<1xf32>) {
  // CHECK: cgx.all_reduce sum(%[[A]])
  // CHECK: cgx.all_reduce sum(%[[B]])
  // CHECK-NOT: cgx.all_reduce
  %z = stablehlo.constant dense<0.0> : tensor<32xf32>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c16 = stablehlo.constant dense<16> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %z, %a, %c0 : (tensor<32xf32>, tensor<16xf32>, tensor<i32>) -> tensor<32xf32>
  %1 = stablehlo.dynamic_update_slice %0, %b, %c16 : (tensor<32xf32>, tensor<1xf32>, tensor<i32>) -> tensor<32xf32>
  %2 = cgx.all_reduce sum(%1) groups(#g) id(0) layer(#x) : tensor<32xf32>
  %3 = stablehlo.slice %2 [0:16] : (tensor<32xf32>) -> tensor<16xf32>
  %4 = stablehlo.slice %2 [16:17] : (tensor<32xf32>) -> tensor<1xf32>
  return %3, %4 : tensor<16xf32>, tensor<1xf32>
}

// Reduced layer by layer, then raveled for the optimizer: each piece leads to its own layer.
// CHECK-LABEL: @raveled_behind
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<16xf32>, %[[B:[a-z0-9]+]]: tensor<16xf32>
func.func @raveled_behind(%a: tensor<16xf32>, %b: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  // CHECK-NEXT: %[[RA:.*]] = cgx.all_reduce sum(%[[A]])
  // CHECK-NEXT: %[[RB:.*]] = cgx.all_reduce sum(%[[B]])
  // CHECK-NOT: stablehlo.slice
  // CHECK: return
  %0 = cgx.all_reduce sum(%a) groups(#g) id(0) layer(#x) : tensor<16xf32>
  %r = cgx.all_reduce sum(%b) groups(#g) id(1) layer(#x) : tensor<16xf32>
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  %n = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<16xf32>
  %m = stablehlo.divide %0, %n : tensor<16xf32>
  %1 = stablehlo.divide %r, %n : tensor<16xf32>
  %2 = stablehlo.concatenate %m, %1, dim = 0 : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
  %3 = stablehlo.negate %2 : tensor<32xf32>
  %4 = stablehlo.slice %3 [0:16] : (tensor<32xf32>) -> tensor<16xf32>
  %5 = stablehlo.slice %3 [16:32] : (tensor<32xf32>) -> tensor<16xf32>
  return %4, %5 : tensor<16xf32>, tensor<16xf32>
}

// One parameter whose gradient happens to be put together, and one that has a name, stay whole.
// CHECK-LABEL: @whole
// CHECK: cgx.all_reduce sum(%{{[^,)]*}}) {{.*}} : tensor<8x4xf32>
// CHECK: cgx.all_reduce sum(%{{[^,)]*}}) {{.*}} : tensor<32xf32>
// CHECK-NOT: cgx.all_reduce
// CHECK: return
func.func @whole(%q: tensor<4x4xf32>, %k: tensor<4x4xf32>, %v: tensor<32xf32>) -> (tensor<8x4xf32>, tensor<16xf32>) {
  %0 = stablehlo.concatenate %q, %k, dim = 0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %1 = cgx.all_reduce sum(%0) groups(#g) id(0) layer(#x) : tensor<8x4xf32>
  %2 = cgx.all_reduce sum(%v) groups(#g) id(1) layer("v", gradient) : tensor<32xf32>
  %3 = stablehlo.slice %2 [0:16] : (tensor<32xf32>) -> tensor<16xf32>
  return %1, %3 : tensor<8x4xf32>, tensor<16xf32>
}

// Columns are no run of elements, and every other element neither.
// CHECK-LABEL: @not_one_run
// CHECK: cgx.all_reduce sum(%{{[^,)]*}}) {{.*}} : tensor<8x4xf32>
// CHECK-NOT: cgx.all_reduce
// CHECK: return
func.func @not_one_run(%a: tensor<8x4xf32>) -> (tensor<8x2xf32>, tensor<4x4xf32>) {
  %0 = cgx.all_reduce sum(%a) groups(#g) id(0) layer(#x) : tensor<8x4xf32>
  %1 = stablehlo.slice %0 [0:8, 0:2] : (tensor<8x4xf32>) -> tensor<8x2xf32>
  %2 = stablehlo.slice %0 [0:8:2, 0:4] : (tensor<8x4xf32>) -> tensor<4x4xf32>
  return %1, %2 : tensor<8x2xf32>, tensor<4x4xf32>
}

// The last position of an activation, after sums with others: it stays one.
// CHECK-LABEL: @last_position
// CHECK: cgx.all_reduce sum(%{{[^,)]*}}) {{.*}} : tensor<1x4x8xf32>
// CHECK-NOT: cgx.all_reduce
// CHECK: return
func.func @last_position(%a: tensor<1x4x8xf32>, %x: tensor<1x4x8xf32>) -> tensor<1x1x8xf32> {
  %0 = cgx.all_reduce sum(%a) groups(#g) id(0) layer(#x) : tensor<1x4x8xf32>
  %1 = stablehlo.add %0, %x : tensor<1x4x8xf32>
  %2 = stablehlo.slice %1 [0:1, 3:4, 0:8] : (tensor<1x4x8xf32>) -> tensor<1x1x8xf32>
  return %2 : tensor<1x1x8xf32>
}
}
