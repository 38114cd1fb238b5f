// Ops stand after the last collective that they need, and before ops that need a later one.
// RUN: cgx-opt %s --split-input-file --cgx-order-by-collectives | FileCheck %s
// RUN: cgx-opt %s --split-input-file --cgx-order-by-collectives --cgx-order-by-collectives | FileCheck %s

#g = #cgx.groups<[[0, 1]]>
#other = #cgx.layer<"", other>

// %g2 is there first, so that its update does not wait for %r1; the loss needs no collective at all.
// CHECK-LABEL: @backward
// CHECK-NEXT: stablehlo.cosine
// CHECK-NEXT: stablehlo.sine
// CHECK-NEXT: %[[R1:.*]] = cgx.all_reduce mean(%{{[^,)]*}}) {{.*}}id(0)
// CHECK-NEXT: %[[R2:.*]] = cgx.all_reduce mean(%{{[^,)]*}}) {{.*}}id(1)
// CHECK-NEXT: stablehlo.negate
// CHECK-NEXT: stablehlo.subtract %arg1, %[[R2]]
// CHECK-NEXT: stablehlo.subtract %arg0, %[[R1]]
func.func @backward(%p1: tensor<8xf32>, %p2: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %g2 = stablehlo.cosine %p2 : tensor<8xf32>
  %g1 = stablehlo.sine %p1 : tensor<8xf32>
  %r1 = cgx.all_reduce mean(%g1) groups(#g) id(0) layer(#other) : tensor<8xf32>
  %u1 = stablehlo.subtract %p1, %r1 : tensor<8xf32>
  %r2 = cgx.all_reduce mean(%g2) groups(#g) id(1) layer(#other) : tensor<8xf32>
  %u2 = stablehlo.subtract %p2, %r2 : tensor<8xf32>
  %loss = stablehlo.negate %p1 : tensor<8xf32>
  return %u1, %u2, %loss : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

#g = #cgx.groups<[[0, 1]]>
#other = #cgx.layer<"", other>

// Ops with effects keep their order, and an op with a region needs what its region needs. A group of one rank
// is no collective to wait for.
// CHECK-LABEL: @effects
// CHECK-NEXT: %[[A:.*]] = cgx.all_reduce sum(
// CHECK-NEXT: cgx.all_reduce sum(
// CHECK-NEXT: stablehlo.cosine
// CHECK-NEXT: call @print(%[[A]])
// CHECK-NEXT: call @print(%arg0)
// CHECK-NEXT: stablehlo.while
func.func private @print(tensor<8xf32>)
func.func @effects(%x: tensor<8xf32>, %i: tensor<i1>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = cgx.all_reduce sum(%x) groups(#g) id(0) layer(#other) : tensor<8xf32>
  func.call @print(%a) : (tensor<8xf32>) -> ()
  func.call @print(%x) : (tensor<8xf32>) -> ()
  %n:2 = stablehlo.while(%c = %i, %y = %x) : tensor<i1>, tensor<8xf32>
    cond {
      stablehlo.return %c : tensor<i1>
    } do {
      %sum = stablehlo.add %y, %a : tensor<8xf32>
      stablehlo.return %c, %sum : tensor<i1>, tensor<8xf32>
    }
  %own = cgx.all_reduce sum(%x) groups([[0], [1]]) id(1) layer(#other) : tensor<8xf32>
  %b = stablehlo.cosine %own : tensor<8xf32>
  return %n#1, %b : tensor<8xf32>, tensor<8xf32>
}
