// Checks what contractions and linear algebra reject.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @dot_count(%a: tensor<4x8xf32>, %b: tensor<8x3xf32>) {
  // expected-error@+1 {{expected as many contracting dimensions of lhs as of rhs, got 1 and 2}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0, 1] : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @dot_complex_operands(%a: tensor<4x8xcomplex<f32>>, %b: tensor<8x3xf32>) {
  // expected-error@+1 {{expected operands and a result that are all complex, or none of them, got 'tensor<4x8xcomplex<f32>>' and 'tensor<8x3xf32>' to 'tensor<4x3xcomplex<f32>>'}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xcomplex<f32>>, tensor<8x3xf32>) -> tensor<4x3xcomplex<f32>>
  return
}

// -----

func.func @dot_complex_result(%a: tensor<4x8xcomplex<f32>>, %b: tensor<8x3xcomplex<f32>>) {
  // expected-error@+1 {{expected operands and a result that are all complex, or none of them}}
  %0 = stablehlo.dot %a, %b : (tensor<4x8xcomplex<f32>>, tensor<8x3xcomplex<f32>>) -> tensor<4x3xf32>
  return
}

// -----

func.func @dot_range(%a: tensor<4x8xf32>, %b: tensor<8x3xf32>) {
  // expected-error@+1 {{expected contracting dimensions in range, got 2 of 'tensor<4x8xf32>' and 0 of 'tensor<8x3xf32>'}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [2] x [0] : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @dot_once(%a: tensor<4x8xf32>, %b: tensor<8x3xf32>) {
  // expected-error@+1 {{expected each dimension to be batched or contracted once, got contracting dimensions 1 and 0 again}}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [1] x [0], contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @dot_sizes(%a: tensor<4x8xf32>, %b: tensor<8x3xf32>) {
  // expected-error@+1 {{expected contracting dimensions of one size, got 4 and 8}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @dot_result(%a: tensor<4x8xf32>, %b: tensor<8x3xf32>) {
  // expected-error@+1 {{expected a result of type 'tensor<4x3xf32>', got 'tensor<3x4xf32>'}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @dot_precision(%a: tensor<4x8xf32>, %b: tensor<8x3xf32>) {
  // expected-error@+1 {{expected DEFAULT, HIGH or HIGHEST, got 'LOW'}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [LOW, LOW] : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @dot_algorithm(%a: tensor<4x8xf32>, %b: tensor<8x3xf32>) {
  // expected-error@+1 {{expected lhs_precision_type, rhs_precision_type and accumulation_type}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = f32> : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @convolution_name(%a: tensor<2x8x8x3xf32>, %b: tensor<3x3x3x4xf32>) {
  // expected-error@+1 {{expected 'b', 'f' or a spatial dimension}}
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [x, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x6x6x4xf32>
  return
}

// -----

func.func @convolution_spatial(%a: tensor<2x8x8x3xf32>, %b: tensor<3x3x3x4xf32>) {
  // expected-error@+1 {{expected spatial dimension 1, got 2}}
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 2, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x6x6x4xf32>
  return
}

// -----

func.func @convolution_lacks(%a: tensor<2x8x8x3xf32>, %b: tensor<3x3x3x4xf32>) {
  // expected-error@+1 {{expected the dimensions 'b' and 'f'}}
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x6x6x4xf32>
  return
}

// -----

func.func @convolution_padding(%a: tensor<2x8x8x3xf32>, %b: tensor<3x3x3x4xf32>) {
  // expected-error@+1 {{expected low and high padding, got 1 numbers}}
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1], [1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x6x6x4xf32>
  return
}

// -----

func.func @fft_count(%a: tensor<4x8xcomplex<f32>>) {
  // expected-error@+1 {{expected 1 to 2 entries of fft_length, got 3}}
  %0 = stablehlo.fft %a, type = FFT, length = [2, 4, 8] : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
  return
}

// -----

func.func @fft_length(%a: tensor<4x8xcomplex<f32>>) {
  // expected-error@+1 {{expected an operand of size 4 in dimension 1, as fft_length says, got 'tensor<4x8xcomplex<f32>>'}}
  %0 = stablehlo.fft %a, type = FFT, length = [4] : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
  return
}

// -----

func.func @fft_result(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected a result of type 'tensor<4x5xcomplex<f32>>', got 'tensor<4x8xcomplex<f32>>'}}
  %0 = stablehlo.fft %a, type = RFFT, length = [8] : (tensor<4x8xf32>) -> tensor<4x8xcomplex<f32>>
  return
}

// -----

func.func @fft_operand_type(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected complex numbers for FFT, got 'tensor<4x8xf32>'}}
  %0 = stablehlo.fft %a, type = FFT, length = [8] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @fft_result_type(%a: tensor<4x8xcomplex<f32>>) {
  // expected-error@+1 {{expected a result of real numbers for IRFFT, got 'tensor<4x14xcomplex<f32>>'}}
  %0 = stablehlo.fft %a, type = IRFFT, length = [14] : (tensor<4x8xcomplex<f32>>) -> tensor<4x14xcomplex<f32>>
  return
}

// -----

func.func @cholesky(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected square matrices, got 'tensor<4x8xf32>'}}
  %0 = stablehlo.cholesky %a : tensor<4x8xf32>
  return
}

// -----

func.func @triangular_solve_square(%a: tensor<4x8xf32>, %b: tensor<4x3xf32>) {
  // expected-error@+1 {{expected square matrices a, got 'tensor<4x8xf32>'}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<4x8xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @triangular_solve_sizes(%a: tensor<4x4xf32>, %b: tensor<5x3xf32>) {
  // expected-error@+1 {{expected b to have the batches of a and its size in dimension 0, got 'tensor<4x4xf32>' and 'tensor<5x3xf32>'}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<4x4xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @triangular_solve_transpose(%a: tensor<4x4xf32>, %b: tensor<4x3xf32>) {
  // expected-error@+1 {{expected NO_TRANSPOSE, TRANSPOSE or ADJOINT, got TRANSPOSE_INVALID}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE_INVALID>}> : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @triangular_solve_result(%a: tensor<4x4xf32>, %b: tensor<4x3xf32>) {
  // expected-error@+1 {{expected a result of the type of b, 'tensor<4x3xf32>', got 'tensor<4x4xf32>'}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x4xf32>
  return
}
