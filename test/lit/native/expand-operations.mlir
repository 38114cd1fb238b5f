// Fewer kinds of operations, with the same values.
// RUN: cgx-opt %s --split-input-file --cgx-expand-operations | FileCheck %s

// CHECK-LABEL: @dot
// CHECK: stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [HIGHEST, DEFAULT]
// CHECK: stablehlo.dot_general %arg2, %arg2, contracting_dims = [0] x [0]
func.func @dot(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>, %v: tensor<8xf32>) -> (tensor<4x2xf32>, tensor<f32>) {
  %0 = stablehlo.dot %a, %b, precision = [HIGHEST, DEFAULT] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = stablehlo.dot %v, %v : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return %0, %1 : tensor<4x2xf32>, tensor<f32>
}

// -----

// Batches first, then what each operand has alone.
// CHECK-LABEL: @einsum
// CHECK: %[[P:.*]] = stablehlo.dot_general %arg0, %arg1, batching_dims = [1] x [0], contracting_dims = [2] x [2] : {{.*}} -> tensor<3x2x5xf32>
// CHECK: stablehlo.transpose %[[P]], dims = [2, 0, 1]
func.func @einsum(%x: tensor<2x3x4xf32>, %y: tensor<3x5x4xf32>) -> tensor<5x3x2xf32> {
  %0 = stablehlo.einsum %x, %y, config = "abk,bjk->jba" : (tensor<2x3x4xf32>, tensor<3x5x4xf32>) -> tensor<5x3x2xf32>
  return %0 : tensor<5x3x2xf32>
}

