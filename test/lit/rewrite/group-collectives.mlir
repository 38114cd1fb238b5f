// Independent all-reduces of one kind travel together; the rest stays apart.
// RUN: cgx-opt %s --cgx-group-collectives | FileCheck %s
// RUN: cgx-opt %s --cgx-group-collectives=group-bytes=0 | FileCheck %s --check-prefix=ALONE

#g = #cgx.groups<[[0, 1]]>
#h = #cgx.groups<[[1, 0]]>
#other = #cgx.layer<"", other>

// CHECK-LABEL: @independent
// CHECK: %[[R:.*]]:2 = cgx.all_reduce sum(%{{[^,)]*}}, %{{[^,)]*}}) exact_reasons("", "1-D parameter") {{.*}}id(3)
// CHECK: stablehlo.add %[[R]]#0, %[[R]]#0
// CHECK: return %{{.*}}, %[[R]]#1
// ALONE-LABEL: @independent
// ALONE-COUNT-2: cgx.all_reduce
func.func @independent(%a: tensor<8xf32>, %b: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %0 = cgx.all_reduce sum(%a) groups(#g) id(3) layer(#other) : tensor<8xf32>
  %1 = stablehlo.add %0, %0 : tensor<8xf32>
  %2 = cgx.all_reduce sum(%b) exact_reasons("1-D parameter") groups(#g) id(4) layer(#other) : tensor<4xf32>
  return %1, %2 : tensor<8xf32>, tensor<4xf32>
}

// CHECK-LABEL: @dependent
// CHECK-COUNT-2: cgx.all_reduce
// CHECK: return
func.func @dependent(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = cgx.all_reduce sum(%a) groups(#g) id(5) layer(#other) : tensor<8xf32>
  %1 = stablehlo.sqrt %0 : tensor<8xf32>
  %2 = cgx.all_reduce sum(%1) groups(#g) id(6) layer(#other) : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// CHECK-LABEL: @other_groups_and_reductions
// CHECK-COUNT-3: cgx.all_reduce
// CHECK: return
func.func @other_groups_and_reductions(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = cgx.all_reduce sum(%a) groups(#g) id(7) layer(#other) : tensor<8xf32>
  %1 = cgx.all_reduce max(%a) groups(#g) id(8) layer(#other) : tensor<8xf32>
  %2 = cgx.all_reduce sum(%a) groups(#h) id(9) layer(#other) : tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
