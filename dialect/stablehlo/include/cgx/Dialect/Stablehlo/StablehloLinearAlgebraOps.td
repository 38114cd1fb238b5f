//===-- StablehloLinearAlgebraOps.td - Fourier transforms and systems of equations -*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_DIALECT_STABLEHLO_STABLEHLOLINEARALGEBRAOPS_TD
#define CGX_DIALECT_STABLEHLO_STABLEHLOLINEARALGEBRAOPS_TD

include "cgx/Dialect/Stablehlo/StablehloAttrs.td"
include "cgx/Dialect/Stablehlo/StablehloTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Stablehlo_FftOp : Stablehlo_Op<"fft", [Pure]> {
  let summary = "a Fourier transform of the last dimensions";
  let description = [{
    Example:
    ```mlir
    %1 = stablehlo.fft %0, type = FFT, length = [8] : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
    ```
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_FftTypeAttr:$fft_type, DenseI64ArrayAttr:$fft_length);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `type` `=` $fft_type `,` `length` `=` $fft_length attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_CholeskyOp : Stablehlo_Op<"cholesky", [Pure, SameOperandsAndResultType]> {
  let summary = "the triangular factor of positive definite matrices";
  let description = [{
    Example:
    ```mlir
    %1 = stablehlo.cholesky %0, lower = true : tensor<4x4xf32>
    ```
  }];
  let arguments = (ins Stablehlo_FloatOrComplexTensor:$a, DefaultValuedOptionalAttr<BoolAttr, "false">:$lower);
  let results = (outs Stablehlo_FloatOrComplexTensor:$result);
  let assemblyFormat = "$a (`,` `lower` `=` $lower^)? attr-dict `:` type($a)";
  let hasVerifier = 1;
}

def Stablehlo_TriangularSolveOp : Stablehlo_Op<"triangular_solve", [Pure]> {
  let summary = "solves systems of equations with a triangular matrix";
  let description = [{
    Example:
    ```mlir
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = true, lower = true,
        transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}>
        : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    ```
  }];
  let arguments = (ins Stablehlo_FloatOrComplexTensor:$a, Stablehlo_FloatOrComplexTensor:$b, BoolAttr:$left_side,
                       BoolAttr:$lower, BoolAttr:$unit_diagonal, Stablehlo_TransposeAttr:$transpose_a);
  let results = (outs Stablehlo_FloatOrComplexTensor:$result);
  let hasVerifier = 1;
}

#endif // CGX_DIALECT_STABLEHLO_STABLEHLOLINEARALGEBRAOPS_TD
