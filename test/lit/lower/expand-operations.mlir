// Fewer kinds of operations, with the same values.
// RUN: cgx-opt %s --split-input-file --cgx-expand-operations | FileCheck %s

// Narrow floats are normalized in f32.
// CHECK-LABEL: @batch_norm_inference
// CHECK-DAG: stablehlo.convert %arg0 : (tensor<2x3x4xbf16>) -> tensor<2x3x4xf32>
// CHECK-DAG: stablehlo.broadcast_in_dim {{.*}}, dims = [1] : (tensor<3xf32>) -> tensor<2x3x4xf32>
// CHECK-DAG: stablehlo.sqrt {{.*}} : tensor<3xf32>
// CHECK: stablehlo.convert {{.*}} -> tensor<2x3x4xbf16>
func.func @batch_norm_inference(%x: tensor<2x3x4xbf16>, %p: tensor<3xbf16>) -> tensor<2x3x4xbf16> {
  %0 = "stablehlo.batch_norm_inference"(%x, %p, %p, %p, %p) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3x4xbf16>, tensor<3xbf16>, tensor<3xbf16>, tensor<3xbf16>, tensor<3xbf16>) -> tensor<2x3x4xbf16>
  return %0 : tensor<2x3x4xbf16>
}

// -----

// CHECK-LABEL: @calls
// CHECK-NOT: custom_call
// CHECK: chlo.top_k(%arg0, k = 2)
// CHECK: "stablehlo.sort"(%arg0, %{{.*}}) <{dimension = 0 : i64, is_stable = true}>
// CHECK: stablehlo.compare GT
// CHECK: stablehlo.slice {{.*}} [0:2]
func.func @calls(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<2xf32>, tensor<2xf32>) {
  %true = stablehlo.constant dense<true> : tensor<i1>
  stablehlo.custom_call @shape_assertion(%true) {error_message = "never"} : (tensor<i1>) -> ()
  %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{replicated}"} : (tensor<8xf32>) -> tensor<8xf32>
  %1:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = true}} : (tensor<8xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  %i = stablehlo.iota dim = 0 : tensor<8xi32>
  %v = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %n = stablehlo.constant dense<-1> : tensor<i32>
  %2:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %v, %n) {called_computations = [@greater], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.95 : f32, reduction_dim = 0 : i64, reduction_input_size_override = -1 : i64, top_k = 2 : i64}} : (tensor<8xf32>, tensor<8xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
  return %0, %1#0, %2#0 : tensor<8xf32>, tensor<2xf32>, tensor<2xf32>
}
func.func private @greater(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}

// An assertion that may fail is not dropped.
// CHECK-LABEL: @assertion
// CHECK: stablehlo.custom_call @shape_assertion
func.func @assertion(%p: tensor<i1>) {
  stablehlo.custom_call @shape_assertion(%p) {error_message = "perhaps"} : (tensor<i1>) -> ()
  return
}
