//===-- ComplexMath.h - Complex numbers as two real ones -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#ifndef CGX_PASSES_NATIVE_STABLEHLO_COMPLEXMATH_H
#define CGX_PASSES_NATIVE_STABLEHLO_COMPLEXMATH_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace cgx {

/// The real and the imaginary part of a tensor.
struct ComplexValue {
  mlir::Value re, im;
};

/// Arithmetic of complex tensors in StableHLO on real ones. Intermediate values overflow no earlier than
/// results do, but for products, which are the plain ones.
class ComplexMath {
public:
  explicit ComplexMath(mlir::ImplicitLocOpBuilder &b) : b(b) {}

  ComplexValue add(ComplexValue, ComplexValue);
  ComplexValue subtract(ComplexValue, ComplexValue);
  ComplexValue multiply(ComplexValue, ComplexValue);
  ComplexValue divide(ComplexValue, ComplexValue);
  ComplexValue negate(ComplexValue);
  ComplexValue conjugate(ComplexValue);
  ComplexValue power(ComplexValue base, ComplexValue exponent);
  ComplexValue exponential(ComplexValue);
  ComplexValue exponentialMinusOne(ComplexValue);
  ComplexValue logarithm(ComplexValue);
  ComplexValue logPlusOne(ComplexValue);
  /// Returns the greater number by the real part, then by the imaginary one.
  ComplexValue maximum(ComplexValue, ComplexValue);
  ComplexValue minimum(ComplexValue, ComplexValue);
  ComplexValue arcTangent(ComplexValue y, ComplexValue x);
  ComplexValue squareRoot(ComplexValue);
  ComplexValue cubeRoot(ComplexValue);
  ComplexValue reciprocalSquareRoot(ComplexValue);
  ComplexValue sine(ComplexValue);
  ComplexValue cosine(ComplexValue);
  ComplexValue tangent(ComplexValue);
  ComplexValue hyperbolicSine(ComplexValue);
  ComplexValue hyperbolicCosine(ComplexValue);
  ComplexValue hyperbolicTangent(ComplexValue);
  ComplexValue logistic(ComplexValue);
  ComplexValue arcSine(ComplexValue);
  ComplexValue arcCosine(ComplexValue);
  ComplexValue arcTangent(ComplexValue);
  ComplexValue inverseHyperbolicSine(ComplexValue);
  ComplexValue inverseHyperbolicCosine(ComplexValue);
  ComplexValue inverseHyperbolicTangent(ComplexValue);
  /// Returns z / |z|, and 0 for 0.
  ComplexValue sign(ComplexValue);
  mlir::Value modulus(ComplexValue);
  mlir::Value argument(ComplexValue);

  /// Returns `value` in every element of a tensor like this one.
  mlir::Value constant(mlir::Value like, double value);

private:
  template <typename OpTy> mlir::Value make(mlir::Value);
  template <typename OpTy> mlir::Value make(mlir::Value, mlir::Value);
  mlir::Value plus(mlir::Value, mlir::Value);
  mlir::Value minus(mlir::Value, mlir::Value);
  mlir::Value times(mlir::Value, mlir::Value);
  mlir::Value over(mlir::Value, mlir::Value);
  mlir::Value scaled(mlir::Value, double);
  mlir::Value magnitude(mlir::Value);
  mlir::Value choose(mlir::Value predicate, mlir::Value yes, mlir::Value no);
  mlir::Value equals(mlir::Value, double);
  mlir::Value isLess(mlir::Value, mlir::Value);
  mlir::Value precedes(ComplexValue, ComplexValue);
  mlir::Value both(mlir::Value, mlir::Value);
  mlir::Value isNegative(mlir::Value);
  mlir::Value sinh(mlir::Value);
  mlir::Value cosh(mlir::Value);
  mlir::Value logModulus(ComplexValue);

  mlir::ImplicitLocOpBuilder &b;
};

} // namespace cgx

#endif // CGX_PASSES_NATIVE_STABLEHLO_COMPLEXMATH_H
