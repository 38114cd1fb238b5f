//===-- Formula.h - Formulas that emit arithmetic --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#ifndef CGX_PASSES_NATIVE_FORMULA_H
#define CGX_PASSES_NATIVE_FORMULA_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

namespace cgx {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// A float, or a vector of them, on which operators emit arithmetic. Numbers take the type of the other
/// operand.
struct Term {
  mlir::ImplicitLocOpBuilder *b;
  mlir::Value value;

  Term of(mlir::Value other) const { return {b, other}; }
  Term of(double number) const {
    mlir::Type type = value.getType();
    mlir::TypedAttr element = b->getFloatAttr(mlir::getElementTypeOrSelf(type), number);
    if (auto shaped = llvm::dyn_cast<mlir::ShapedType>(type))
      element = mlir::DenseElementsAttr::get(shaped, llvm::cast<mlir::Attribute>(element));
    return of(mlir::arith::ConstantOp::create(*b, element));
  }

  Term operator+(Term other) const { return of(mlir::arith::AddFOp::create(*b, value, other.value)); }
  Term operator-(Term other) const { return of(mlir::arith::SubFOp::create(*b, value, other.value)); }
  Term operator*(Term other) const { return of(mlir::arith::MulFOp::create(*b, value, other.value)); }
  Term operator/(Term other) const { return of(mlir::arith::DivFOp::create(*b, value, other.value)); }
  Term operator+(double number) const { return *this + of(number); }
  Term operator-(double number) const { return *this - of(number); }
  Term operator*(double number) const { return *this * of(number); }
  Term operator/(double number) const { return *this / of(number); }
  Term operator-() const { return of(mlir::arith::NegFOp::create(*b, value)); }

  /// Applies a function of the math dialect.
  template <typename OpTy> Term apply() const { return of(OpTy::create(*b, value)); }
  template <typename OpTy> Term apply(Term other) const { return of(OpTy::create(*b, value, other.value)); }
  /// Returns this * factor + summand, rounded once.
  Term fma(Term factor, Term summand) const {
    return of(mlir::math::FmaOp::create(*b, value, factor.value, summand.value));
  }
  Term fma(Term factor, double summand) const { return fma(factor, of(summand)); }

  mlir::Value compare(mlir::arith::CmpFPredicate predicate, Term other) const {
    return mlir::arith::CmpFOp::create(*b, predicate, value, other.value);
  }
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, double number) const {
    return compare(predicate, of(number));
  }
  mlir::Value operator<(double number) const { return compare(mlir::arith::CmpFPredicate::OLT, number); }
  mlir::Value operator>(double number) const { return compare(mlir::arith::CmpFPredicate::OGT, number); }
  mlir::Value operator==(double number) const { return compare(mlir::arith::CmpFPredicate::OEQ, number); }
  mlir::Value isNaN() const { return compare(mlir::arith::CmpFPredicate::UNO, *this); }
  /// Returns whether the value has no fraction; infinities have none.
  mlir::Value isWhole() const {
    return compare(mlir::arith::CmpFPredicate::OEQ, apply<mlir::math::FloorOp>());
  }

  /// Returns this where the condition holds, else `otherwise`.
  Term where(mlir::Value condition, Term otherwise) const {
    return of(mlir::arith::SelectOp::create(*b, condition, value, otherwise.value));
  }
  Term where(mlir::Value condition, double otherwise) const { return where(condition, of(otherwise)); }

  /// Returns the polynomial in this with these coefficients, that of the highest power first.
  Term polynomial(llvm::ArrayRef<double> coefficients) const {
    Term sum = of(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      sum = sum * *this + coefficient;
    return sum;
  }
  /// Evaluates the polynomial with one rounding per step.
  Term fusedPolynomial(llvm::ArrayRef<double> coefficients) const {
    Term sum = of(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      sum = sum.fma(*this, coefficient);
    return sum;
  }
};

} // namespace cgx

#endif // CGX_PASSES_NATIVE_FORMULA_H
