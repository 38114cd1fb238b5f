// Operands are numbered as they were before collectives were merged: random numbers do not depend on what
// travels together, nor on whether it is started early.
// RUN: cgx-opt %s --cgx-emit-manifest | FileCheck %s

// CHECK: cgx_rt.manifest = "
// CHECK-SAME: \22id\22:0
// CHECK-SAME: \22layer\22:\22c\22,\22layer_id\22:2
// CHECK-SAME: \22layer\22:\22a\22,\22layer_id\22:0
// CHECK-SAME: \22id\22:1
// CHECK-SAME: \22layer\22:\22b\22,\22layer_id\22:1
#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.num_ranks = 2 : i64} {
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %h = cgx.start all_reduce sum(%c, %a) origins(2, 0, 0, 0) groups(#g) id(0) layer("c", gradient) layer("a", gradient)
      : tensor<4xf32>, tensor<4xf32>
  %rb = cgx.all_reduce sum(%b) groups(#g) id(1) layer("b", gradient) : tensor<4xf32>
  %r:2 = cgx.wait %h : !cgx.handle<tensor<4xf32>, tensor<4xf32>>
  return %r#1, %rb, %r#0 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
}
