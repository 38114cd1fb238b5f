// Results go to buffers of the caller; the context comes first.
// RUN: cgx-opt %S/Inputs/step.mlir --cgx-emit-manifest --canonicalize --cse --cgx-lower-collectives --cgx-stablehlo-to-linalg --cgx-matmul-to-blas --cgx-fuse-elementwise --canonicalize --cse --cgx-destination-passing | FileCheck %s

// CHECK: func.func public @main(%[[CONTEXT:.*]]: i64, %{{.*}}: memref<32x16xf32>{{.*}}, %{{.*}}: memref<64x32xf32>{{.*}}, %[[OUT:.*]]: memref<32x16xf32>
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[OUT]]

// Results are computed in their buffers from the beginning, unless that memory holds something else as well.
// RUN: cgx-opt %s --cgx-destination-passing | FileCheck %s --check-prefix=SHARED

// SHARED: func.func @main(%{{.*}}: i64, %{{.*}}: memref<8xf32>{{.*}}, %[[SUM:.*]]: memref<f32>{{.*}}, %[[MAX:.*]]: memref<f32>{{.*}}, %[[FIRST:.*]]: memref<8xf32>{{.*}}, %[[SECOND:.*]]: memref<8xf32>
// SHARED-DAG: %[[SUM_BUFFER:.*]] = bufferization.to_tensor %[[SUM]] restrict writable
// SHARED-DAG: %[[MAX_BUFFER:.*]] = bufferization.to_tensor %[[MAX]] restrict writable
// SHARED-NOT: to_tensor %[[FIRST]]
// SHARED-NOT: to_tensor %[[SECOND]]
// Each sum its own zeros.
// SHARED-DAG: linalg.fill ins(%{{.*}}) outs(%[[SUM_BUFFER]]
// SHARED-DAG: linalg.fill ins(%{{.*}}) outs(%[[MAX_BUFFER]]
#element = affine_map<(d0) -> (d0)>
#one = affine_map<(d0) -> ()>
func.func @main(%x: tensor<8xf32>) -> (tensor<f32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %scalar = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%scalar : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [#element, #one], iterator_types = ["reduction"]}
      ins(%x : tensor<8xf32>) outs(%start : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %max = linalg.generic {indexing_maps = [#element, #one], iterator_types = ["reduction"]}
      ins(%x : tensor<8xf32>) outs(%start : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.maximumf %out, %in : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %empty = tensor.empty() : tensor<8xf32>
  %sine = linalg.generic {indexing_maps = [#element, #element], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = math.sin %in : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %first = tensor.insert %zero into %sine[%c0] : tensor<8xf32>
  %second = tensor.insert %zero into %sine[%c1] : tensor<8xf32>
  return %sum, %max, %first, %second : tensor<f32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>
}
