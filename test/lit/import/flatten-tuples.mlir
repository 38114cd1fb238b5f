// Tuples become their elements wherever they are taken, given or carried.
// RUN: cgx-opt %s --cgx-flatten-tuples | FileCheck %s

// CHECK-LABEL: func.func public @main
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32> {jax.buffer_donor = true}, %[[B:.*]]: tensor<4xf32>, %[[C:.*]]: tensor<i32>) -> (tensor<4xf32>, tensor<i32>, tensor<4xf32>)
// CHECK: %[[CALL:.*]]:2 = call @swap(%[[A]], %[[B]])
// CHECK: return %[[CALL]]#0, %[[C]], %[[CALL]]#1
func.func public @main(%a: tensor<4xf32> {jax.buffer_donor = true}, %t: tuple<tensor<4xf32>, tensor<i32>>) -> (tuple<tensor<4xf32>, tensor<i32>>, tensor<4xf32>) {
  %b = stablehlo.get_tuple_element %t[0] : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<4xf32>
  %c = stablehlo.get_tuple_element %t[1] : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<i32>
  %pair = stablehlo.tuple %a, %b : tuple<tensor<4xf32>, tensor<4xf32>>
  %swapped = func.call @swap(%pair) : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %x = stablehlo.get_tuple_element %swapped[0] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %y = stablehlo.get_tuple_element %swapped[1] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %r = stablehlo.tuple %x, %c : tuple<tensor<4xf32>, tensor<i32>>
  return %r, %y : tuple<tensor<4xf32>, tensor<i32>>, tensor<4xf32>
}

// CHECK-LABEL: func.func private @swap
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: return %[[Y]], %[[X]]
func.func private @swap(%t: tuple<tensor<4xf32>, tensor<4xf32>>) -> tuple<tensor<4xf32>, tensor<4xf32>> {
  %x = stablehlo.get_tuple_element %t[0] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %y = stablehlo.get_tuple_element %t[1] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %r = stablehlo.tuple %y, %x : tuple<tensor<4xf32>, tensor<4xf32>>
  return %r : tuple<tensor<4xf32>, tensor<4xf32>>
}

// A loop that HLO would write: its state is one tuple, nested.
// CHECK-LABEL: func.func @loop
// CHECK: %[[W:.*]]:3 = stablehlo.while(%[[I:.*]] = %arg0, %[[P:.*]] = %arg1, %[[Q:.*]] = %arg1) : tensor<i32>, tensor<f32>, tensor<f32>
// CHECK: stablehlo.compare LT, %[[I]], %{{.*}}
// CHECK: stablehlo.return %{{.*}}, %[[Q]], %[[P]] : tensor<i32>, tensor<f32>, tensor<f32>
// CHECK: return %[[W]]#2
func.func @loop(%i: tensor<i32>, %v: tensor<f32>) -> tensor<f32> {
  %inner = stablehlo.tuple %v, %v : tuple<tensor<f32>, tensor<f32>>
  %state = stablehlo.tuple %i, %inner : tuple<tensor<i32>, tuple<tensor<f32>, tensor<f32>>>
  %w = "stablehlo.while"(%state) ({
  ^bb0(%s: tuple<tensor<i32>, tuple<tensor<f32>, tensor<f32>>>):
    %k = stablehlo.get_tuple_element %s[0] : (tuple<tensor<i32>, tuple<tensor<f32>, tensor<f32>>>) -> tensor<i32>
    %five = stablehlo.constant dense<5> : tensor<i32>
    %p = stablehlo.compare LT, %k, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%s: tuple<tensor<i32>, tuple<tensor<f32>, tensor<f32>>>):
    %k = stablehlo.get_tuple_element %s[0] : (tuple<tensor<i32>, tuple<tensor<f32>, tensor<f32>>>) -> tensor<i32>
    %next = stablehlo.add %k, %k : tensor<i32>
    %t = stablehlo.get_tuple_element %s[1] : (tuple<tensor<i32>, tuple<tensor<f32>, tensor<f32>>>) -> tuple<tensor<f32>, tensor<f32>>
    %a = stablehlo.get_tuple_element %t[0] : (tuple<tensor<f32>, tensor<f32>>) -> tensor<f32>
    %b = stablehlo.get_tuple_element %t[1] : (tuple<tensor<f32>, tensor<f32>>) -> tensor<f32>
    %u = stablehlo.tuple %b, %a : tuple<tensor<f32>, tensor<f32>>
    %r = stablehlo.tuple %next, %u : tuple<tensor<i32>, tuple<tensor<f32>, tensor<f32>>>
    stablehlo.return %r : tuple<tensor<i32>, tuple<tensor<f32>, tensor<f32>>>
  }) : (tuple<tensor<i32>, tuple<tensor<f32>, tensor<f32>>>) -> tuple<tensor<i32>, tuple<tensor<f32>, tensor<f32>>>
  %t = stablehlo.get_tuple_element %w[1] : (tuple<tensor<i32>, tuple<tensor<f32>, tensor<f32>>>) -> tuple<tensor<f32>, tensor<f32>>
  %r = stablehlo.get_tuple_element %t[1] : (tuple<tensor<f32>, tensor<f32>>) -> tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: func.func @custom_call
// CHECK: %[[R:.*]]:2 = stablehlo.custom_call @f(%arg0, %arg0) : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<i32>)
// CHECK: return %[[R]]#1
func.func @custom_call(%v: tensor<f32>) -> tensor<i32> {
  %t = stablehlo.tuple %v, %v : tuple<tensor<f32>, tensor<f32>>
  %r = stablehlo.custom_call @f(%t) : (tuple<tensor<f32>, tensor<f32>>) -> tuple<tensor<f32>, tensor<i32>>
  %i = stablehlo.get_tuple_element %r[1] : (tuple<tensor<f32>, tensor<i32>>) -> tensor<i32>
  return %i : tensor<i32>
}
