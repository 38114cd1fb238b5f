// Fourier transforms and systems of equations.
// RUN: cgx-opt %s -o %t.printed
// RUN: grep . %t.printed > %t.pretty
// RUN: grep -v '^//' %s > %t.source
// RUN: diff -w %t.source %t.pretty
// RUN: cgx-opt %s --mlir-print-op-generic | cgx-opt -o %t.generic
// RUN: diff %t.printed %t.generic
// RUN: cgx-opt %s --verify-roundtrip -o %t.roundtrip
// RUN: cgx-opt %s --mlir-print-op-generic | FileCheck %s
// CHECK: "stablehlo.fft"(%{{.*}}) <{fft_length = array<i64: 8, 8>, fft_type = #stablehlo<fft_type RFFT>}>
module {
  func.func @fft(%arg0: tensor<8x8xf32>) {
    %0 = stablehlo.fft %arg0, type =  RFFT, length = [8, 8] : (tensor<8x8xf32>) -> tensor<8x5xcomplex<f32>>
    %1 = stablehlo.fft %0, type =  IRFFT, length = [8] : (tensor<8x5xcomplex<f32>>) -> tensor<8x8xf32>
    %2 = stablehlo.fft %0, type =  FFT, length = [5] : (tensor<8x5xcomplex<f32>>) -> tensor<8x5xcomplex<f32>>
    %3 = stablehlo.fft %0, type =  IFFT, length = [8, 5] : (tensor<8x5xcomplex<f32>>) -> tensor<8x5xcomplex<f32>>
    return
  }
  func.func @systems(%arg0: tensor<2x4x4xf32>, %arg1: tensor<2x4x3xf32>) {
    %0 = stablehlo.cholesky %arg0, lower = true : tensor<2x4x4xf32>
    %1 = stablehlo.cholesky %arg0 : tensor<2x4x4xf32>
    %2 = "stablehlo.triangular_solve"(%0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x4x4xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
    return
  }
}
