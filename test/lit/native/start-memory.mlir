// Memory that a pending collective uses is used by nothing else, though the program does not touch it until the
// wait: two buffers, not one after the other in the same bytes. The calls name the operands at the start.
// RUN: cgx-opt %s --cgx-lower-collectives --cgx-destination-passing '--one-shot-bufferize=bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map' --canonicalize --cse --cgx-plan-memory --cgx-expand-copies --convert-linalg-to-loops --cgx-emit-runtime-calls | FileCheck %s

#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[SCRATCH:[a-z0-9]+]]: memref<96xi8>
// CHECK-DAG: %[[SINE:.*]] = memref.view %[[SCRATCH]][%[[AT:.*]]][] : memref<96xi8> to memref<8xf32>
// CHECK-DAG: %[[COSINE:.*]] = memref.view %[[SCRATCH]][%[[AFTER:.*]]][] : memref<96xi8> to memref<8xf32>
// CHECK: memref.extract_aligned_pointer_as_index
// CHECK: call @cgx_rt_operand(%arg0,
// CHECK: call @cgx_rt_start(%arg0, %{{.*}}) :
// CHECK: math.cos
// CHECK: call @cgx_rt_wait(%arg0, %{{.*}}) :
// CHECK-NOT: cgx_rt.
func.func @main(%x: tensor<8xf32>) -> (tensor<16xf32>, tensor<8xf32>) {
  %e0 = tensor.empty() : tensor<8xf32>
  %sine = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e0 : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = math.sin %in : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %h = cgx.start all_gather(%sine) dim(0) groups([[0, 1]]) id(0) : (tensor<8xf32>) -> tensor<16xf32>
  %e1 = tensor.empty() : tensor<8xf32>
  %cosine = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e1 : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = math.cos %in : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %r = cgx.wait %h : !cgx.handle<tensor<16xf32>>
  %e2 = tensor.empty() : tensor<8xf32>
  %square = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %cosine : tensor<8xf32>, tensor<8xf32>) outs(%e2 : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.mulf %b, %b : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r, %square : tensor<16xf32>, tensor<8xf32>
}
