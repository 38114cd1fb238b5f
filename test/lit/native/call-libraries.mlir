// Factorizations and transforms are calls of the runtime; batches are one call.
// RUN: cgx-opt %s --cgx-call-libraries | FileCheck %s
// RUN: cgx-opt %s --cgx-call-libraries --verify-roundtrip -o /dev/null

// The letters of LAPACK: s = 115, L = 76.
// CHECK-LABEL: @potrf
// CHECK: cgx_rt.library @cgx_native_cholesky [115, 76, 4, 6] ins(%arg0 : tensor<2x3x4x4xf32>) outs({{.*}} : tensor<2x3x4x4xf32>, tensor<2x3xi32>)
func.func @potrf(%a: tensor<2x3x4x4xf32>) -> (tensor<2x3x4x4xf32>, tensor<2x3xi32>) {
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {backend_config = "", mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<2x3x4x4xf32>) -> (tensor<2x3x4x4xf32>, tensor<2x3xi32>)
  return %0#0, %0#1 : tensor<2x3x4x4xf32>, tensor<2x3xi32>
}

// Options may stand in either place.
// CHECK-LABEL: @eigh
// CHECK: cgx_rt.library @cgx_native_eigh [122, 86, 85, 4, 1] ins(%arg0 : tensor<4x4xcomplex<f64>>) outs({{.*}} : tensor<4x4xcomplex<f64>>, tensor<4xf64>, tensor<i32>)
func.func @eigh(%a: tensor<4x4xcomplex<f64>>) -> (tensor<4x4xcomplex<f64>>, tensor<4xf64>, tensor<i32>) {
  %0:3 = stablehlo.custom_call @lapack_zheevd_ffi(%a) {api_version = 4 : i32, backend_config = {mode = 86 : ui8, uplo = 85 : ui8}} : (tensor<4x4xcomplex<f64>>) -> (tensor<4x4xcomplex<f64>>, tensor<4xf64>, tensor<i32>)
  return %0#0, %0#1, %0#2 : tensor<4x4xcomplex<f64>>, tensor<4xf64>, tensor<i32>
}

// Without vectors there is no memory for them.
// CHECK-LABEL: @singular_values
// CHECK: cgx_rt.library @cgx_native_svd [115, 78, 3, 5, 1] ins(%arg0 : tensor<3x5xf32>) outs({{.*}} : tensor<3xf32>, tensor<0xf32>, tensor<0xf32>, tensor<i32>)
func.func @singular_values(%a: tensor<3x5xf32>) -> tensor<3xf32> {
  %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 78 : ui8}} : (tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3xf32>, tensor<3x3xf32>, tensor<5x5xf32>, tensor<i32>)
  return %0#1 : tensor<3xf32>
}

// CHECK-LABEL: @triangular_solve
// CHECK: cgx_rt.library @cgx_native_triangular_solve [100, 82, 76, 67, 85, 2, 4, 3] ins(%arg0, %arg1 :
func.func @triangular_solve(%a: tensor<3x4x4xf64>, %b: tensor<3x2x4xf64>) -> tensor<3x2x4xf64> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = false, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<3x4x4xf64>, tensor<3x2x4xf64>) -> tensor<3x2x4xf64>
  return %0 : tensor<3x2x4xf64>
}

// NaN where a matrix is not positive definite, zero above the diagonal.
// CHECK-LABEL: @cholesky
// CHECK: %[[CALL:.*]]:2 = cgx_rt.library @cgx_native_cholesky [115, 76, 4, 3] ins(%arg0
// CHECK: %[[WORKED:.*]] = stablehlo.compare EQ, %[[CALL]]#1
// CHECK: %[[EACH:.*]] = stablehlo.broadcast_in_dim %[[WORKED]], dims = [0]
// CHECK: %[[INSIDE:.*]] = stablehlo.compare GE
// CHECK: %[[NAN:.*]] = stablehlo.constant dense<0x7FC00000>
// CHECK: %[[FACTOR:.*]] = stablehlo.select %[[EACH]], %[[CALL]]#0, %[[NAN]]
// CHECK: stablehlo.select %[[INSIDE]], %[[FACTOR]]
func.func @cholesky(%a: tensor<3x4x4xf32>) -> tensor<3x4x4xf32> {
  %0 = stablehlo.cholesky %a, lower = true : tensor<3x4x4xf32>
  return %0 : tensor<3x4x4xf32>
}

// Two blocks of 4 by 6, CGX_FFT_REAL.
// CHECK-LABEL: @rfft
// CHECK: cgx_rt.library @cgx_native_fft [115, 2, 2, 1, 4, 6] ins(%arg0 : tensor<2x4x6xf32>) outs({{.*}} : tensor<2x4x4xcomplex<f32>>)
func.func @rfft(%x: tensor<2x4x6xf32>) -> tensor<2x4x4xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = RFFT, length = [4, 6] : (tensor<2x4x6xf32>) -> tensor<2x4x4xcomplex<f32>>
  return %0 : tensor<2x4x4xcomplex<f32>>
}

// Operands that the routine does not take are left alone, for the lowering to name: C would read beyond them.
// CHECK-LABEL: @not_square
// CHECK: stablehlo.custom_call @lapack_spotrf_ffi
func.func @not_square(%a: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<i32>) {
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<i32>)
  return %0#0, %0#1 : tensor<3x4xf32>, tensor<i32>
}

// CHECK-LABEL: @other_type
// CHECK: stablehlo.custom_call @lapack_dgetrf_ffi
func.func @other_type(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi32>, tensor<i32>) {
  %0:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi32>, tensor<i32>)
  return %0#0, %0#1, %0#2 : tensor<4x4xf32>, tensor<4xi32>, tensor<i32>
}

// CHECK-LABEL: @too_many_reflectors
// CHECK: stablehlo.custom_call @lapack_sorgqr_ffi
func.func @too_many_reflectors(%a: tensor<4x2xf32>, %tau: tensor<3xf32>) -> tensor<4x2xf32> {
  %0 = stablehlo.custom_call @lapack_sorgqr_ffi(%a, %tau) {mhlo.backend_config = {}} : (tensor<4x2xf32>, tensor<3xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
