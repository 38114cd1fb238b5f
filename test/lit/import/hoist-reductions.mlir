// All-reduces that a loop accumulates are done once, after it.
// RUN: cgx-opt %s --cgx-hoist-reductions | FileCheck %s
// RUN: cgx-opt %s --cgx-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=BEFORE
// RUN: cgx-opt %s --cgx-hoist-reductions --cgx-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=AFTER

// BEFORE: w {{.*}} 8xf32 x20 {{.*}} 640
// BEFORE: xN: runs N times in a step
// AFTER: w {{.*}} 8xf32 {{.*}} 32
#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.num_ranks = 2 : i64} {

// CHECK-LABEL: @scan
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>, %[[BEGIN:.*]]: tensor<8xf32>
// CHECK: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK: %[[LOOP:.*]]:2 = stablehlo.while(%{{.*}} = %{{.*}}, %[[SUM:.*]] = %[[ZERO]])
// CHECK-NOT: cgx.all_reduce
// CHECK: stablehlo.add %[[SUM]], %{{.*}}
// CHECK: stablehlo.return
// CHECK: %[[TOTAL:.*]] = cgx.all_reduce sum(%[[LOOP]]#1)
// CHECK: %[[RESULT:.*]] = stablehlo.add %[[BEGIN]], %[[TOTAL]]
// CHECK: return %[[RESULT]]
func.func @scan(%x: tensor<8xf32>, %begin: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c0, %sum = %begin) : tensor<i32>, tensor<8xf32>
   cond {
    %c20 = stablehlo.constant dense<20> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %c20, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %f = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
    %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %y = stablehlo.multiply %x, %b : tensor<8xf32>
    %r = cgx.all_reduce sum(%y) groups(#g) id(0) layer("w", gradient) : tensor<8xf32>
    %s = stablehlo.add %sum, %r : tensor<8xf32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %n = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %n, %s : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}

// Out of two loops, where the sum begins with zero.
// CHECK-LABEL: @nested
// CHECK-COUNT-2: stablehlo.while
// CHECK-NOT: cgx.all_reduce
// CHECK: %[[TOTAL:.*]] = cgx.all_reduce mean
// CHECK-NEXT: return %[[TOTAL]]
func.func @nested(%x: tensor<8xf32>, %go: tensor<i1>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.000000e+00> : tensor<8xf32>
  %0 = stablehlo.while(%outer = %zero) : tensor<8xf32>
   cond { stablehlo.return %go : tensor<i1> } do {
    %1 = stablehlo.while(%inner = %outer) : tensor<8xf32>
     cond { stablehlo.return %go : tensor<i1> } do {
      %r = cgx.all_reduce mean(%x) groups(#g) id(1) layer("v", gradient) : tensor<8xf32>
      %s = stablehlo.add %r, %inner : tensor<8xf32>
      stablehlo.return %s : tensor<8xf32>
    }
    stablehlo.return %1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// Stays: the sum is read in the loop (a, b), or the reduction is not linear (c).
// CHECK-LABEL: @stays
// CHECK: stablehlo.while
// CHECK-COUNT-3: cgx.all_reduce
// CHECK: stablehlo.return
// CHECK-NOT: cgx.all_reduce
func.func @stays(%x: tensor<8xf32>, %go: tensor<i1>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0:3 = stablehlo.while(%a = %x, %b = %x, %c = %x) : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
   cond { stablehlo.return %go : tensor<i1> } do {
    %ra = cgx.all_reduce sum(%b) groups(#g) id(2) : tensor<8xf32>
    %sa = stablehlo.add %a, %ra : tensor<8xf32>
    %rb = cgx.all_reduce sum(%sa) groups(#g) id(3) : tensor<8xf32>
    %sb = stablehlo.add %b, %rb : tensor<8xf32>
    %rc = cgx.all_reduce max(%x) groups(#g) id(4) : tensor<8xf32>
    %sc = stablehlo.add %c, %rc : tensor<8xf32>
    stablehlo.return %sa, %sb, %sc : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
  return %0#0, %0#1, %0#2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// One operand of two comes out, the other one is read in the loop; a sum may be subtracted, and transposed
// before.
// CHECK-LABEL: @some_operands
// CHECK: stablehlo.while
// CHECK: %[[B:.*]] = cgx.all_reduce sum(%{{[^,)]*}}) {{.*}}id(5) layer("b", gradient) : tensor<4x2xf32>
// CHECK: %[[T:.*]] = stablehlo.transpose %{{.*}}, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
// CHECK: stablehlo.subtract %{{.*}}, %[[T]]
// CHECK: stablehlo.return
// CHECK: cgx.all_reduce sum(%{{[^,)]*}}) {{.*}}id({{[0-9]+}}) layer("a", gradient) : tensor<4x2xf32>
// CHECK-NEXT: stablehlo.add
func.func @some_operands(%x: tensor<2x4xf32>, %y: tensor<4x2xf32>, %go: tensor<i1>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %0:2 = stablehlo.while(%a = %y, %b = %y) : tensor<4x2xf32>, tensor<4x2xf32>
   cond { stablehlo.return %go : tensor<i1> } do {
    %r:2 = cgx.all_reduce sum(%x, %b) groups(#g) id(5) layer("a", gradient) layer("b", gradient)
        : tensor<2x4xf32>, tensor<4x2xf32>
    %t = stablehlo.transpose %r#0, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
    %s = stablehlo.subtract %a, %t : tensor<4x2xf32>
    %n = stablehlo.negate %r#1 : tensor<4x2xf32>
    stablehlo.return %s, %n : tensor<4x2xf32>, tensor<4x2xf32>
  }
  return %0#0, %0#1 : tensor<4x2xf32>, tensor<4x2xf32>
}

// Stays: what is added is the carried value minus the reduction's, with the sign of both turned.
// CHECK-LABEL: @subtracted_from
// CHECK: stablehlo.while
// CHECK: cgx.all_reduce
// CHECK: stablehlo.return
// CHECK-NOT: cgx.all_reduce
func.func @subtracted_from(%x: tensor<8xf32>, %go: tensor<i1>) -> tensor<8xf32> {
  %0 = stablehlo.while(%a = %x) : tensor<8xf32>
   cond { stablehlo.return %go : tensor<i1> } do {
    %r = cgx.all_reduce sum(%x) groups(#g) id(6) : tensor<8xf32>
    %s = stablehlo.subtract %r, %a : tensor<8xf32>
    stablehlo.return %s : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
}
