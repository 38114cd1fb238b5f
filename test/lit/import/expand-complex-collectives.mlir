// Both parts of complex numbers travel side by side, as one layer.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics --cgx-expand-complex-collectives | FileCheck %s

// CHECK-LABEL: @all_reduce
// CHECK: %[[RE:.*]] = stablehlo.real %arg0
// CHECK: %[[IM:.*]] = stablehlo.imag %arg0
// CHECK: %[[PAIRS:.*]] = stablehlo.concatenate {{.*}}, dim = 1 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
// CHECK: %[[SUM:.*]] = "stablehlo.all_reduce"(%[[PAIRS]])
// CHECK: ^bb0(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>):
// CHECK: (tensor<4x2xf32>) -> tensor<4x2xf32>
// CHECK-DAG: stablehlo.slice %[[SUM]] [0:4, 0:1]
// CHECK-DAG: stablehlo.slice %[[SUM]] [0:4, 1:2]
// CHECK: %[[R:.*]] = stablehlo.complex
// CHECK: return %[[R]]
func.func @all_reduce(%z: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = "stablehlo.all_reduce"(%z) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
    %s = stablehlo.add %a, %b : tensor<complex<f32>>
    stablehlo.return %s : tensor<complex<f32>>
  }) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// Dimensions keep their numbers.
// CHECK-LABEL: @all_gather
// CHECK: "stablehlo.all_gather"({{.*}}) <{all_gather_dim = 1 : i64, {{.*}} : (tensor<3x4x2xf64>) -> tensor<3x8x2xf64>
func.func @all_gather(%z: tensor<3x4xcomplex<f64>>) -> tensor<3x8xcomplex<f64>> {
  %0 = "stablehlo.all_gather"(%z) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<3x4xcomplex<f64>>) -> tensor<3x8xcomplex<f64>>
  return %0 : tensor<3x8xcomplex<f64>>
}

// -----

func.func @product(%z: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  // expected-error@+1 {{expected a sum of complex numbers, which is that of their parts}}
  %0 = "stablehlo.all_reduce"(%z) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
    %s = stablehlo.multiply %a, %b : tensor<complex<f32>>
    stablehlo.return %s : tensor<complex<f32>>
  }) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// -----

func.func @more_than_a_sum(%z: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  // expected-error@+1 {{expected a sum of complex numbers, which is that of their parts}}
  %0 = "stablehlo.all_reduce"(%z) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
    %s = stablehlo.add %a, %b : tensor<complex<f32>>
    %n = stablehlo.negate %s : tensor<complex<f32>>
    stablehlo.return %s : tensor<complex<f32>>
  }) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}
