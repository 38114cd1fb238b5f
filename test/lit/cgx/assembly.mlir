// Clauses stand in any order, and an attribute or its alias may stand in one. What is left out is the usual.
// RUN: cgx-opt %s --verify-roundtrip | FileCheck %s
// RUN: cgx-opt %s --mlir-print-op-generic | cgx-opt | FileCheck %s

#g = #cgx.groups<[[0, 1]]>
#q = #cgx.quantize<bits = 2, bucket = 64, rounding = nearest, scale = f32>
#w = #cgx.layer<"w", gradient>

// CHECK-LABEL: @left_out
// CHECK: cgx.all_reduce sum(%arg0, %arg0) codec(identity, identity) groups([]) id(0) layer("", other) layer("", other) : tensor<4xf32>, tensor<4xf32>
func.func @left_out(%a: tensor<4xf32>) {
  %0:2 = cgx.all_reduce sum(%a, %a) groups([]) id(0) : tensor<4xf32>, tensor<4xf32>
  return
}

// CHECK-LABEL: @in_any_order
// CHECK: cgx.all_reduce mean(%arg0, %arg0) algorithm(ring) codec(quantize<bits = 2, bucket = 64, rounding = nearest, scale = f32>, sign<{{.*}}>) groups({{\[\[}}0, 1]]) id(0) layer("w", gradient) layer("v", weight, [2, 4], stacked = 1) {note = 7 : i64} : tensor<4xf32>, tensor<4xf32>
func.func @in_any_order(%a: tensor<4xf32>) {
  %0:2 = cgx.all_reduce mean(%a, %a) layer(#w) id(0) layer("v", weight, [2, 4], stacked = 1) groups(#g)
      codec(#q, sign) algorithm(#cgx.algorithm<ring>) {note = 7 : i64} : tensor<4xf32>, tensor<4xf32>
  return
}

// CHECK-LABEL: @hierarchies
// CHECK-COUNT-2: hierarchy(local = 2, inside = #cgx.natural, leaders = one)
func.func @hierarchies(%a: tensor<4xf32>) {
  %0 = cgx.all_reduce sum(%a) algorithm(hierarchical) groups([[0, 1]]) hierarchy(leaders = one, inside = #cgx.natural, local = 2)
      id(0) : tensor<4xf32>
  %1 = cgx.all_reduce sum(%a) algorithm(hierarchical) groups([[0, 1]])
      hierarchy(#cgx.hierarchy<local = 2, inside = #cgx.natural, leaders = one>) id(1) : tensor<4xf32>
  return
}

// CHECK-LABEL: @nobody_sends
// CHECK: cgx.permute(%arg0) codec(identity) groups({{\[\[}}0, 1]]) id(0) layer("", other) source_target_pairs([]) : tensor<4xf32>
func.func @nobody_sends(%a: tensor<4xf32>) {
  %0 = cgx.permute(%a) groups(#g) id(0) source_target_pairs([]) : tensor<4xf32>
  return
}

// CHECK-LABEL: @before_an_op_without_dialect
// CHECK: cgx.bind_optimizer_state parameter(%arg0 : tensor<4xf32>) id(0) operand_number(0){{$}}
// CHECK-NEXT: return
func.func @before_an_op_without_dialect(%a: tensor<4xf32>) {
  cgx.bind_optimizer_state parameter(%a : tensor<4xf32>) operand_number(0) id(0)
  return
}
