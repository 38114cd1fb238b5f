// Complex tensors become two real ones; at the border of the step both parts lie side by side.
// RUN: cgx-opt %s --split-input-file --cgx-expand-complex | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg0: tensor<4x2xf32> {cgx.global_type = tensor<8x2xf32>, cgx.name = "w", cgx.sharding = #cgx.sharding<{{\[\[}}"x"], []]>}
// CHECK-SAME: -> tensor<4x2xf32>
// CHECK-NOT: complex
// CHECK: %[[RE:.*]] = stablehlo.reshape {{.*}} : (tensor<4x1xf32>) -> tensor<4xf32>
// CHECK: %[[IM:.*]] = stablehlo.reshape {{.*}} : (tensor<4x1xf32>) -> tensor<4xf32>
// CHECK-DAG: %[[AA:.*]] = stablehlo.multiply %[[RE]], %[[RE]]
// CHECK-DAG: %[[BB:.*]] = stablehlo.multiply %[[IM]], %[[IM]]
// CHECK: stablehlo.subtract %[[AA]], %[[BB]]
// CHECK: stablehlo.concatenate {{.*}}, dim = 1 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
func.func @main(%w: tensor<4xcomplex<f32>> {cgx.global_type = tensor<8xcomplex<f32>>, cgx.name = "w", cgx.sharding = #cgx.sharding<[["x"]]>}) -> tensor<4xcomplex<f32>> {
  %0 = stablehlo.multiply %w, %w : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// -----

// A loop carries both parts, and a sum is one for each.
// CHECK-LABEL: @main
// CHECK-NOT: complex
// CHECK: stablehlo.while({{.*}}) : tensor<i32>, tensor<4xf64>, tensor<4xf64>
// CHECK: stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [0] : (tensor<4xf64>, tensor<f64>) -> tensor<f64>
// CHECK: stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [0] : (tensor<4xf64>, tensor<f64>) -> tensor<f64>
func.func @main(%re: tensor<4xf64>, %im: tensor<4xf64>) -> (tensor<f64>, tensor<f64>) {
  %i = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %z = stablehlo.complex %re, %im : tensor<4xcomplex<f64>>
  %w:2 = stablehlo.while(%k = %i, %x = %z) : tensor<i32>, tensor<4xcomplex<f64>>
    cond {
      %p = stablehlo.compare LT, %k, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %next = stablehlo.add %k, %one : tensor<i32>
      %sum = stablehlo.add %x, %z : tensor<4xcomplex<f64>>
      stablehlo.return %next, %sum : tensor<i32>, tensor<4xcomplex<f64>>
    }
  %zero = stablehlo.constant dense<(0.0,0.0)> : tensor<complex<f64>>
  %s = stablehlo.reduce(%w#1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xcomplex<f64>>, tensor<complex<f64>>) -> tensor<complex<f64>>
  %a = stablehlo.real %s : (tensor<complex<f64>>) -> tensor<f64>
  %b = stablehlo.imag %s : (tensor<complex<f64>>) -> tensor<f64>
  return %a, %b : tensor<f64>, tensor<f64>
}

// -----

// Any other reduction carries both parts: the region takes what was accumulated first.
// CHECK-LABEL: @main
// CHECK: stablehlo.reduce({{.*}} init: {{.*}}), ({{.*}} init: {{.*}}) across dimensions = [0]
// CHECK: reducer(%[[A:.*]]: tensor<f32>, %[[C:.*]]: tensor<f32>) (%[[B:.*]]: tensor<f32>, %[[D:.*]]: tensor<f32>)
// CHECK-DAG: stablehlo.multiply %[[A]], %[[C]]
// CHECK-DAG: stablehlo.multiply %[[B]], %[[D]]
func.func @main(%z: tensor<4xcomplex<f32>>) -> tensor<complex<f32>> {
  %one = stablehlo.constant dense<(1.0,0.0)> : tensor<complex<f32>>
  %s = stablehlo.reduce(%z init: %one) applies stablehlo.multiply across dimensions = [0] : (tensor<4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  return %s : tensor<complex<f32>>
}

// -----

// A comparator takes a pair for each tensor that is sorted.
// CHECK-LABEL: @main
// CHECK: "stablehlo.sort"(%{{.*}}, %{{.*}})
// CHECK: ^bb0(%[[X:.*]]: tensor<f32>, %[[Y:.*]]: tensor<f32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>):
// CHECK: stablehlo.compare LT, %[[X]], %[[Y]]
func.func @main(%z: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %s = "stablehlo.sort"(%z) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<complex<f32>>, %y: tensor<complex<f32>>):
    %a = stablehlo.real %x : (tensor<complex<f32>>) -> tensor<f32>
    %b = stablehlo.real %y : (tensor<complex<f32>>) -> tensor<f32>
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %s : tensor<4xcomplex<f32>>
}

// -----

// The runtime's libraries take both parts side by side.
// CHECK-LABEL: @main
// CHECK: %[[PAIRS:.*]] = stablehlo.concatenate
// CHECK: %[[OUT:.*]] = bufferization.alloc_tensor() : tensor<8x2xf32>
// CHECK: cgx_rt.library @cgx_native_fft [115, 0, 1, 1, 1, 8] ins(%[[PAIRS]] : tensor<8x2xf32>) outs(%[[OUT]] : tensor<8x2xf32>)
func.func @main(%re: tensor<8xf32>, %im: tensor<8xf32>) -> tensor<8xf32> {
  %z = stablehlo.complex %re, %im : tensor<8xcomplex<f32>>
  %e = bufferization.alloc_tensor() : tensor<8xcomplex<f32>>
  %f = cgx_rt.library @cgx_native_fft [115, 0, 1, 1, 1, 8] ins(%z : tensor<8xcomplex<f32>>) outs(%e : tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  %r = stablehlo.real %f : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
