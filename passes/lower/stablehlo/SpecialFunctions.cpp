//===-- SpecialFunctions.cpp - Functions without a C function --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// erf_inv: M. Giles, Approximating the erfinv function (2010), one polynomial in -log(1 - x^2) for the
// middle and one in its square root for the tails.
//
// lgamma, digamma: C. Lanczos, A precision approximation of the gamma function (1964), with g = 7 and nine
// coefficients, for x >= 1/2. Smaller ones are reflected: gamma(x) gamma(1 - x) = pi / sin(pi x).
//
//===----------------------------------------------------------------------------===//
#include "SpecialFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace cgx {
namespace {

/// Formulas on f32 as one would write them.
struct Term {
  ImplicitLocOpBuilder *b;
  Value value;

  Term of(Value other) const { return {b, other}; }
  Term of(double number) const { return of(arith::ConstantOp::create(*b, b->getF32FloatAttr(number))); }
  Term operator+(Term other) const { return of(arith::AddFOp::create(*b, value, other.value)); }
  Term operator-(Term other) const { return of(arith::SubFOp::create(*b, value, other.value)); }
  Term operator*(Term other) const { return of(arith::MulFOp::create(*b, value, other.value)); }
  Term operator/(Term other) const { return of(arith::DivFOp::create(*b, value, other.value)); }
  Term operator+(double number) const { return *this + of(number); }
  Term operator-(double number) const { return *this - of(number); }
  Term operator*(double number) const { return *this * of(number); }
  Term operator/(double number) const { return *this / of(number); }
  Term operator-() const { return of(arith::NegFOp::create(*b, value)); }
  /// A function of the math dialect.
  template <typename OpTy> Term apply() const { return of(OpTy::create(*b, value)); }
  Value compare(arith::CmpFPredicate predicate, Term other) const {
    return arith::CmpFOp::create(*b, predicate, value, other.value);
  }
  Value compare(arith::CmpFPredicate predicate, double number) const {
    return compare(predicate, of(number));
  }
  /// This where the condition holds.
  Term where(Value condition, Term otherwise) const {
    return of(arith::SelectOp::create(*b, condition, value, otherwise.value));
  }
};

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Computes in f32.
Value inF32(ImplicitLocOpBuilder &b, Value x, llvm::function_ref<Term(Term)> function) {
  auto type = cast<FloatType>(x.getType());
  if (type.getWidth() > 32)
    return nullptr;
  if (type.isF32())
    return function({&b, x}).value;
  return arith::TruncFOp::create(b, type, function({&b, arith::ExtFOp::create(b, b.getF32Type(), x)}).value);
}

/// Coefficients of the highest power first.
Term polynomial(Term x, ArrayRef<double> coefficients) {
  Term sum = x.of(coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = sum * x + coefficient;
  return sum;
}

Term erfInv(Term x) {
  constexpr double middle[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                               -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  constexpr double tails[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                              -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  Term w = -(-(x * x)).apply<math::Log1pOp>();
  Value inMiddle = w.compare(arith::CmpFPredicate::OLT, 5);
  Term p = polynomial(w - 2.5, middle).where(inMiddle, polynomial(w.apply<math::SqrtOp>() - 3, tails));
  Value atEnd = x.apply<math::AbsFOp>().compare(arith::CmpFPredicate::OEQ, 1);
  return x * x.of(infinity).where(atEnd, p);
}

constexpr double lanczosG = 7;
constexpr double lanczosFirst = 0.99999999999980993227684700473478;
constexpr double lanczos[] = {676.520368121885098567009190444019, -1259.13921672240287047156078755283,
                              771.3234287776530788486528258894,   -176.61502916214059906584551354,
                              12.507343278686904814458936853,     -0.13857109526572011689554707,
                              9.984369578019570859563e-6,         1.50563273514931155834e-7};

/// What lgamma and digamma share: gamma(z + 1) = sqrt(2 pi) t^(z + 1/2) e^-t sum.
struct LanczosTerms {
  explicit LanczosTerms(Term x)
      : reflected(x.compare(arith::CmpFPredicate::OLT, 0.5)), z((-x).where(reflected, x - 1)),
        sum(x.of(lanczosFirst)), derivative(x.of(0.0)), t(z + (lanczosG + 0.5)),
        logT((z / (lanczosG + 0.5)).apply<math::Log1pOp>() + std::log(lanczosG + 0.5)) {
    for (auto [i, coefficient] : llvm::enumerate(lanczos)) {
      Term pole = z + static_cast<double>(i + 1);
      sum = sum + x.of(coefficient) / pole;
      derivative = derivative - x.of(coefficient) / (pole * pole);
    }
  }
  Value reflected;
  Term z, sum, derivative, t, logT;
};

Term lgamma(Term x) {
  LanczosTerms of(x);
  // (z + 1/2) log t - t, without the cancellation of two large numbers.
  Term main = (of.z + 0.5 - of.t / of.logT) * of.logT + std::log(2 * std::numbers::pi) / 2 +
              of.sum.apply<math::LogOp>();
  // sin has its full accuracy for the distance to the nearest integer.
  Term magnitude = x.apply<math::AbsFOp>();
  Term fraction = magnitude - magnitude.apply<math::FloorOp>();
  Term distance = (-fraction + 1).where(fraction.compare(arith::CmpFPredicate::OGT, 0.5), fraction);
  Term logSine = (distance * std::numbers::pi).apply<math::SinOp>().apply<math::LogOp>();
  Value finite = logSine.apply<math::AbsFOp>().compare(arith::CmpFPredicate::OLT, infinity);
  Term reflection = (-logSine + std::log(std::numbers::pi) - main).where(finite, -logSine);
  Term result = reflection.where(of.reflected, main);
  return x.of(infinity).where(magnitude.compare(arith::CmpFPredicate::OEQ, infinity), result);
}

Term digamma(Term x) {
  LanczosTerms of(x);
  Term main = of.logT + of.derivative / of.sum - of.t.of(lanczosG) / of.t;
  Term nearest = (x + 0.5).apply<math::FloorOp>().apply<math::AbsFOp>();
  Term angle = (x + nearest) * std::numbers::pi;
  Term reflection = main - angle.apply<math::CosOp>() * std::numbers::pi / angle.apply<math::SinOp>();
  Term result = reflection.where(of.reflected, main);
  Value isPole = arith::AndIOp::create(*x.b, x.compare(arith::CmpFPredicate::OLE, 0),
                                       x.compare(arith::CmpFPredicate::OEQ, x.apply<math::FloorOp>()));
  return x.of(std::numeric_limits<double>::quiet_NaN()).where(isPole, result);
}

} // namespace

Value emitErfInv(ImplicitLocOpBuilder &b, Value x) { return inF32(b, x, erfInv); }
Value emitLgamma(ImplicitLocOpBuilder &b, Value x) { return inF32(b, x, lgamma); }
Value emitDigamma(ImplicitLocOpBuilder &b, Value x) { return inF32(b, x, digamma); }

} // namespace cgx
