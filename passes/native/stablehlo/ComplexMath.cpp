//===-- ComplexMath.cpp - Complex numbers as two real ones -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "ComplexMath.h"

#include "cgx/Dialect/Stablehlo/ChloDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/IR/TypeUtilities.h"

#include <limits>

using namespace mlir;

namespace cgx {

// ---- Real tensors --------------------------------------------------------------------

template <typename OpTy> Value ComplexMath::make(Value x) {
  return OpTy::create(b, TypeRange{x.getType()}, ValueRange{x})->getResult(0);
}
template <typename OpTy> Value ComplexMath::make(Value x, Value y) {
  return OpTy::create(b, TypeRange{x.getType()}, ValueRange{x, y})->getResult(0);
}

Value ComplexMath::constant(Value like, double value) {
  auto type = cast<RankedTensorType>(like.getType());
  return stablehlo::ConstantOp::create(
      b, type, DenseElementsAttr::get(type, b.getFloatAttr(type.getElementType(), value).getValue()));
}

Value ComplexMath::plus(Value x, Value y) { return make<stablehlo::AddOp>(x, y); }
Value ComplexMath::minus(Value x, Value y) { return make<stablehlo::SubtractOp>(x, y); }
Value ComplexMath::times(Value x, Value y) { return make<stablehlo::MulOp>(x, y); }
Value ComplexMath::over(Value x, Value y) { return make<stablehlo::DivOp>(x, y); }
Value ComplexMath::scaled(Value x, double factor) { return times(x, constant(x, factor)); }
Value ComplexMath::magnitude(Value x) { return make<stablehlo::AbsOp>(x); }

Value ComplexMath::choose(Value predicate, Value yes, Value no) {
  return stablehlo::SelectOp::create(b, yes.getType(), predicate, yes, no);
}

static Value compare(ImplicitLocOpBuilder &b, Value x, Value y, stablehlo::ComparisonDirection direction) {
  auto type = cast<RankedTensorType>(x.getType()).clone(b.getI1Type());
  return stablehlo::CompareOp::create(b, type, x, y, direction, /*compare_type=*/nullptr);
}

Value ComplexMath::equals(Value x, double value) {
  return compare(b, x, constant(x, value), stablehlo::ComparisonDirection::EQ);
}
Value ComplexMath::isLess(Value x, Value y) { return compare(b, x, y, stablehlo::ComparisonDirection::LT); }

Value ComplexMath::both(Value p, Value q) { return stablehlo::AndOp::create(b, p.getType(), p, q); }

/// Returns whether the sign bit is set, also that of zeros.
Value ComplexMath::isNegative(Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  auto bits = type.clone(b.getIntegerType(type.getElementTypeBitWidth()));
  Value pattern = stablehlo::BitcastConvertOp::create(b, bits, x);
  return isLess(pattern, stablehlo::ConstantOp::create(b, bits, cast<ElementsAttr>(b.getZeroAttr(bits))));
}

/// Computes sinh without the cancellation of e^x - e^-x near 0.
Value ComplexMath::sinh(Value x) {
  return scaled(minus(make<stablehlo::Expm1Op>(x), make<stablehlo::Expm1Op>(make<stablehlo::NegOp>(x))), 0.5);
}
Value ComplexMath::cosh(Value x) {
  return scaled(plus(make<stablehlo::ExpOp>(x), make<stablehlo::ExpOp>(make<stablehlo::NegOp>(x))), 0.5);
}

// ---- Arithmetic ----------------------------------------------------------------------

ComplexValue ComplexMath::add(ComplexValue x, ComplexValue y) { return {plus(x.re, y.re), plus(x.im, y.im)}; }
ComplexValue ComplexMath::subtract(ComplexValue x, ComplexValue y) {
  return {minus(x.re, y.re), minus(x.im, y.im)};
}
ComplexValue ComplexMath::multiply(ComplexValue x, ComplexValue y) {
  return {minus(times(x.re, y.re), times(x.im, y.im)), plus(times(x.re, y.im), times(x.im, y.re))};
}
ComplexValue ComplexMath::negate(ComplexValue x) {
  return {make<stablehlo::NegOp>(x.re), make<stablehlo::NegOp>(x.im)};
}
ComplexValue ComplexMath::conjugate(ComplexValue x) { return {x.re, make<stablehlo::NegOp>(x.im)}; }

/// Divides by Smith's algorithm: with r the quotient of the divisor's parts, the smaller by the greater,
/// nothing is squared. Numbers divided by zero are infinite in the parts that are not zero.
ComplexValue ComplexMath::divide(ComplexValue x, ComplexValue y) {
  Value realIsLess = isLess(magnitude(y.re), magnitude(y.im));
  Value greater = choose(realIsLess, y.im, y.re), smaller = choose(realIsLess, y.re, y.im);
  Value ratio = over(smaller, greater), divisor = plus(greater, times(smaller, ratio));
  // (re + im r, im - re r) where the real part is greater, (re r + im, im r - re) elsewhere.
  Value re = plus(choose(realIsLess, times(x.re, ratio), x.re), choose(realIsLess, x.im, times(x.im, ratio)));
  Value im =
      minus(choose(realIsLess, times(x.im, ratio), x.im), choose(realIsLess, x.re, times(x.re, ratio)));
  Value isZero = equals(greater, 0);
  return {choose(isZero, over(x.re, y.re), over(re, divisor)),
          choose(isZero, over(x.im, y.re), over(im, divisor))};
}

Value ComplexMath::modulus(ComplexValue x) {
  Value a = magnitude(x.re), c = magnitude(x.im);
  Value greater = make<stablehlo::MaxOp>(a, c), smaller = make<stablehlo::MinOp>(a, c);
  Value ratio = over(smaller, greater);
  Value length = times(greater, make<stablehlo::SqrtOp>(plus(constant(ratio, 1), times(ratio, ratio))));
  Value isInfinite = equals(greater, std::numeric_limits<double>::infinity());
  return choose(isInfinite, greater, choose(equals(smaller, 0), greater, length));
}

Value ComplexMath::argument(ComplexValue x) { return make<stablehlo::Atan2Op>(x.im, x.re); }

Value ComplexMath::precedes(ComplexValue x, ComplexValue y) {
  Value equal = compare(b, x.re, y.re, stablehlo::ComparisonDirection::EQ);
  return stablehlo::OrOp::create(b, equal.getType(), isLess(x.re, y.re), both(equal, isLess(x.im, y.im)));
}
ComplexValue ComplexMath::maximum(ComplexValue x, ComplexValue y) {
  Value less = precedes(x, y);
  return {choose(less, y.re, x.re), choose(less, y.im, x.im)};
}
ComplexValue ComplexMath::minimum(ComplexValue x, ComplexValue y) {
  Value less = precedes(y, x);
  return {choose(less, y.re, x.re), choose(less, y.im, x.im)};
}

ComplexValue ComplexMath::sign(ComplexValue x) {
  Value length = modulus(x), isZero = equals(length, 0);
  return {choose(isZero, x.re, over(x.re, length)), choose(isZero, x.im, over(x.im, length))};
}

// ---- Exponentials and logarithms -----------------------------------------------------

ComplexValue ComplexMath::exponential(ComplexValue x) {
  Value length = make<stablehlo::ExpOp>(x.re);
  Value im = times(length, make<stablehlo::SineOp>(x.im));
  return {times(length, make<stablehlo::CosineOp>(x.im)), choose(equals(x.im, 0), x.im, im)};
}

/// Computes exp(x) - 1, with the real part e^a cos b - 1 = (e^a - 1) cos b - 2 sin^2(b / 2).
ComplexValue ComplexMath::exponentialMinusOne(ComplexValue x) {
  Value half = make<stablehlo::SineOp>(scaled(x.im, 0.5));
  Value re = minus(times(make<stablehlo::Expm1Op>(x.re), make<stablehlo::CosineOp>(x.im)),
                   scaled(times(half, half), 2));
  return {re, exponential(x).im};
}

/// Computes log |x|. Near 1 it is log1p(|x|^2 - 1) / 2, of which the difference is taken first.
Value ComplexMath::logModulus(ComplexValue x) {
  Value a = magnitude(x.re), c = magnitude(x.im);
  Value greater = make<stablehlo::MaxOp>(a, c), smaller = make<stablehlo::MinOp>(a, c);
  Value one = constant(a, 1);
  Value excess = plus(times(minus(greater, one), plus(greater, one)), times(smaller, smaller));
  Value near = scaled(make<stablehlo::Log1pOp>(excess), 0.5);
  Value ratio = choose(equals(smaller, 0), smaller, over(smaller, greater));
  Value isInfinite = equals(greater, std::numeric_limits<double>::infinity());
  ratio = choose(isInfinite, constant(ratio, 0), ratio);
  Value far =
      plus(make<stablehlo::LogOp>(greater), scaled(make<stablehlo::Log1pOp>(times(ratio, ratio)), 0.5));
  Value isNear = both(isLess(constant(a, 0.5), greater), isLess(greater, constant(a, 3)));
  return choose(isNear, near, far);
}

ComplexValue ComplexMath::logarithm(ComplexValue x) { return {logModulus(x), argument(x)}; }

/// Computes log(1 + x), with the real part log |1 + x| = log1p(a (2 + a) + b^2) / 2, as long as nothing
/// overflows.
ComplexValue ComplexMath::logPlusOne(ComplexValue x) {
  ComplexValue sum{plus(x.re, constant(x.re, 1)), x.im};
  Value excess = plus(times(x.re, plus(x.re, constant(x.re, 2))), times(x.im, x.im));
  Value isSmall = isLess(make<stablehlo::MaxOp>(magnitude(x.re), magnitude(x.im)), constant(x.re, 0.5));
  Value re = choose(isSmall, scaled(make<stablehlo::Log1pOp>(excess), 0.5), logModulus(sum));
  return {re, argument(sum)};
}

/// Computes exp(y log x); a power of zero is 1 if the exponent is zero, and 0 if it is real and positive.
ComplexValue ComplexMath::power(ComplexValue base, ComplexValue exponent) {
  ComplexValue general = exponential(multiply(exponent, logarithm(base)));
  Value isZero = both(equals(base.re, 0), equals(base.im, 0));
  Value toNothing = both(equals(exponent.re, 0), equals(exponent.im, 0));
  Value zero = constant(base.re, 0), one = constant(base.re, 1);
  Value ofZero = both(isZero, both(isLess(zero, exponent.re), equals(exponent.im, 0)));
  return {choose(toNothing, one, choose(ofZero, zero, general.re)),
          choose(toNothing, zero, choose(ofZero, zero, general.im))};
}

// ---- Roots ---------------------------------------------------------------------------

/// Computes the root with t = sqrt((|a| + |x|) / 2): (t, b / 2t) where a is positive, (|b| / 2t, t with the
/// sign of b) elsewhere.
ComplexValue ComplexMath::squareRoot(ComplexValue x) {
  Value t = make<stablehlo::SqrtOp>(plus(scaled(magnitude(x.re), 0.5), scaled(modulus(x), 0.5)));
  Value isZero = equals(t, 0), quotient = choose(isZero, x.im, over(x.im, scaled(t, 2)));
  Value left = isNegative(x.re);
  Value signedT = choose(isNegative(x.im), make<stablehlo::NegOp>(t), t);
  return {choose(left, magnitude(quotient), t), choose(left, signedT, quotient)};
}

/// Computes 1 / sqrt(x).
ComplexValue ComplexMath::reciprocalSquareRoot(ComplexValue x) {
  ComplexValue one{constant(x.re, 1), constant(x.re, 0)};
  return divide(one, squareRoot(x));
}

ComplexValue ComplexMath::cubeRoot(ComplexValue x) {
  return power(x, {constant(x.re, 1.0 / 3), constant(x.re, 0)});
}

// ---- Trigonometric functions ---------------------------------------------------------

ComplexValue ComplexMath::sine(ComplexValue x) {
  return {times(make<stablehlo::SineOp>(x.re), cosh(x.im)),
          times(make<stablehlo::CosineOp>(x.re), sinh(x.im))};
}
ComplexValue ComplexMath::cosine(ComplexValue x) {
  return {times(make<stablehlo::CosineOp>(x.re), cosh(x.im)),
          make<stablehlo::NegOp>(times(make<stablehlo::SineOp>(x.re), sinh(x.im)))};
}
ComplexValue ComplexMath::hyperbolicSine(ComplexValue x) {
  return {times(sinh(x.re), make<stablehlo::CosineOp>(x.im)),
          times(cosh(x.re), make<stablehlo::SineOp>(x.im))};
}
ComplexValue ComplexMath::hyperbolicCosine(ComplexValue x) {
  return {times(cosh(x.re), make<stablehlo::CosineOp>(x.im)),
          times(sinh(x.re), make<stablehlo::SineOp>(x.im))};
}

/// Computes (sinh a cosh a + i sin b cos b) / (sinh^2 a + cos^2 b). Beyond 20, or 40 in f64, the real part is
/// 1 to the last bit; limiting `a` to that keeps squares finite.
ComplexValue ComplexMath::hyperbolicTangent(ComplexValue x) {
  double limit = getElementTypeOrSelf(x.re).getIntOrFloatBitWidth() > 32 ? 40 : 20;
  Value a =
      make<stablehlo::MaxOp>(make<stablehlo::MinOp>(x.re, constant(x.re, limit)), constant(x.re, -limit));
  Value sinhA = sinh(a), sinB = make<stablehlo::SineOp>(x.im), cosB = make<stablehlo::CosineOp>(x.im);
  Value divisor = plus(times(sinhA, sinhA), times(cosB, cosB));
  return {over(times(sinhA, cosh(a)), divisor), over(times(sinB, cosB), divisor)};
}

/// Computes tan x = -i tanh(i x).
ComplexValue ComplexMath::tangent(ComplexValue x) {
  ComplexValue turned = hyperbolicTangent({make<stablehlo::NegOp>(x.im), x.re});
  return {turned.im, make<stablehlo::NegOp>(turned.re)};
}

/// Computes -i log((x + i y) / sqrt(x^2 + y^2)).
ComplexValue ComplexMath::arcTangent(ComplexValue y, ComplexValue x) {
  ComplexValue turned{minus(x.re, y.im), plus(x.im, y.re)};
  ComplexValue logarithmic = logarithm(divide(turned, squareRoot(add(multiply(x, x), multiply(y, y)))));
  return {logarithmic.im, make<stablehlo::NegOp>(logarithmic.re)};
}

/// Computes (1 + tanh(x / 2)) / 2.
ComplexValue ComplexMath::logistic(ComplexValue x) {
  ComplexValue t = hyperbolicTangent({scaled(x.re, 0.5), scaled(x.im, 0.5)});
  return {plus(scaled(t.re, 0.5), constant(t.re, 0.5)), scaled(t.im, 0.5)};
}

// ---- Inverse functions ---------------------------------------------------------------
//
// By W. Kahan, Branch Cuts for Complex Elementary Functions: roots of 1 - z and 1 + z instead of that of
// 1 - z^2, which cancels near 1 and overflows early.

ComplexValue ComplexMath::arcSine(ComplexValue z) {
  Value one = constant(z.re, 1);
  ComplexValue below = squareRoot({minus(one, z.re), make<stablehlo::NegOp>(z.im)});
  ComplexValue above = squareRoot({plus(one, z.re), z.im});
  Value re = make<stablehlo::Atan2Op>(z.re, multiply(below, above).re);
  return {re, make<chlo::AsinhOp>(multiply(conjugate(below), above).im)};
}

ComplexValue ComplexMath::arcCosine(ComplexValue z) {
  Value one = constant(z.re, 1);
  ComplexValue below = squareRoot({minus(one, z.re), make<stablehlo::NegOp>(z.im)});
  ComplexValue above = squareRoot({plus(one, z.re), z.im});
  Value re = scaled(make<stablehlo::Atan2Op>(below.re, above.re), 2);
  return {re, make<chlo::AsinhOp>(multiply(conjugate(above), below).im)};
}

ComplexValue ComplexMath::inverseHyperbolicCosine(ComplexValue z) {
  Value one = constant(z.re, 1);
  ComplexValue below = squareRoot({minus(z.re, one), z.im}), above = squareRoot({plus(z.re, one), z.im});
  Value im = scaled(make<stablehlo::Atan2Op>(below.im, above.re), 2);
  return {make<chlo::AsinhOp>(multiply(conjugate(below), above).re), im};
}

/// Computes (log1p(4 |x| / ((1 - |x|)^2 + y^2)) / 4 with the sign of x, atan2(2 y, (1 - x) (1 + x) - y^2) /
/// 2).
ComplexValue ComplexMath::inverseHyperbolicTangent(ComplexValue z) {
  Value one = constant(z.re, 1), x = magnitude(z.re), square = times(z.im, z.im), fromOne = minus(one, x);
  Value ratio = over(scaled(x, 4), plus(times(fromOne, fromOne), square));
  Value length = scaled(make<stablehlo::Log1pOp>(ratio), 0.25);
  Value re = choose(isNegative(z.re), make<stablehlo::NegOp>(length), length);
  Value im = make<stablehlo::Atan2Op>(scaled(z.im, 2), minus(times(fromOne, plus(one, x)), square));
  return {re, scaled(im, 0.5)};
}

/// Computes f(z) as -i g(i z).
ComplexValue ComplexMath::inverseHyperbolicSine(ComplexValue z) {
  ComplexValue turned = arcSine({make<stablehlo::NegOp>(z.im), z.re});
  return {turned.im, make<stablehlo::NegOp>(turned.re)};
}
ComplexValue ComplexMath::arcTangent(ComplexValue z) {
  ComplexValue turned = inverseHyperbolicTangent({make<stablehlo::NegOp>(z.im), z.re});
  return {turned.im, make<stablehlo::NegOp>(turned.re)};
}

} // namespace cgx
