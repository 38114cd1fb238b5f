// Calls of the host whose results nobody uses go, with the tokens that order them; what a result needs stays.
// RUN: cgx-opt %s --cgx-drop-callbacks 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=WARNING < %t

// WARNING: warning: native code does without calls of the host whose results the step does not use: @print (2), @log (1)
// WARNING-NOT: warning

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[W:.+]]: tensor<4xf32>, %[[X:.+]]: tensor<4xf32>)
// CHECK-SAME:    -> (tensor<4xf32> {cgx.feeds = 0 : i64}, tensor<4xf32>)
func.func @main(%t: !stablehlo.token {jax.token = true}, %w: tensor<4xf32>, %x: tensor<4xf32>)
    -> (!stablehlo.token {jax.token = true}, tensor<4xf32> {cgx.feeds = 1 : i64}, tensor<4xf32>) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  // CHECK-NOT: token
  %u = stablehlo.custom_call @print(%t, %x) {has_side_effect = true} : (!stablehlo.token, tensor<4xf32>) -> !stablehlo.token
  // CHECK: stablehlo.while(%{{.+}} = %{{.+}}, %{{.+}} = %[[W]]) : tensor<i32>, tensor<4xf32>
  %0:3 = stablehlo.while(%i = %c, %v = %u, %y = %w) : tensor<i32>, !stablehlo.token, tensor<4xf32>
  cond {
    %limit = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.custom_call @log(%y) {has_side_effect = true} : (tensor<4xf32>) -> ()
    %z = stablehlo.custom_call @print(%v, %y) {has_side_effect = true} : (!stablehlo.token, tensor<4xf32>) -> !stablehlo.token
    stablehlo.return %j, %z, %y : tensor<i32>, !stablehlo.token, tensor<4xf32>
  }
  // CHECK: %[[USED:.+]] = stablehlo.custom_call @used(%[[X]])
  %used = stablehlo.custom_call @used(%x) {has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: return %{{.+}}, %[[USED]] : tensor<4xf32>, tensor<4xf32>
  return %0#1, %0#2, %used : !stablehlo.token, tensor<4xf32>, tensor<4xf32>
}
