// Each constraint of the specification on contractions, linear algebra, normalization and random numbers, by its label.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @cholesky_c1(%arg0: tensor<2x2xf32>) {
  // expected-error@+1 {{requires the same type for all operands and results}}
  %r = "stablehlo.cholesky"(%arg0) {lower = true} : (tensor<2x2xf32>) -> tensor<2x2xf64>
  return
}

// -----

func.func @cholesky_c2(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected square matrices, got 'tensor<2xf32>'}}
  %r = "stablehlo.cholesky"(%arg0) {lower = true} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @cholesky_c3(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{expected square matrices, got 'tensor<2x3xf32>'}}
  %r = "stablehlo.cholesky"(%arg0) {lower = true} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @triangular_solve_c1(%arg0: tensor<3x3xf32>, %arg1: tensor<3x2xf64>) {
  // expected-error@+1 {{expected b to have the batches of a and its size in dimension 0, got 'tensor<3x3xf32>' and 'tensor<3x2xf64>'}}
  %r = "stablehlo.triangular_solve"(%arg0, %arg1) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<3x2xf64>) -> tensor<3x2xf64>
  return
}

// -----

func.func @triangular_solve_c2(%arg0: tensor<3x3xf32>, %arg1: tensor<3xf32>) {
  // expected-error@+1 {{expected b to have the batches of a and its size in dimension 0, got 'tensor<3x3xf32>' and 'tensor<3xf32>'}}
  %r = "stablehlo.triangular_solve"(%arg0, %arg1) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @triangular_solve_c3(%arg0: tensor<3x3xf32>, %arg1: tensor<2x3xf32>) {
  // expected-error@+1 {{expected b to have the batches of a and its size in dimension 0, got 'tensor<3x3xf32>' and 'tensor<2x3xf32>'}}
  %r = "stablehlo.triangular_solve"(%arg0, %arg1) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @triangular_solve_c4(%arg0: tensor<3x3xf32>, %arg1: tensor<3x2xf32>) {
  // expected-error@+1 {{expected a result of the type of b, 'tensor<3x2xf32>', got 'tensor<3x3xf32>'}}
  %r = "stablehlo.triangular_solve"(%arg0, %arg1) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @fft_c1(%arg0: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{expected 1 to 1 entries of fft_length, got 2}}
  %r = "stablehlo.fft"(%arg0) {fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 1, 4>} : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @fft_c2(%arg0: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{expected a result of complex numbers for FFT, got 'tensor<4xf32>'}}
  %r = "stablehlo.fft"(%arg0) {fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 4>} : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return
}

// -----

func.func @fft_c3(%arg0: tensor<2x2x2x2xcomplex<f32>>) {
  // expected-error@+1 {{expected 1 to 3 entries of fft_length, got 4}}
  %r = "stablehlo.fft"(%arg0) {fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 2, 2, 2, 2>} : (tensor<2x2x2x2xcomplex<f32>>) -> tensor<2x2x2x2xcomplex<f32>>
  return
}

// -----

func.func @fft_c4(%arg0: tensor<8xf32>) {
  // expected-error@+1 {{expected an operand of size 4 in dimension 0, as fft_length says, got 'tensor<8xf32>'}}
  %r = "stablehlo.fft"(%arg0) {fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 4>} : (tensor<8xf32>) -> tensor<3xcomplex<f32>>
  return
}

// -----

func.func @fft_c5(%arg0: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{expected a result of type 'tensor<4xcomplex<f32>>', got 'tensor<5xcomplex<f32>>'}}
  %r = "stablehlo.fft"(%arg0) {fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 4>} : (tensor<4xcomplex<f32>>) -> tensor<5xcomplex<f32>>
  return
}

// -----

func.func @dot_general_c1(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x5xf32>) {
  // expected-error@+1 {{expected as many batching dimensions of lhs as of rhs, got 1 and 0}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>} : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @dot_general_c2(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x5xf32>) {
  // expected-error@+1 {{expected as many contracting dimensions of lhs as of rhs, got 1 and 0}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = []>} : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @dot_general_c3(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x5xf32>) {
  // expected-error@+1 {{expected each dimension to be batched or contracted once, got contracting dimensions 0 and 1 again}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [1]>} : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @dot_general_c4(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x5xf32>) {
  // expected-error@+1 {{expected each dimension to be batched or contracted once, got contracting dimensions 1 and 0 again}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>} : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @dot_general_c5(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x5xf32>) {
  // expected-error@+1 {{expected batching dimensions in range, got 3 of 'tensor<2x3x4xf32>' and 0 of 'tensor<2x3x5xf32>'}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [3], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>} : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @dot_general_c6(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x5xf32>) {
  // expected-error@+1 {{expected contracting dimensions in range, got -1 of 'tensor<2x3x4xf32>' and 1 of 'tensor<2x3x5xf32>'}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [-1], rhs_contracting_dimensions = [1]>} : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @dot_general_c7(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x5xf32>) {
  // expected-error@+1 {{expected batching dimensions in range, got 0 of 'tensor<2x3x4xf32>' and 3 of 'tensor<2x3x5xf32>'}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [3], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>} : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @dot_general_c8(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x5xf32>) {
  // expected-error@+1 {{expected contracting dimensions in range, got 1 of 'tensor<2x3x4xf32>' and 4 of 'tensor<2x3x5xf32>'}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [4]>} : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @dot_general_c9(%arg0: tensor<1x3x4xf32>, %arg1: tensor<2x3x5xf32>) {
  // expected-error@+1 {{expected batching dimensions of one size, got 1 and 2}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>} : (tensor<1x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @dot_general_c10(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x2x5xf32>) {
  // expected-error@+1 {{expected contracting dimensions of one size, got 3 and 2}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>} : (tensor<2x3x4xf32>, tensor<2x2x5xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @dot_general_c11(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x5xf32>) {
  // expected-error@+1 {{expected at most 2 precisions, one per operand, got 3}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @dot_general_c12(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x5xf32>) {
  // expected-error@+1 {{expected a result of type 'tensor<2x4x5xf32>', got 'tensor<2x5x4xf32>'}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>} : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

func.func @dot_general_c21(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x5xf32>) {
  // expected-error@+1 {{expected precision DEFAULT with an algorithm, got HIGHEST}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>], algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>} : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @dot_general_c22(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x5xf32>) {
  // expected-error@+1 {{expected component and primitive operation counts of at least 1, got [0, 1, 1]}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 0, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>} : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @dot_general_c23(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x5xf32>) {
  // expected-error@+1 {{expected component and primitive operation counts of at least 1, got [1, 0, 1]}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 0, num_primitive_operations = 1, allow_imprecise_accumulation = false>} : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @dot_general_c24(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x5xf32>) {
  // expected-error@+1 {{expected component and primitive operation counts of at least 1, got [1, 1, 0]}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 0, allow_imprecise_accumulation = false>} : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @dot_general_unknown_algorithm(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x5xf32>) {
  // expected-error@+1 {{expected an algorithm that some device has, got #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 3, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 3, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>} : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @dot_general_algorithm_of_integers(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x5xf32>) {
  // expected-error@+1 {{expected an algorithm that some device has, got #stablehlo.dot_algorithm<lhs_precision_type = i8, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], algorithm = #stablehlo.dot_algorithm<lhs_precision_type = i8, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>} : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @dot_general_algorithm_imprecise(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x5xf32>) {
  // expected-error@+1 {{expected an algorithm that some device has, got #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = true>}}
  %r = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = true>} : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @batch_norm_inference_c1(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>, %arg3: tensor<3xf32>, %arg4: tensor<3xf32>) {
  // expected-error@+1 {{expected feature_index in range [0, 2), got 2}}
  %r = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg2, %arg3, %arg4) {epsilon = 0.0 : f32, feature_index = 2 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @batch_norm_inference_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf64>, %arg2: tensor<3xf32>, %arg3: tensor<3xf32>, %arg4: tensor<3xf32>) {
  // expected-error@+1 {{expected numbers of type 'tensor<3xf32>', one per feature, got 'tensor<3xf64>'}}
  %r = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg2, %arg3, %arg4) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf64>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @batch_norm_inference_c3(%arg0: tensor<2x3xf32>, %arg1: tensor<2xf32>, %arg2: tensor<3xf32>, %arg3: tensor<3xf32>, %arg4: tensor<3xf32>) {
  // expected-error@+1 {{expected numbers of type 'tensor<3xf32>', one per feature, got 'tensor<2xf32>'}}
  %r = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg2, %arg3, %arg4) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @batch_norm_inference_c4(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<2xf32>, %arg3: tensor<3xf32>, %arg4: tensor<3xf32>) {
  // expected-error@+1 {{expected numbers of type 'tensor<3xf32>', one per feature, got 'tensor<2xf32>'}}
  %r = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg2, %arg3, %arg4) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @batch_norm_inference_c5(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>, %arg3: tensor<2xf32>, %arg4: tensor<3xf32>) {
  // expected-error@+1 {{expected numbers of type 'tensor<3xf32>', one per feature, got 'tensor<2xf32>'}}
  %r = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg2, %arg3, %arg4) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @batch_norm_inference_c6(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>, %arg3: tensor<3xf32>, %arg4: tensor<2xf32>) {
  // expected-error@+1 {{expected numbers of type 'tensor<3xf32>', one per feature, got 'tensor<2xf32>'}}
  %r = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg2, %arg3, %arg4) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @batch_norm_inference_c7(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>, %arg3: tensor<3xf32>, %arg4: tensor<3xf32>) {
  // expected-error@+1 {{expected operands and results of type 'tensor<2x3xf32>', got 'tensor<3x2xf32>'}}
  %r = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg2, %arg3, %arg4) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @batch_norm_training_c1(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>) {
  // expected-error@+1 {{expected feature_index in range [0, 2), got 2}}
  %r:3 = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg2) {epsilon = 0.0 : f32, feature_index = 2 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @batch_norm_training_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf64>, %arg2: tensor<3xf32>) {
  // expected-error@+1 {{expected numbers of type 'tensor<3xf32>', one per feature, got 'tensor<3xf64>'}}
  %r:3 = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg2) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf64>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @batch_norm_training_c3(%arg0: tensor<2x3xf32>, %arg1: tensor<2xf32>, %arg2: tensor<3xf32>) {
  // expected-error@+1 {{expected numbers of type 'tensor<3xf32>', one per feature, got 'tensor<2xf32>'}}
  %r:3 = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg2) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<2xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @batch_norm_training_c4(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<2xf32>) {
  // expected-error@+1 {{expected numbers of type 'tensor<3xf32>', one per feature, got 'tensor<2xf32>'}}
  %r:3 = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg2) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @batch_norm_training_c5(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>) {
  // expected-error@+1 {{expected numbers of type 'tensor<3xf32>', one per feature, got 'tensor<2xf32>'}}
  %r:3 = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg2) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<3xf32>)
  return
}

