// Collectives start as soon as their operands are there, and are waited for where results are used.
// RUN: cgx-opt %s --split-input-file --cgx-overlap-collectives=group-bytes=0 | FileCheck %s
// RUN: cgx-opt %s --split-input-file --cgx-overlap-collectives=group-bytes=64 | FileCheck %s --check-prefix=GROUPS

#g = #cgx.groups<[[0, 1]]>
#other = #cgx.layer<"", other>

// The order of the gradients, not that of the reductions; and what needs an early one does not wait for a late one.
// CHECK-LABEL: @backward
// CHECK: %[[G2:.*]] = stablehlo.cosine
// CHECK-NEXT: %[[H2:.*]] = cgx.start all_reduce mean(%[[G2]]) {{.*}}id(1)
// CHECK-SAME: : tensor<8xf32>
// CHECK-NEXT: %[[G1:.*]] = stablehlo.sine
// CHECK-NEXT: %[[H1:.*]] = cgx.start all_reduce mean(%[[G1]]) {{.*}}id(0)
// CHECK-NEXT: %[[LOSS:.*]] = stablehlo.negate
// CHECK-NEXT: %[[R2:.*]] = cgx.wait %[[H2]] : !cgx.handle<tensor<8xf32>>
// CHECK-NEXT: %[[U2:.*]] = stablehlo.subtract %arg1, %[[R2]]
// CHECK-NEXT: %[[R1:.*]] = cgx.wait %[[H1]]
// CHECK-NEXT: %[[U1:.*]] = stablehlo.subtract %arg0, %[[R1]]
// CHECK-NEXT: return %[[U1]], %[[U2]], %[[LOSS]]
// Together they start when the last is there.
// GROUPS-LABEL: @backward
// GROUPS: stablehlo.sine
// GROUPS-NEXT: cgx.start all_reduce mean(%{{[^,)]*}}, %{{[^,)]*}}) origins(0, 0, 1, 0) {{.*}}id(0)
// GROUPS-NEXT: stablehlo.negate
// GROUPS-NEXT: %[[R:.*]]:2 = cgx.wait
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

// A chain has nothing to overlap with, and a group of one sends nothing.
// CHECK-LABEL: @nothing_to_overlap
// CHECK-NOT: cgx.start
// CHECK: return
func.func @nothing_to_overlap(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = stablehlo.sine %x : tensor<8xf32>
  %b = cgx.all_reduce sum(%a) groups(#g) id(0) layer(#other) : tensor<8xf32>
  %c = stablehlo.sine %b : tensor<8xf32>
  %d = cgx.all_reduce sum(%c) groups([[0], [1]]) id(1) layer(#other) : tensor<8xf32>
  %e = stablehlo.sine %d : tensor<8xf32>
  return %e : tensor<8xf32>
}

// -----

#g = #cgx.groups<[[0, 1]]>
#other = #cgx.layer<"", other>

// One that takes another's result stands where it stood; the other is waited for before it. Every kind can be
// started, in the body of a loop too.
// CHECK-LABEL: @kinds
// CHECK-NEXT: cgx.start broadcast(%arg0)
// CHECK-NEXT: cgx.start all_to_all(%arg0)
// CHECK: stablehlo.while
// CHECK: cgx.start reduce_scatter sum(
// CHECK-NEXT: stablehlo.sine
// CHECK-NEXT: %[[S:.*]] = cgx.wait
// CHECK-NEXT: cgx.all_gather(%[[S]])
// CHECK: cgx.start permute(
// CHECK-NEXT: stablehlo.sine
// CHECK-COUNT-3: cgx.wait
func.func @kinds(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n:2 = stablehlo.while(%i = %one, %y = %x) : tensor<i32>, tensor<8xf32>
    cond {
      %c = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %s = cgx.reduce_scatter sum(%y) dim(0) groups(#g) id(0) layer(#other) : (tensor<8xf32>) -> tensor<4xf32>
      %a = cgx.all_gather(%s) dim(0) groups(#g) id(1) layer(#other) : (tensor<4xf32>) -> tensor<8xf32>
      %z = stablehlo.sine %y : tensor<8xf32>
      %sum = stablehlo.add %z, %a : tensor<8xf32>
      stablehlo.return %i, %sum : tensor<i32>, tensor<8xf32>
    }
  %b = cgx.broadcast(%x) groups(#g) id(3) layer(#other) root(0) : tensor<8xf32>
  %t = cgx.all_to_all(%x) concat_dim(0) groups(#g) id(4) layer(#other) split_dim(0) : (tensor<8xf32>) -> tensor<8xf32>
  %p = cgx.permute(%n#1) groups(#g) id(2) layer(#other) source_target_pairs([[0, 1]]) : tensor<8xf32>
  %q = stablehlo.sine %x : tensor<8xf32>
  return %p, %b, %t, %q : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

#g = #cgx.groups<[[0, 1]]>
#other = #cgx.layer<"", other>

// A reduction that needs one of a group cannot be in it, and closes it: %late would make it wait for itself.
// GROUPS-LABEL: @group_is_closed
// GROUPS: cgx.start all_reduce sum(%{{[a-z0-9]*}}) {{.*}}id(0)
// GROUPS: cgx.start all_reduce sum(%{{[a-z0-9]*}}) {{.*}}id(2)
// GROUPS: cgx.all_reduce sum(%{{[a-z0-9]*}}) {{.*}}id(1)
func.func @group_is_closed(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = cgx.all_reduce sum(%x) groups(#g) id(0) layer(#other) : tensor<4xf32>
  %0 = stablehlo.sine %x : tensor<4xf32>
  %1 = stablehlo.add %a, %0 : tensor<4xf32>
  %b = cgx.all_reduce sum(%1) groups(#g) id(1) layer(#other) : tensor<4xf32>
  %late = stablehlo.cosine %0 : tensor<4xf32>
  %c = cgx.all_reduce sum(%late) groups(#g) id(2) layer(#other) : tensor<4xf32>
  %2 = stablehlo.sine %late : tensor<4xf32>
  %3 = stablehlo.add %b, %2 : tensor<4xf32>
  return %a, %3, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
