// Reductions of values that all ranks of the groups already hold.
// RUN: cgx-opt %s --cgx-fold-replicated --split-input-file | FileCheck %s

#g = #cgx.groups<[[0, 1, 2, 3]]>
#x = #cgx.layer<"", other>
// Removed reductions are listed for the report, with the reason.
// CHECK: module attributes {cgx.folded = [{kind = "other", layer = "", operation = "all_reduce", reason = "computed from the result of all_reduce with id 0"}, {{.*}}reason = "computed from constants alone"}
module attributes {cgx.mesh = #cgx.mesh<["data" = 4]>, cgx.num_ranks = 4 : i64} {

// JAX writes this with check_vma=True: the backward pass reduced already.
// CHECK-LABEL: func @sum_of_sum
func.func @sum_of_sum(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: %[[R:.*]] = cgx.all_reduce sum
  %0 = cgx.all_reduce sum(%a) groups(#g) id(0) layer(#x) : tensor<8xf32>
  // CHECK-NEXT: %[[N:.*]] = stablehlo.constant dense<4.000000e+00> : tensor<8xf32>
  // CHECK-NEXT: %[[P:.*]] = stablehlo.multiply %[[R]], %[[N]] : tensor<8xf32>
  // CHECK-NEXT: return %[[P]]
  %1 = cgx.all_reduce sum(%0) groups(#g) id(1) layer(#x) : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// The result of a permute differs from rank to rank: a rank that is no target gets zeros.
// CHECK-LABEL: func @of_permuted
func.func @of_permuted(%r: tensor<8xf32> {cgx.sharding = #cgx.sharding<[[]]>}) -> tensor<8xf32> {
  // CHECK: cgx.permute
  // CHECK: cgx.all_reduce sum
  %0 = cgx.permute(%r) groups(#g) id(0) layer(#x) source_target_pairs([[0, 1], [1, 2]]) : tensor<8xf32>
  %1 = cgx.all_reduce sum(%0) groups(#g) id(1) layer(#x) : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Also with ops in between, and once more: what was folded is replicated as well.
// CHECK-LABEL: func @through_computation
func.func @through_computation(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: cgx.all_reduce sum
  // CHECK-NOT: cgx.all_reduce
  %0 = cgx.all_reduce sum(%a) groups(#g) id(0) layer(#x) : tensor<8xf32>
  %c = stablehlo.constant dense<3.0> : tensor<8xf32>
  %1 = stablehlo.add %0, %c : tensor<8xf32>
  %2 = cgx.all_reduce sum(%1) groups(#g) id(1) layer(#x) : tensor<8xf32>
  %3 = cgx.all_reduce sum(%2) groups(#g) id(2) layer(#x) : tensor<8xf32>
  return %3 : tensor<8xf32>
}

// No argument is, whatever its sharding says: ranks may begin with different values, and this is what brings them
// together.
// CHECK-LABEL: func @not_of_arguments
func.func @not_of_arguments(%a: tensor<8xf32>, %r: tensor<8xf32> {cgx.sharding = #cgx.sharding<[[]]>},
                            %s: tensor<8xf32> {cgx.sharding = #cgx.sharding<[["data"]]>})
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.add %a, %r : tensor<8xf32>
  // CHECK: cgx.all_reduce sum
  %1 = cgx.all_reduce sum(%0) groups(#g) id(0) layer(#x) : tensor<8xf32>
  // CHECK: cgx.all_reduce mean
  %2 = cgx.all_reduce mean(%s) groups(#g) id(1) layer(#x) : tensor<8xf32>
  // CHECK: cgx.all_reduce max
  %3 = cgx.all_reduce max(%r) groups(#g) id(2) layer(#x) : tensor<8xf32>
  return %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// State that the step gives all ranks alike differs as long as nothing was averaged: in the first step.
// CHECK-LABEL: func @averaged_state
func.func @averaged_state(%w: tensor<8xf32> {cgx.sharding = #cgx.sharding<[[]]>},
                          %x: tensor<8xf32> {cgx.sharding = #cgx.sharding<[["data"]]>})
    -> (tensor<8xf32> {cgx.feeds = 0 : i64, cgx.sharding = #cgx.sharding<[[]]>}) {
  // CHECK-COUNT-2: cgx.all_reduce mean
  %0 = cgx.all_reduce mean(%w) groups(#g) id(0) layer("w", weight) : tensor<8xf32>
  %1 = cgx.all_reduce mean(%x) groups(#g) id(1) layer("w", gradient) : tensor<8xf32>
  %2 = stablehlo.subtract %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// CHECK-LABEL: func @of_constants
func.func @of_constants() -> tensor<f32> {
  // CHECK-NOT: cgx.all_reduce
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = cgx.all_reduce sum(%c) groups(#g) id(0) layer(#x) : tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func @each_reduction
func.func @each_reduction(%r_of_rank: tensor<8xf32>, %i_of_rank: tensor<8xi32>, %b_of_rank: tensor<8xi1>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xi32>, tensor<8xi1>) {
  // CHECK: %[[R:.*]]:3 = cgx.broadcast
  %r, %i, %b = cgx.broadcast(%r_of_rank, %i_of_rank, %b_of_rank) groups(#g) id(7) layer(#x) layer(#x) layer(#x) root(0)
      : tensor<8xf32>, tensor<8xi32>, tensor<8xi1>
  %0 = cgx.all_reduce mean(%r) groups(#g) id(0) layer(#x) : tensor<8xf32>
  %1 = cgx.all_reduce max(%r) groups(#g) id(1) layer(#x) : tensor<8xf32>
  %2 = cgx.all_reduce min(%r) groups(#g) id(2) layer(#x) : tensor<8xf32>
  // A power, and a sum of booleans, stay.
  // CHECK: %[[P:.*]] = cgx.all_reduce product
  %3 = cgx.all_reduce product(%r) groups(#g) id(3) layer(#x) : tensor<8xf32>
  %4 = cgx.broadcast(%r) groups(#g) id(4) layer(#x) root(0) : tensor<8xf32>
  // CHECK: %[[C:.*]] = stablehlo.constant dense<4> : tensor<8xi32>
  // CHECK: %[[I:.*]] = stablehlo.multiply %{{.*}}, %[[C]] : tensor<8xi32>
  %5 = cgx.all_reduce sum(%i) groups(#g) id(5) layer(#x) : tensor<8xi32>
  // CHECK: %[[B:.*]] = cgx.all_reduce sum
  %6 = cgx.all_reduce sum(%b) groups(#g) id(6) layer(#x) : tensor<8xi1>
  // CHECK: return %[[R]]#0, %[[R]]#0, %[[R]]#0, %[[P]], %[[R]]#0, %[[I]], %[[B]]
  return %0, %1, %2, %3, %4, %5, %6
      : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xi32>, tensor<8xi1>
}

// The operands that stay keep their codecs, layers and reasons.
// CHECK-LABEL: func @some_operands
// CHECK-SAME: (%[[A:[a-z0-9]+]]: tensor<8xf32>
func.func @some_operands(%a: tensor<8xf32>, %r_of_rank: tensor<4xf32>, %b: tensor<2xf32>)
    -> (tensor<8xf32>, tensor<4xf32>, tensor<2xf32>) {
  // CHECK: %[[R:.*]] = cgx.broadcast
  %r = cgx.broadcast(%r_of_rank) groups(#g) id(1) layer(#x) root(0) : tensor<4xf32>
  // CHECK: %[[M:.*]]:2 = cgx.all_reduce mean(%[[A]], %{{[^,)]*}})
  // CHECK-SAME: exact_reasons("", "kind other")
  // CHECK-SAME: codec(quantize<{{.*}}>, identity)
  // CHECK-SAME: layer("a", gradient) layer("b", other)
  // CHECK-SAME: : tensor<8xf32>, tensor<2xf32>
  %0:3 = cgx.all_reduce mean(%a, %r, %b) exact_reasons("", "", "kind other") codec(quantize, identity, identity)
      groups(#g) id(0) layer("a", gradient) layer("r", gradient) layer("b", other)
      : tensor<8xf32>, tensor<4xf32>, tensor<2xf32>
  // CHECK: return %[[M]]#0, %[[R]], %[[M]]#1
  return %0#0, %0#1, %0#2 : tensor<8xf32>, tensor<4xf32>, tensor<2xf32>
}

// The number of the rank is computed from nothing, and is another on each.
// CHECK-LABEL: func @partition_id
func.func @partition_id() -> tensor<ui32> {
  // CHECK: stablehlo.partition_id
  // CHECK: cgx.all_reduce max
  %0 = stablehlo.partition_id : tensor<ui32>
  %1 = cgx.all_reduce max(%0) groups(#g) id(0) layer(#x) : tensor<ui32>
  return %1 : tensor<ui32>
}

// Regions: what they use from outside counts.
// CHECK-LABEL: func @region_uses_rank_data
func.func @region_uses_rank_data(%a: tensor<f32>, %p_of_rank: tensor<i32>) -> tensor<f32> {
  %p = cgx.broadcast(%p_of_rank) groups(#g) id(1) layer(#x) root(0) : tensor<i32>
  %0 = "stablehlo.case"(%p) ({
    stablehlo.return %a : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  // CHECK: cgx.all_reduce mean
  %1 = cgx.all_reduce mean(%0) groups(#g) id(0) layer(#x) : tensor<f32>
  return %1 : tensor<f32>
}

// The result of a branch depends on the condition, also where the results of both sides are replicated.
// CHECK-LABEL: func @branch_of_rank_data
func.func @branch_of_rank_data(%p: tensor<i1>, %q: i1, %a_of_rank: tensor<f32>, %b_of_rank: tensor<f32>)
    -> (tensor<f32>, tensor<f32>) {
  %a, %b = cgx.broadcast(%a_of_rank, %b_of_rank) groups(#g) id(2) layer(#x) layer(#x) root(0) : tensor<f32>, tensor<f32>
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<f32>
  }, {
    stablehlo.return %b : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  %1 = scf.if %q -> tensor<f32> {
    scf.yield %a : tensor<f32>
  } else {
    scf.yield %b : tensor<f32>
  }
  // CHECK: cgx.all_reduce mean
  // CHECK: cgx.all_reduce mean
  %2 = cgx.all_reduce mean(%0) groups(#g) id(0) layer(#x) : tensor<f32>
  %3 = cgx.all_reduce mean(%1) groups(#g) id(1) layer(#x) : tensor<f32>
  return %2, %3 : tensor<f32>, tensor<f32>
}

// A carried value is replicated if all incoming values are, and so is the result if the condition is; a value that the loop does
// not change always is.
// CHECK-LABEL: func @loop
func.func @loop(%a_of_rank: tensor<f32>, %n: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %a = cgx.broadcast(%a_of_rank) groups(#g) id(4) layer(#x) root(0) : tensor<f32>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%i = %c0, %x = %a, %y = %a) : tensor<i32>, tensor<f32>, tensor<f32>
   cond {
    %c9 = stablehlo.constant dense<9> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %c9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %c1 : tensor<i32>
    %2 = stablehlo.multiply %x, %x : tensor<f32>
    %3 = stablehlo.multiply %y, %n : tensor<f32>
    stablehlo.return %1, %2, %3 : tensor<i32>, tensor<f32>, tensor<f32>
  }
  %1:3 = stablehlo.while(%z = %n, %x = %a, %y = %a) : tensor<f32>, tensor<f32>, tensor<f32>
   cond {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %2 = stablehlo.compare LT, %z, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %2 = stablehlo.multiply %x, %x : tensor<f32>
    %3 = stablehlo.add %z, %z : tensor<f32>
    stablehlo.return %3, %2, %y : tensor<f32>, tensor<f32>, tensor<f32>
  }
  // CHECK: %[[LOOP:.*]]:3 = stablehlo.while
  // CHECK: %[[OTHER:.*]]:3 = stablehlo.while
  // CHECK-NOT: cgx.all_reduce
  %2 = cgx.all_reduce mean(%0#1) groups(#g) id(0) layer(#x) : tensor<f32>
  // CHECK: %[[Y:.*]] = cgx.all_reduce mean(%[[LOOP]]#2)
  %3 = cgx.all_reduce mean(%0#2) groups(#g) id(1) layer(#x) : tensor<f32>
  // CHECK-NEXT: %[[X:.*]] = cgx.all_reduce mean(%[[OTHER]]#1)
  %4 = cgx.all_reduce mean(%1#1) groups(#g) id(2) layer(#x) : tensor<f32>
  %5 = cgx.all_reduce mean(%1#2) groups(#g) id(3) layer(#x) : tensor<f32>
  %6 = stablehlo.add %3, %4 : tensor<f32>
  // CHECK: return %[[LOOP]]#1, %{{.*}}, %[[OTHER]]#2
  return %2, %6, %5 : tensor<f32>, tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func @region_of_replicated
func.func @region_of_replicated(%a_of_rank: tensor<f32>, %p_of_rank: tensor<i32>) -> tensor<f32> {
  %a, %p = cgx.broadcast(%a_of_rank, %p_of_rank) groups(#g) id(1) layer(#x) layer(#x) root(0) : tensor<f32>, tensor<i32>
  %0 = "stablehlo.case"(%p) ({
    stablehlo.return %a : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  // CHECK-NOT: cgx.all_reduce
  %1 = cgx.all_reduce mean(%0) groups(#g) id(0) layer(#x) : tensor<f32>
  return %1 : tensor<f32>
}
}

// -----

// Two axes: what is reduced along one still differs along the other.
#data = #cgx.groups<[[0, 2], [1, 3]]>
#model = #cgx.groups<[[0, 1], [2, 3]]>
#all = #cgx.groups<[[0, 1, 2, 3]]>
#irregular = #cgx.groups<[[0, 3], [1, 2]]>
#reversed = #cgx.groups<[[2, 0], [3, 1]]>
#half_reversed = #cgx.groups<[[2, 0], [1, 3]]>
#x = #cgx.layer<"", other>
module attributes {cgx.mesh = #cgx.mesh<["data" = 2, "model" = 2, "unit" = 1]>, cgx.num_ranks = 4 : i64} {

// CHECK-LABEL: func @other_axis
func.func @other_axis(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[D:.*]] = cgx.all_reduce sum
  %0 = cgx.all_reduce sum(%a) groups(#data) id(0) layer(#x) : tensor<8xf32>
  // CHECK: %[[M:.*]] = cgx.all_reduce mean(%[[D]])
  %1 = cgx.all_reduce mean(%0) groups(#model) id(1) layer(#x) : tensor<8xf32>
  // CHECK: %[[R:.*]] = cgx.all_reduce mean(%[[D]])
  %2 = cgx.all_reduce mean(%0) groups(#irregular) id(2) layer(#x) : tensor<8xf32>
  %3 = cgx.all_reduce mean(%0) groups(#data) id(3) layer(#x) : tensor<8xf32>
  // After both axes, all ranks hold the same.
  %4 = cgx.all_reduce mean(%1) groups(#all) id(4) layer(#x) : tensor<8xf32>
  // CHECK: return %[[M]], %[[R]], %[[D]], %[[M]]
  return %1, %2, %3, %4 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Random numbers of codecs are keyed by the position in the group: what is equal along `model` gives results that
// are, too, with whatever codec.
// CHECK-LABEL: func @lossy
func.func @lossy(%r_of_rank: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %r = cgx.broadcast(%r_of_rank) groups(#model) id(4) layer(#x) root(0) : tensor<8xf32>
  // CHECK: cgx.all_reduce sum
  // CHECK: cgx.all_reduce sum
  // CHECK-NOT: cgx.all_reduce
  %0 = cgx.all_reduce sum(%r) codec(quantize) groups(#data) id(0) layer(#x) : tensor<8xf32>
  %1 = cgx.all_reduce mean(%0) groups(#model) id(1) layer(#x) : tensor<8xf32>
  %2 = cgx.all_reduce sum(%r) groups(#data) id(2) layer(#x) : tensor<8xf32>
  %3 = cgx.all_reduce mean(%2) groups(#model) id(3) layer(#x) : tensor<8xf32>
  return %1, %3 : tensor<8xf32>, tensor<8xf32>
}

// Slices differ along the axes that they were cut over, and only along those.
// CHECK-LABEL: func @slices
func.func @slices(%r_of_rank: tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %r = cgx.broadcast(%r_of_rank) groups(#all) id(3) layer(#x) root(0) : tensor<8xf32>
  // CHECK: %[[S:.*]] = cgx.reduce_scatter
  %0 = cgx.reduce_scatter sum(%r) dim(0) groups(#data) id(0) layer(#x) : (tensor<8xf32>) -> tensor<4xf32>
  // CHECK: %[[M:.*]] = cgx.all_reduce mean(%[[S]])
  %1 = cgx.all_reduce mean(%0) groups(#data) id(1) layer(#x) : tensor<4xf32>
  %2 = cgx.all_reduce mean(%0) groups(#model) id(2) layer(#x) : tensor<4xf32>
  // CHECK: return %[[M]], %[[S]]
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// The ranks of a group hold the same, in whatever order they stand. Between groups, the order of the additions
// counts: if it is another one, so may be the last bits.
// CHECK-LABEL: func @reversed_groups
func.func @reversed_groups(%r: tensor<8xf32>, %s_of_rank: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %s = cgx.broadcast(%s_of_rank) groups(#model) id(6) layer(#x) root(0) : tensor<8xf32>
  // CHECK: %[[A:.*]] = cgx.all_reduce sum
  // CHECK-NEXT: %[[B:.*]] = cgx.all_reduce sum
  // CHECK-NEXT: %[[C:.*]] = cgx.all_reduce sum
  // CHECK-NEXT: %[[D:.*]] = cgx.all_reduce mean(%[[C]])
  // CHECK-NEXT: return %[[A]], %[[B]], %[[D]]
  %0 = cgx.all_reduce sum(%r) groups(#reversed) id(0) layer(#x) : tensor<8xf32>
  %1 = cgx.all_reduce mean(%0) groups(#data) id(1) layer(#x) : tensor<8xf32>
  %2 = cgx.all_reduce sum(%s) groups(#reversed) id(2) layer(#x) : tensor<8xf32>
  %3 = cgx.all_reduce mean(%2) groups(#model) id(3) layer(#x) : tensor<8xf32>
  %4 = cgx.all_reduce sum(%s) groups(#half_reversed) id(4) layer(#x) : tensor<8xf32>
  %5 = cgx.all_reduce mean(%4) groups(#model) id(5) layer(#x) : tensor<8xf32>
  return %1, %3, %5 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
}

// -----

// A mesh of more axes than a set of them holds: nothing is known to be replicated, least of all along the last one.
#both = #cgx.groups<[[0, 1]]>
module attributes {cgx.mesh = #cgx.mesh<["a0" = 1, "a1" = 1, "a2" = 1, "a3" = 1, "a4" = 1, "a5" = 1, "a6" = 1, "a7" = 1, "a8" = 1, "a9" = 1, "a10" = 1, "a11" = 1, "a12" = 1, "a13" = 1, "a14" = 1, "a15" = 1, "a16" = 1, "a17" = 1, "a18" = 1, "a19" = 1, "a20" = 1, "a21" = 1, "a22" = 1, "a23" = 1, "a24" = 1, "a25" = 1, "a26" = 1, "a27" = 1, "a28" = 1, "a29" = 1, "a30" = 1, "a31" = 1, "a32" = 1, "a33" = 1, "a34" = 1, "a35" = 1, "a36" = 1, "a37" = 1, "a38" = 1, "a39" = 1, "a40" = 1, "a41" = 1, "a42" = 1, "a43" = 1, "a44" = 1, "a45" = 1, "a46" = 1, "a47" = 1, "a48" = 1, "a49" = 1, "a50" = 1, "a51" = 1, "a52" = 1, "a53" = 1, "a54" = 1, "a55" = 1, "a56" = 1, "a57" = 1, "a58" = 1, "a59" = 1, "a60" = 1, "a61" = 1, "a62" = 1, "a63" = 1, "data" = 2]>, cgx.num_ranks = 2 : i64} {
// CHECK-LABEL: @many_axes
// CHECK: cgx.all_reduce
func.func @many_axes(%x: tensor<8xf32> {cgx.sharding = #cgx.sharding<[["data"]]>}) -> tensor<8xf32> {
  %0 = cgx.all_reduce mean(%x) groups(#both) id(0) layer("w", gradient) : tensor<8xf32>
  return %0 : tensor<8xf32>
}
}