// -----

func.func @batch_norm_training_c6(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>) {
  // expected-error@+1 {{expected numbers of type 'tensor<3xf32>', one per feature, got 'tensor<2xf32>'}}
  %r:3 = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg2) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<2xf32>)
  return
}

// -----

func.func @batch_norm_training_c7(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>) {
  // expected-error@+1 {{expected operands and results of type 'tensor<2x3xf32>', got 'tensor<3x2xf32>'}}
  %r:3 = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg2) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3x2xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @batch_norm_grad_c1(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>, %arg3: tensor<3xf32>, %arg4: tensor<2x3xf32>) {
  // expected-error@+1 {{expected feature_index in range [0, 2), got 2}}
  %r:3 = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg2, %arg3, %arg4) {epsilon = 0.0 : f32, feature_index = 2 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @batch_norm_grad_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf64>, %arg2: tensor<3xf32>, %arg3: tensor<3xf32>, %arg4: tensor<2x3xf32>) {
  // expected-error@+1 {{expected numbers of type 'tensor<3xf32>', one per feature, got 'tensor<3xf64>'}}
  %r:3 = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg2, %arg3, %arg4) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf64>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @batch_norm_grad_c3(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>, %arg3: tensor<3xf32>, %arg4: tensor<3x3xf32>) {
  // expected-error@+1 {{expected operands and results of type 'tensor<2x3xf32>', got 'tensor<3x3xf32>'}}
  %r:3 = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg2, %arg3, %arg4) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @batch_norm_grad_c4(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<2xf32>, %arg3: tensor<3xf32>, %arg4: tensor<2x3xf32>) {
  // expected-error@+1 {{expected numbers of type 'tensor<3xf32>', one per feature, got 'tensor<2xf32>'}}
  %r:3 = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg2, %arg3, %arg4) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @batch_norm_grad_c5(%arg0: tensor<2x3xf32>, %arg1: tensor<2xf32>, %arg2: tensor<2xf32>, %arg3: tensor<2xf32>, %arg4: tensor<2x3xf32>) {
  // expected-error@+1 {{expected numbers of type 'tensor<3xf32>', one per feature, got 'tensor<2xf32>'}}
  %r:3 = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg2, %arg3, %arg4) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @rng_c1(%arg0: tensor<f32>, %arg1: tensor<f64>, %arg2: tensor<1xi64>) {
  // expected-error@+1 {{expected a, b and result of one element type, got 'tensor<f32>', 'tensor<f64>' and 'tensor<?xf32>'}}
  %r = "stablehlo.rng"(%arg0, %arg1, %arg2) {rng_distribution = #stablehlo<rng_distribution UNIFORM>} : (tensor<f32>, tensor<f64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @rng_c2(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<1xi64>) {
  // expected-error@+1 {{expected numbers of a float type for NORMAL, got 'i32'}}
  %r = "stablehlo.rng"(%arg0, %arg1, %arg2) {rng_distribution = #stablehlo<rng_distribution NORMAL>} : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<?xi32>
  return
}

// -----

func.func @rng_c3(%arg0: tensor<f32>, %arg1: tensor<f32>) {
  %k = stablehlo.constant dense<2> : tensor<1xi64>
  // expected-error@+1 {{expected a result of shape [2], got [3]}}
  %r = "stablehlo.rng"(%arg0, %arg1, %k) {rng_distribution = #stablehlo<rng_distribution UNIFORM>} : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @rng_bit_generator_c1(%arg0: tensor<2xui64>) {
  // expected-error@+1 {{expected a result of type 'tensor<2xui64>', got 'tensor<2xui32>'}}
  %r:2 = "stablehlo.rng_bit_generator"(%arg0) {rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>} : (tensor<2xui64>) -> (tensor<2xui32>, tensor<2xui32>)
  return
}

// -----

func.func @rng_bit_generator_c2(%arg0: tensor<3xui64>) {
  // expected-error@+1 {{expected a state of 2 numbers, got 'tensor<3xui64>'}}
  %r:2 = "stablehlo.rng_bit_generator"(%arg0) {rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>} : (tensor<3xui64>) -> (tensor<3xui64>, tensor<2xui32>)
  return
}
