// Independent all-reduces of one kind travel together; the rest stays apart.
// RUN: cgx-opt %s --cgx-group-collectives | FileCheck %s
// RUN: cgx-opt %s --cgx-group-collectives=group-bytes=0 | FileCheck %s --check-prefix=ALONE

#g = #cgx.groups<[[0, 1]]>
#h = #cgx.groups<[[1, 0]]>
#other = #cgx.layer<"", other>

// CHECK-LABEL: @independent
// CHECK: %[[R:.*]]:2 = cgx.all_reduce sum(%{{.*}}, %{{.*}}) {exact_reasons = ["", "1-D parameter"], {{.*}}id = 3 : i64
// CHECK: stablehlo.add %[[R]]#0, %[[R]]#0
// CHECK: return %{{.*}}, %[[R]]#1
// ALONE-LABEL: @independent
// ALONE-COUNT-2: cgx.all_reduce
func.func @independent(%a: tensor<8xf32>, %b: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %0 = cgx.all_reduce sum(%a) {id = 3 : i64, groups = #g, codecs = [#cgx.identity], layers = [#other]} : tensor<8xf32>
  %1 = stablehlo.add %0, %0 : tensor<8xf32>
  %2 = cgx.all_reduce sum(%b) {id = 4 : i64, groups = #g, codecs = [#cgx.identity], layers = [#other],
      exact_reasons = ["1-D parameter"]} : tensor<4xf32>
  return %1, %2 : tensor<8xf32>, tensor<4xf32>
}

// CHECK-LABEL: @dependent
// CHECK-COUNT-2: cgx.all_reduce
// CHECK: return
func.func @dependent(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = cgx.all_reduce sum(%a) {id = 5 : i64, groups = #g, codecs = [#cgx.identity], layers = [#other]} : tensor<8xf32>
  %1 = stablehlo.sqrt %0 : tensor<8xf32>
  %2 = cgx.all_reduce sum(%1) {id = 6 : i64, groups = #g, codecs = [#cgx.identity], layers = [#other]} : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// CHECK-LABEL: @other_groups_and_reductions
// CHECK-COUNT-3: cgx.all_reduce
// CHECK: return
func.func @other_groups_and_reductions(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = cgx.all_reduce sum(%a) {id = 7 : i64, groups = #g, codecs = [#cgx.identity], layers = [#other]} : tensor<8xf32>
  %1 = cgx.all_reduce max(%a) {id = 8 : i64, groups = #g, codecs = [#cgx.identity], layers = [#other]} : tensor<8xf32>
  %2 = cgx.all_reduce sum(%a) {id = 9 : i64, groups = #h, codecs = [#cgx.identity], layers = [#other]} : tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
