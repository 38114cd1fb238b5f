// A collective starts right after its operands and is waited for right before its first use; nothing else moves.
// RUN: cgx-opt %s --split-input-file --cgx-start-collectives | FileCheck %s
// RUN: not cgx-opt %s --split-input-file --cgx-start-collectives=prefetch=-1 2>&1 | FileCheck %s --check-prefix=SIZE

// SIZE: error: expected prefetch to be a size such as 64MiB, or all, got -1

#g = #cgx.groups<[[0, 1]]>
#other = #cgx.layer<"", other>

// Without the order of cgx-order-by-collectives, %u2 stays after %u1. All-reduces are not merged.
// CHECK-LABEL: @as_it_stands
// CHECK-NEXT: %[[G2:.*]] = stablehlo.cosine
// CHECK-NEXT: %[[H2:.*]] = cgx.start all_reduce mean(%[[G2]]) {{.*}}id(1)
// CHECK-NEXT: %[[G1:.*]] = stablehlo.sine
// CHECK-NEXT: %[[R1:.*]] = cgx.all_reduce mean(%[[G1]]) {{.*}}id(0)
// CHECK-NEXT: stablehlo.subtract %arg0, %[[R1]]
// CHECK-NEXT: %[[R2:.*]] = cgx.wait %[[H2]]
// CHECK-NEXT: stablehlo.subtract %arg1, %[[R2]]
func.func @as_it_stands(%p1: tensor<8xf32>, %p2: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %g2 = stablehlo.cosine %p2 : tensor<8xf32>
  %g1 = stablehlo.sine %p1 : tensor<8xf32>
  %r1 = cgx.all_reduce mean(%g1) groups(#g) id(0) layer(#other) : tensor<8xf32>
  %u1 = stablehlo.subtract %p1, %r1 : tensor<8xf32>
  %r2 = cgx.all_reduce mean(%g2) groups(#g) id(1) layer(#other) : tensor<8xf32>
  %u2 = stablehlo.subtract %p2, %r2 : tensor<8xf32>
  return %u1, %u2 : tensor<8xf32>, tensor<8xf32>
}

// -----

#g = #cgx.groups<[[0, 1]]>
#other = #cgx.layer<"", other>

// A result that nobody uses is waited for at the end; a group of one rank exchanges nothing.
// CHECK-LABEL: @ends
// CHECK-NEXT: cgx.start broadcast(%arg0)
// CHECK-NEXT: cgx.all_reduce sum(%arg0)
// CHECK-NEXT: stablehlo.sine
// CHECK-NEXT: cgx.wait
// CHECK-NEXT: return
func.func @ends(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = cgx.broadcast(%x) groups(#g) id(0) layer(#other) root(0) : tensor<8xf32>
  %b = cgx.all_reduce sum(%x) groups([[0], [1]]) id(1) layer(#other) : tensor<8xf32>
  %c = stablehlo.sine %b : tensor<8xf32>
  return %c : tensor<8xf32>
}
