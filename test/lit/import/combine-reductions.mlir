// Reductions whose results are added up are reduced once.
// RUN: cgx-opt %s --cgx-combine-reductions --split-input-file | FileCheck %s

#g = #cgx.groups<[[0, 1]]>
#x = #cgx.layer<"", other>
module attributes {cgx.num_ranks = 2 : i64} {

// CHECK-LABEL: @sum
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<8xf32>, %[[B:[a-z0-9]+]]: tensor<8xf32>
func.func @sum(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[LOCAL:.*]] = stablehlo.add %[[A]], %[[B]]
  // CHECK-NEXT: %[[R:.*]] = cgx.all_reduce sum(%[[LOCAL]])
  // CHECK-NEXT: return %[[R]]
  %0 = cgx.all_reduce sum(%a) groups(#g) id(0) layer(#x) : tensor<8xf32>
  %1 = cgx.all_reduce sum(%b) groups(#g) id(1) layer(#x) : tensor<8xf32>
  %2 = stablehlo.add %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// The input embedding and its transpose after the last layer, as JAX prints the sum of their gradients.
// CHECK-LABEL: @tied
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4x8xf32>, %[[B:[a-z0-9]+]]: tensor<8x4xf32>
func.func @tied(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %[[A]], dims = [1, 0]
  // CHECK-NEXT: %[[LOCAL:.*]] = stablehlo.add %[[T]], %[[B]]
  // CHECK-NEXT: %[[R:.*]] = cgx.all_reduce sum(%[[LOCAL]])
  // CHECK-NEXT: return %[[R]]
  %0 = cgx.all_reduce sum(%a) groups(#g) id(0) layer(#x) : tensor<4x8xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %2 = cgx.all_reduce sum(%b) groups(#g) id(1) layer(#x) : tensor<8x4xf32>
  %3 = stablehlo.add %1, %2 : tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// A factor that both have stays after the reduction, even one that the program does not know.
// CHECK-LABEL: @common_factor
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<8xf32>, %[[B:[a-z0-9]+]]: tensor<8xf32>, %[[S:[a-z0-9]+]]: tensor<f32>
func.func @common_factor(%a: tensor<8xf32>, %b: tensor<8xf32>, %s: tensor<f32>) -> tensor<8xf32> {
  // CHECK: %[[LOCAL:.*]] = stablehlo.add %[[A]], %[[B]]
  // CHECK-NEXT: %[[R:.*]] = cgx.all_reduce sum(%[[LOCAL]])
  // CHECK-NEXT: %[[P:.*]] = stablehlo.multiply %[[R]]
  // CHECK-NEXT: return %[[P]]
  %f = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %0 = cgx.all_reduce sum(%a) groups(#g) id(0) layer(#x) : tensor<8xf32>
  %1 = stablehlo.multiply %0, %f : tensor<8xf32>
  %2 = cgx.all_reduce sum(%b) groups(#g) id(1) layer(#x) : tensor<8xf32>
  %3 = stablehlo.multiply %2, %f : tensor<8xf32>
  %4 = stablehlo.add %1, %3 : tensor<8xf32>
  return %4 : tensor<8xf32>
}

// A factor of one term alone moves before the reduction if it is a constant: it is the same on all ranks.
// CHECK-LABEL: @constant_factor
// CHECK-COUNT-1: cgx.all_reduce
// CHECK-NOT: cgx.all_reduce
// CHECK: return
func.func @constant_factor(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %f = stablehlo.constant dense<0.5> : tensor<8xf32>
  %0 = cgx.all_reduce sum(%a) groups(#g) id(0) layer(#x) : tensor<8xf32>
  %1 = stablehlo.multiply %0, %f : tensor<8xf32>
  %2 = cgx.all_reduce sum(%b) groups(#g) id(1) layer(#x) : tensor<8xf32>
  %4 = stablehlo.add %1, %2 : tensor<8xf32>
  return %4 : tensor<8xf32>
}

// Any other may differ between ranks.
// CHECK-LABEL: @unknown_factor
// CHECK-COUNT-2: cgx.all_reduce
func.func @unknown_factor(%a: tensor<8xf32>, %b: tensor<8xf32>, %s: tensor<f32>) -> tensor<8xf32> {
  %f = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %0 = cgx.all_reduce sum(%a) groups(#g) id(0) layer(#x) : tensor<8xf32>
  %1 = stablehlo.multiply %0, %f : tensor<8xf32>
  %2 = cgx.all_reduce sum(%b) groups(#g) id(1) layer(#x) : tensor<8xf32>
  %4 = stablehlo.add %1, %2 : tensor<8xf32>
  return %4 : tensor<8xf32>
}

// Four terms, signs, and one that is no reduction.
// CHECK-LABEL: @tree
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<8xf32>, %[[B:[a-z0-9]+]]: tensor<8xf32>, %[[C:[a-z0-9]+]]: tensor<8xf32>, %[[W:[a-z0-9]+]]: tensor<8xf32>
func.func @tree(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>, %w: tensor<8xf32>) -> tensor<8xf32> {
  // %w - (R(a) - R(b)) + R(-c) = %w - R(a - b + c)
  // CHECK-NEXT: %[[AB:.*]] = stablehlo.subtract %[[A]], %[[B]]
  // CHECK-NEXT: %[[N:.*]] = stablehlo.negate %[[C]]
  // CHECK-NEXT: %[[ABC:.*]] = stablehlo.subtract %[[AB]], %[[N]]
  // CHECK-NEXT: %[[R:.*]] = cgx.all_reduce sum(%[[ABC]])
  // CHECK-NEXT: %[[RESULT:.*]] = stablehlo.subtract %[[W]], %[[R]]
  // CHECK-NEXT: return %[[RESULT]]
  %0 = cgx.all_reduce sum(%a) groups(#g) id(0) layer(#x) : tensor<8xf32>
  %1 = cgx.all_reduce sum(%b) groups(#g) id(1) layer(#x) : tensor<8xf32>
  %2 = cgx.all_reduce sum(%c) groups(#g) id(2) layer(#x) : tensor<8xf32>
  %3 = stablehlo.subtract %0, %1 : tensor<8xf32>
  %4 = stablehlo.subtract %w, %3 : tensor<8xf32>
  %5 = stablehlo.negate %2 : tensor<8xf32>
  %6 = stablehlo.add %4, %5 : tensor<8xf32>
  return %6 : tensor<8xf32>
}

// Two reductions of 16 bits become one of 32: as many bytes, and half of them once they are compressed.
// CHECK-LABEL: @converted
// CHECK: cgx.all_reduce sum(%{{[^,)]*}}) {{.*}} : tensor<8xf32>
// CHECK-NOT: cgx.all_reduce
// CHECK: return
func.func @converted(%a: tensor<8xbf16>, %b: tensor<8xbf16>) -> tensor<8xf32> {
  %0 = cgx.all_reduce sum(%a) groups(#g) id(0) layer(#x) : tensor<8xbf16>
  %1 = stablehlo.convert %0 : (tensor<8xbf16>) -> tensor<8xf32>
  %2 = cgx.all_reduce sum(%b) groups(#g) id(1) layer(#x) : tensor<8xbf16>
  %3 = stablehlo.convert %2 : (tensor<8xbf16>) -> tensor<8xf32>
  %4 = stablehlo.add %1, %3 : tensor<8xf32>
  return %4 : tensor<8xf32>
}

// Four bytes each would be more than two.
// CHECK-LABEL: @converted_far
// CHECK-COUNT-2: cgx.all_reduce sum(%{{[^,)]*}}) {{.*}} : tensor<8xbf16>
func.func @converted_far(%a: tensor<8xbf16>, %b: tensor<8xbf16>) -> tensor<8xf64> {
  %0 = cgx.all_reduce sum(%a) groups(#g) id(0) layer(#x) : tensor<8xbf16>
  %1 = stablehlo.convert %0 : (tensor<8xbf16>) -> tensor<8xf64>
  %2 = cgx.all_reduce sum(%b) groups(#g) id(1) layer(#x) : tensor<8xbf16>
  %3 = stablehlo.convert %2 : (tensor<8xbf16>) -> tensor<8xf64>
  %4 = stablehlo.add %1, %3 : tensor<8xf64>
  return %4 : tensor<8xf64>
}

// Both are rounded alike, once, after the sum.
// CHECK-LABEL: @rounded
// CHECK: cgx.all_reduce sum(%{{[^,)]*}}) {{.*}} : tensor<8xf32>
// CHECK-NEXT: stablehlo.convert
// CHECK-NEXT: return
func.func @rounded(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xbf16> {
  %0 = cgx.all_reduce sum(%a) groups(#g) id(0) layer(#x) : tensor<8xf32>
  %1 = stablehlo.convert %0 : (tensor<8xf32>) -> tensor<8xbf16>
  %2 = cgx.all_reduce sum(%b) groups(#g) id(1) layer(#x) : tensor<8xf32>
  %3 = stablehlo.convert %2 : (tensor<8xf32>) -> tensor<8xbf16>
  %4 = stablehlo.add %1, %3 : tensor<8xbf16>
  return %4 : tensor<8xbf16>
}

// Operands of variadic reductions; the others stay with what is theirs.
// CHECK-LABEL: @variadic
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<8xf32>, %[[B:[a-z0-9]+]]: tensor<8xf32>, %[[C:[a-z0-9]+]]: tensor<4xf32>
func.func @variadic(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[S:.*]] = cgx.all_reduce sum(%[[C]]) {{.*}}id(0) layer("c", other) :
  // CHECK-NEXT: %[[LOCAL:.*]] = stablehlo.add %[[A]], %[[B]]
  // CHECK-NEXT: %[[R:.*]] = cgx.all_reduce sum(%[[LOCAL]])
  // CHECK-NEXT: return %[[R]], %[[S]]
  %0:3 = cgx.all_reduce sum(%a, %c, %b) groups(#g) id(0) layer(#x) layer("c", other) layer(#x)
      : tensor<8xf32>, tensor<4xf32>, tensor<8xf32>
  %1 = stablehlo.add %0#0, %0#2 : tensor<8xf32>
  return %1, %0#1 : tensor<8xf32>, tensor<4xf32>
}

// In the body of a loop.
// CHECK-LABEL: @loop
// CHECK: stablehlo.while
// CHECK: do {
// CHECK-COUNT-1: cgx.all_reduce
// CHECK-NOT: cgx.all_reduce
// CHECK: return
func.func @loop(%a: tensor<8xf32>, %go: tensor<i1>) -> tensor<8xf32> {
  %0 = stablehlo.while(%s = %a) : tensor<8xf32>
   cond { stablehlo.return %go : tensor<i1> } do {
    %n = stablehlo.negate %s : tensor<8xf32>
    %1 = cgx.all_reduce mean(%s) groups(#g) id(0) layer(#x) : tensor<8xf32>
    %2 = cgx.all_reduce mean(%n) groups(#g) id(1) layer(#x) : tensor<8xf32>
    %3 = stablehlo.add %a, %1 : tensor<8xf32>
    %4 = stablehlo.add %3, %2 : tensor<8xf32>
    stablehlo.return %4 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: @reduced_twice
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<8xf32>
func.func @reduced_twice(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[R:.*]] = cgx.all_reduce mean(%[[A]])
  // CHECK-NEXT: return %[[R]], %[[R]]
  %0 = cgx.all_reduce mean(%a) groups(#g) id(0) layer(#x) : tensor<8xf32>
  %1 = cgx.all_reduce mean(%a) groups(#g) id(1) layer(#x) : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// Somebody reads one of the results by itself.
// CHECK-LABEL: @read_elsewhere
// CHECK-COUNT-2: cgx.all_reduce
func.func @read_elsewhere(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = cgx.all_reduce sum(%a) groups(#g) id(0) layer(#x) : tensor<8xf32>
  %1 = cgx.all_reduce sum(%b) groups(#g) id(1) layer(#x) : tensor<8xf32>
  %2 = stablehlo.add %0, %1 : tensor<8xf32>
  return %2, %1 : tensor<8xf32>, tensor<8xf32>
}

// Other groups, another reduction, another layer; reductions that are not linear; a product.
// CHECK-LABEL: @different
// CHECK-COUNT-10: cgx.all_reduce
func.func @different(%a: tensor<8xf32>, %b: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = cgx.all_reduce sum(%a) groups(#g) id(0) layer(#x) : tensor<8xf32>
  %1 = cgx.all_reduce sum(%b) groups([[0], [1]]) id(1) layer(#x) : tensor<8xf32>
  %2 = stablehlo.add %0, %1 : tensor<8xf32>
  %n = stablehlo.negate %a : tensor<8xf32>
  %3 = cgx.all_reduce sum(%n) groups(#g) id(2) layer(#x) : tensor<8xf32>
  %4 = cgx.all_reduce mean(%b) groups(#g) id(3) layer(#x) : tensor<8xf32>
  %5 = stablehlo.add %3, %4 : tensor<8xf32>
  %m = stablehlo.negate %n : tensor<8xf32>
  %6 = cgx.all_reduce sum(%m) groups(#g) id(4) layer("w", gradient) : tensor<8xf32>
  %7 = cgx.all_reduce sum(%b) groups(#g) id(5) layer("v", gradient) : tensor<8xf32>
  %8 = stablehlo.add %6, %7 : tensor<8xf32>
  %9 = cgx.all_reduce max(%a) groups(#g) id(6) layer(#x) : tensor<8xf32>
  %10 = cgx.all_reduce max(%b) groups(#g) id(7) layer(#x) : tensor<8xf32>
  %11 = stablehlo.add %9, %10 : tensor<8xf32>
  %p = stablehlo.multiply %a, %b : tensor<8xf32>
  %q = stablehlo.add %a, %b : tensor<8xf32>
  %12 = cgx.all_reduce sum(%p) groups(#g) id(8) layer(#x) : tensor<8xf32>
  %13 = cgx.all_reduce sum(%q) groups(#g) id(9) layer(#x) : tensor<8xf32>
  %14 = stablehlo.multiply %12, %13 : tensor<8xf32>
  return %2, %5, %8, %11, %14 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
}
