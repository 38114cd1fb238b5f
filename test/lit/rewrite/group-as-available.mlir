// Groups of all-reduces in the order in which their operands become available, not in that of the program.
// RUN: cgx-opt %s --split-input-file --cgx-group-as-available=group-bytes=64 | FileCheck %s
// RUN: cgx-opt %s --split-input-file --cgx-group-as-available=group-bytes=0 | FileCheck %s --check-prefix=ALONE
// RUN: cgx-opt %s --split-input-file --cgx-group-as-available | FileCheck %s --check-prefix=ALL

#g = #cgx.groups<[[0, 1]]>
#other = #cgx.layer<"", other>

// The backward pass has %g3 and %g2 first: they travel together, and %g1 alone.
// CHECK-LABEL: @backward
// CHECK: %[[R1:.*]] = cgx.all_reduce mean(%[[G1:[a-z0-9]*]]) {{.*}}id(0)
// CHECK: %[[R:.*]]:2 = cgx.all_reduce mean(%[[G2:[a-z0-9]*]], %[[G3:[a-z0-9]*]]) {{.*}}id(1)
// CHECK: return %[[R1]], %[[R]]#0, %[[R]]#1
// ALONE-LABEL: @backward
// ALONE-COUNT-3: cgx.all_reduce mean(%{{[a-z0-9]*}})
// ALL-LABEL: @backward
// ALL: cgx.all_reduce mean(%{{[^,)]*}}, %{{[^,)]*}}, %{{[^,)]*}}) {{.*}}id(0)
// ALL-NOT: cgx.all_reduce
// ALL: return
func.func @backward(%p1: tensor<8xf32>, %p2: tensor<8xf32>, %p3: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %g3 = stablehlo.cosine %p3 : tensor<8xf32>
  %g2 = stablehlo.cosine %p2 : tensor<8xf32>
  %g1 = stablehlo.cosine %p1 : tensor<8xf32>
  %r1 = cgx.all_reduce mean(%g1) groups(#g) id(0) layer(#other) : tensor<8xf32>
  %r2 = cgx.all_reduce mean(%g2) groups(#g) id(1) layer(#other) : tensor<8xf32>
  %r3 = cgx.all_reduce mean(%g3) groups(#g) id(2) layer(#other) : tensor<8xf32>
  return %r1, %r2, %r3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

#g = #cgx.groups<[[0, 1]]>
#other = #cgx.layer<"", other>

// Users of a result that now comes later are moved after it. A block in which nothing was merged keeps its order.
// CHECK-LABEL: @users_go_behind
// CHECK: %[[R:.*]]:2 = cgx.all_reduce sum(
// CHECK-NEXT: stablehlo.sine %[[R]]#0
// CHECK-LABEL: @untouched
// CHECK-NEXT: cgx.all_reduce sum(
// CHECK-NEXT: stablehlo.sine
// CHECK-NEXT: stablehlo.cosine
// CHECK-NEXT: cgx.all_gather(
func.func @users_go_behind(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = cgx.all_reduce sum(%x) groups(#g) id(0) layer(#other) : tensor<8xf32>
  %0 = stablehlo.sine %a : tensor<8xf32>
  %b = cgx.all_reduce sum(%y) groups(#g) id(1) layer(#other) : tensor<8xf32>
  return %0, %b : tensor<8xf32>, tensor<8xf32>
}
func.func @untouched(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<16xf32>) {
  %a = cgx.all_reduce sum(%x) groups(#g) id(2) layer(#other) : tensor<8xf32>
  %0 = stablehlo.sine %a : tensor<8xf32>
  %1 = stablehlo.cosine %x : tensor<8xf32>
  %b = cgx.all_gather(%1) dim(0) groups(#g) id(3) layer(#other) : (tensor<8xf32>) -> tensor<16xf32>
  return %0, %b : tensor<8xf32>, tensor<16xf32>
}