// Dimensions of one operand alone are summed first; an ellipsis stands for equal dimensions.
// CHECK-LABEL: @einsum_ellipsis
// CHECK: %[[SUM:.*]] = stablehlo.reduce(%arg0 {{.*}} across dimensions = [2]
// CHECK: stablehlo.dot_general %[[SUM]], %arg1, batching_dims = [0] x [0], contracting_dims = [] x []
func.func @einsum_ellipsis(%x: tensor<2x3x4xf32>, %y: tensor<2x5xf32>) -> tensor<2x3x5xf32> {
  %0 = stablehlo.einsum %x, %y, config = "...ab,...c->...ac" : (tensor<2x3x4xf32>, tensor<2x5xf32>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}

// CHECK-LABEL: @trace
// CHECK: %[[EQUAL:.*]] = stablehlo.compare EQ
// CHECK: %[[DIAGONAL:.*]] = stablehlo.select %[[EQUAL]], %arg0
// CHECK: %[[VECTOR:.*]] = stablehlo.reduce(%[[DIAGONAL]] {{.*}} across dimensions = [1]
// CHECK: stablehlo.reduce(%[[VECTOR]] {{.*}} across dimensions = [0]
func.func @trace(%x: tensor<3x3xf32>) -> tensor<f32> {
  %0 = stablehlo.unary_einsum %x, config = "ii->" : (tensor<3x3xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// Names that the operands have not stay, for the lowering to name the operation.
// CHECK-LABEL: @einsum_unknown
// CHECK: stablehlo.einsum
func.func @einsum_unknown(%x: tensor<2x3xf32>, %y: tensor<3x5xf32>) -> tensor<2x7xf32> {
  %0 = stablehlo.einsum %x, %y, config = "ab,bc->az" : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x7xf32>
  return %0 : tensor<2x7xf32>
}

// -----

// CHECK-LABEL: @torch_index_select
// CHECK: "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>
// CHECK-SAME: slice_sizes = array<i64: 1, 1, 3>
func.func @torch_index_select(%x: tensor<2x8x3xf32>, %i: tensor<2x5xi32>) -> tensor<2x5x3xf32> {
  %0 = "stablehlo.torch_index_select"(%x, %i) <{dim = 1 : i64, batch_dims = 1 : i64}> : (tensor<2x8x3xf32>, tensor<2x5xi32>) -> tensor<2x5x3xf32>
  return %0 : tensor<2x5x3xf32>
}

// -----

// Diagonals of both operands.
// CHECK-LABEL: @einsum_diagonals
// CHECK: %[[X:.*]] = stablehlo.select %{{.*}}, %arg0, %{{.*}} : tensor<3x3x4xi1>, tensor<3x3x4xf32>
// CHECK: %[[A:.*]] = stablehlo.reduce(%[[X]] init: %{{.*}}) applies stablehlo.add across dimensions = [1]
// CHECK: %[[Y:.*]] = stablehlo.select %{{.*}}, %arg1, %{{.*}} : tensor<4x5x5xi1>, tensor<4x5x5xf32>
// CHECK: %[[B:.*]] = stablehlo.reduce(%[[Y]] init: %{{.*}}) applies stablehlo.add across dimensions = [2]
// CHECK: stablehlo.dot_general %[[A]], %[[B]], contracting_dims = [1] x [0]
func.func @einsum_diagonals(%x: tensor<3x3x4xf32>, %y: tensor<4x5x5xf32>) -> tensor<3x5xf32> {
  %0 = stablehlo.einsum %x, %y, config = "iij,jkk->ik" : (tensor<3x3x4xf32>, tensor<4x5x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

// The mean of 8 elements of each feature, and that of their squares.
// CHECK-LABEL: @batch_norm_training
// CHECK: %[[SUM:.*]] = stablehlo.reduce(%arg0 init: %{{.*}}) applies stablehlo.add across dimensions = [0, 2]
// CHECK: %[[N:.*]] = stablehlo.constant dense<8.000000e+00> : tensor<3xf32>
// CHECK: %[[MEAN:.*]] = stablehlo.divide %[[SUM]], %[[N]]
// CHECK: %[[SQUARES:.*]] = stablehlo.reduce(%{{.*}} init: %{{.*}}) applies stablehlo.add across dimensions = [0, 2]
// CHECK: %[[M:.*]] = stablehlo.constant dense<8.000000e+00> : tensor<3xf32>
// CHECK: %[[VARIANCE:.*]] = stablehlo.divide %[[SQUARES]], %[[M]]
// CHECK: return %{{.*}}, %[[MEAN]], %[[VARIANCE]]
func.func @batch_norm_training(%x: tensor<2x3x4xf32>, %p: tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0:3 = "stablehlo.batch_norm_training"(%x, %p, %p) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return %0#0, %0#1, %0#2 : tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>
}

// -----

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

// Shapes that are computed from constants and extents.
// CHECK-LABEL: @dynamic
// CHECK: stablehlo.reshape %arg0 : (tensor<4x6xf32>) -> tensor<24xf32>
// CHECK: stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
// CHECK: stablehlo.iota dim = 1 : tensor<2x3xi32>
// CHECK: stablehlo.pad %arg0, %{{.*}}, low = [4, 1], high = [0, 1], interior = [0, 1]
// CHECK: stablehlo.slice %arg0 [1:4:2, 0:6:3]
func.func @dynamic(%x: tensor<4x6xf32>, %y: tensor<3xf32>) -> (tensor<24xf32>, tensor<2x3xf32>, tensor<2x3xi32>, tensor<8x13xf32>, tensor<2x2xf32>) {
  %rows = stablehlo.get_dimension_size %x, dim = 0 : (tensor<4x6xf32>) -> tensor<i32>
  %columns = stablehlo.get_dimension_size %x, dim = 1 : (tensor<4x6xf32>) -> tensor<i32>
  %count = stablehlo.multiply %rows, %columns : tensor<i32>
  %flat = stablehlo.reshape %count : (tensor<i32>) -> tensor<1xi32>
  %0 = stablehlo.dynamic_reshape %x, %flat : (tensor<4x6xf32>, tensor<1xi32>) -> tensor<24xf32>
  %shape = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %1 = stablehlo.dynamic_broadcast_in_dim %y, %shape, dims = [1] : (tensor<3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %2 = stablehlo.dynamic_iota %shape, dim = 1 : (tensor<2xi64>) -> tensor<2x3xi32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %row = stablehlo.reshape %rows : (tensor<i32>) -> tensor<1xi32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %low = stablehlo.concatenate %row, %one, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %high = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
  %3 = stablehlo.dynamic_pad %x, %zero, %low, %high, %high : (tensor<4x6xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<8x13xf32>
  %starts = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
  %limits = stablehlo.constant dense<[4, 6]> : tensor<2xi32>
  %strides = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  %4 = stablehlo.real_dynamic_slice %x, %starts, %limits, %strides : (tensor<4x6xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
  return %0, %1, %2, %3, %4 : tensor<24xf32>, tensor<2x3xf32>, tensor<2x3xi32>, tensor<8x13xf32>, tensor<2x2xf32>
}

// The start is not known, but how much is taken.
// CHECK-LABEL: @real_dynamic_slice
// CHECK: %[[SLICE:.*]] = stablehlo.dynamic_slice %arg0, {{.*}} sizes = [3] : {{.*}} -> tensor<3xf32>
// CHECK: stablehlo.slice %[[SLICE]] [0:3:2]
func.func @real_dynamic_slice(%x: tensor<8xf32>, %start: tensor<1xi32>, %limit: tensor<1xi32>) -> tensor<2xf32> {
  %strides = stablehlo.constant dense<2> : tensor<1xi32>
  %0 = stablehlo.real_dynamic_slice %x, %start, %limit, %strides : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: @unknown_padding
// CHECK: stablehlo.dynamic_pad
func.func @unknown_padding(%x: tensor<4xf32>, %v: tensor<f32>, %p: tensor<1xi32>) -> tensor<6xf32> {
  %0 = stablehlo.dynamic_pad %x, %v, %p, %p, %p : (tensor<4xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
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

// Sums of narrow floats are rounded once; so are products.
// CHECK-LABEL: @narrow
// CHECK: %[[WIDE:.*]] = stablehlo.convert %arg0 : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xf32>
// CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[WIDE]] init: %{{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK: stablehlo.convert %[[SUM]] : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
// CHECK: stablehlo.dot_general {{.*}} : (tensor<4x8xf32>, tensor<8x2xi32>) -> tensor<4x2xf32>
func.func @narrow(%x: tensor<4x8xf8E4M3FN>, %w: tensor<8x2xi4>) -> (tensor<4xf8E4M3FN>, tensor<4x2xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f8E4M3FN>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<4xf8E4M3FN>
  %1 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf8E4M3FN>, tensor<8x2xi4>) -> tensor<4x2xf32>
  return %0, %1 : tensor<4xf8E4M3FN>, tensor<4x2xf32>
}

// So are sums of halves, whatever is added; the greatest element needs no more digits.
// CHECK-LABEL: @halves
// CHECK: %[[WIDE:.*]] = stablehlo.convert %arg0 : (tensor<4x8xbf16>) -> tensor<4x8xf32>
// CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[WIDE]] init: %{{.*}}) applies stablehlo.add across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK: stablehlo.convert %[[SUM]] : (tensor<8xf32>) -> tensor<8xbf16>
// CHECK: "stablehlo.reduce_window"
// CHECK: stablehlo.add %{{.*}}, %{{.*}} : tensor<f32>
// CHECK: (tensor<8xf32>, tensor<f32>) -> tensor<5xf32>
// CHECK: stablehlo.reduce(%arg0 init: %{{.*}}) applies stablehlo.maximum across dimensions = [0] : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<8xbf16>
func.func @halves(%x: tensor<4x8xbf16>, %y: tensor<8xf16>) -> (tensor<8xbf16>, tensor<5xf16>, tensor<8xbf16>) {
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %zero16 = stablehlo.constant dense<0.0> : tensor<f16>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<8xbf16>
  %1 = "stablehlo.reduce_window"(%y, %zero16) <{window_dimensions = array<i64: 4>}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    %s = stablehlo.add %a, %b : tensor<f16>
    stablehlo.return %s : tensor<f16>
  }) : (tensor<8xf16>, tensor<f16>) -> tensor<5xf16>
  %2 = stablehlo.reduce(%x init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<8xbf16>
  return %0, %1, %2 : tensor<8xbf16>, tensor<5xf16>, tensor<8xbf16>
}

// Each group's rows alone, and the groups contracted too.
// CHECK-LABEL: @ragged_dot
// CHECK: %[[SPLIT:.*]] = stablehlo.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<3x11x5xi1>, tensor<3x11x5xf32>
// CHECK: stablehlo.dot_general %[[SPLIT]], %arg1, contracting_dims = [2, 0] x [1, 0]
func.func @ragged_dot(%x: tensor<11x5xf32>, %w: tensor<3x5x7xf32>, %sizes: tensor<3xi64>) -> tensor<11x7xf32> {
  %0 = "chlo.ragged_dot"(%x, %w, %sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return %0 : tensor<11x7xf32>
}

// -----

// In constants after the text, booleans and integers of four bits have a byte each.
// CHECK-LABEL: @resources
// CHECK-DAG: stablehlo.constant dense<[true, false, false, true]> : tensor<4xi1>
// CHECK-DAG: stablehlo.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-DAG: stablehlo.constant dense<[1, -1, 7, -8]> : tensor<4xi4>
func.func @resources() -> (tensor<4xi1>, tensor<2xf32>, tensor<4xi4>) {
  %0 = stablehlo.constant dense_resource<booleans> : tensor<4xi1>
  %1 = stablehlo.constant dense_resource<floats> : tensor<2xf32>
  %2 = stablehlo.constant dense_resource<integers> : tensor<4xi4>
  return %0, %1, %2 : tensor<4xi1>, tensor<2xf32>, tensor<4xi4>
}
{-#
  dialect_resources: {
    builtin: {
      booleans: "0x0100000001000001",
      floats: "0x040000000000803F00000040",
      integers: "0x01000000010F0708"
    }
  }
#-}
