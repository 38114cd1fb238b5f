//===-- SpecialFunctions.cpp - Functions without a C function --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// erf_inv: M. Giles, Approximating the erfinv function (2010): a polynomial in -log(1 - x^2) for the
// middle, others in its square root for the tails.
//
// digamma: recurrence up to 10 and the asymptotic series from there; below 1/2 reflected,
// digamma(x) = digamma(1 - x) - pi / tan(pi x).
//
// zeta: Euler-Maclaurin summation; F. Johansson, Rigorous high-precision computation of the Hurwitz zeta
// function and its derivatives (2015), formula 5.
//
// bessel_i1e: S. Moshier, Cephes Math Library (1984-), i1e.
//
//===----------------------------------------------------------------------------===//
#include "SpecialFunctions.h"
#include "Formula.h"
#include "ScalarConvert.h"
#include "ir/RuntimeOps.h"

#include <numbers>

using namespace mlir;

namespace cgx {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Value extended(ImplicitLocOpBuilder &b, Value x, FloatType type) {
  return x.getType() == type ? x : arith::ExtFOp::create(b, type, x).getResult();
}

Value truncated(ImplicitLocOpBuilder &b, Value x, Type type) {
  return x.getType() == type ? x : truncateFloat(b, x, cast<FloatType>(type));
}

/// Computes in f64.
template <typename Function, typename... Values>
Value inF64(ImplicitLocOpBuilder &b, Function function, Value first, Values... rest) {
  auto wide = [&](Value x) { return Term{&b, extended(b, x, b.getF64Type())}; };
  return truncated(b, function(wide(first), wide(rest)...).value, first.getType());
}

Value both(Term x, Value first, Value second) { return arith::AndIOp::create(*x.b, first, second); }

/// Returns the negative logarithm of (1 - x) (1 + x), where 1 - x is exact in the tails.
Term negativeLogOfComplement(Term x) { return -((-x + 1) * (x + 1)).apply<math::LogOp>(); }

Term atEnds(Term x, Term result) { return (x * infinity).where(x.apply<math::AbsFOp>() == 1.0, result); }

Term erfInv32(Term x) {
  constexpr double middle[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                               -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  constexpr double tails[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                              -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  Term w = negativeLogOfComplement(x);
  Term p = (w - 2.5).polynomial(middle).where(w < 5, (w.apply<math::SqrtOp>() - 3).polynomial(tails));
  return atEnds(x, x * p);
}

Term erfInv64(Term x) {
  constexpr double middle[] = {
      -3.6444120640178196996e-21, -1.685059138182016589e-19,  1.2858480715256400167e-18,
      1.115787767802518096e-17,   -1.333171662854620906e-16,  2.0972767875968561637e-17,
      6.6376381343583238325e-15,  -4.0545662729752068639e-14, -8.1519341976054721522e-14,
      2.6335093153082322977e-12,  -1.2975133253453532498e-11, -5.4154120542946279317e-11,
      1.051212273321532285e-09,   -4.1126339803469836976e-09, -2.9070369957882005086e-08,
      4.2347877827932403518e-07,  -1.3654692000834678645e-06, -1.3882523362786468719e-05,
      0.0001867342080340571352,   -0.00074070253416626697512, -0.0060336708714301490533,
      0.24015818242558961693,     1.6536545626831027356};
  constexpr double tails[] = {
      2.2137376921775787049e-09, 9.0756561938885390979e-08, -2.7517406297064545428e-07,
      1.8239629214389227755e-08, 1.5027403968909827627e-06, -4.013867526981545969e-06,
      2.9234449089955446044e-06, 1.2475304481671778723e-05, -4.7318229009055733981e-05,
      6.8284851459573175448e-05, 2.4031110387097893999e-05, -0.0003550375203628474796,
      0.00095328937973738049703, -0.0016882755560235047313, 0.0024914420961078508066,
      -0.0037512085075692412107, 0.005370914553590063617,   1.0052589676941592334,
      3.0838856104922207635};
  constexpr double ends[] = {
      -2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09,
      -3.7894654401267369937e-09, 7.6157012080783393804e-09,  -1.4960026627149240478e-08,
      2.9147953450901080826e-08,  -6.7711997758452339498e-08, 2.2900482228026654717e-07,
      -9.9298272942317002539e-07, 4.5260625972231537039e-06,  -1.9681778105531670567e-05,
      7.5995277030017761139e-05,  -0.00021503011930044477347, -0.00013871931833623122026,
      1.0103004648645343977,      4.8499064014085844221};
  Term w = negativeLogOfComplement(x), root = w.apply<math::SqrtOp>();
  Term p = (root - 3.25).polynomial(tails).where(w < 16, (root - 5).polynomial(ends));
  p = (w - 3.125).polynomial(middle).where(w < 6.25, p);
  return atEnds(x, x * p);
}

Term digamma(Term x) {
  Value isReflected = x < 0.5;
  Term shifted = (-x + 1).where(isReflected, x), steps = x.of(0.0);
  for (int i = 0; i < 10; ++i) { // digamma(x) = digamma(x + 1) - 1 / x
    Value isSmall = shifted < 10;
    steps = (steps + x.of(1.0) / shifted).where(isSmall, steps);
    shifted = (shifted + 1).where(isSmall, shifted);
  }
  Term inverse = x.of(1.0) / shifted, square = inverse * inverse;
  Term series =
      square * square.polynomial({1. / 12, -691. / 32760, 1. / 132, -1. / 240, 1. / 252, -1. / 120, 1. / 12});
  Term main = shifted.apply<math::LogOp>() - inverse * 0.5 - series - steps;
  Term fraction = x - x.apply<math::RoundEvenOp>();
  Term reflection = main - x.of(std::numbers::pi) / (fraction * std::numbers::pi).apply<math::TanOp>();
  Term result = reflection.where(isReflected, main);
  Value isPole = both(x, x.compare(arith::CmpFPredicate::OLE, 0), x.isWhole());
  return x.of(nan).where(isPole, result);
}

/// Computes the zeta function for q > 0.
Term zetaOfPositive(Term x, Term q) {
  // These are (2 k)! / B_2k, k from 12 down to 1, of the Bernoulli numbers B.
  constexpr double divisors[] = {-7.1661652561756670113e18,
                                 1.8152105401943546773e17,
                                 -4.5979787224074726105e15,
                                 1.1646782814350067249e14,
                                 -2.950130727918164224e12,
                                 7.47242496e10,
                                 -1.8924375803183791606e9,
                                 47900160.0,
                                 -1209600.0,
                                 30240.0,
                                 -720.0,
                                 12.0};
  Term sum = q.apply<math::PowFOp>(-x), base = q;
  for (int i = 0; i < 9; ++i) {
    base = base + 1;
    sum = sum + base.apply<math::PowFOp>(-x);
  }
  base = base + 1;
  Term power = base.apply<math::PowFOp>(-x), inverseSquare = x.of(1.0) / (base * base), series = x.of(0.0);
  double offset = 22;
  for (double divisor : ArrayRef(divisors).drop_back()) {
    series = (x + offset) * (x + (offset - 1)) * (inverseSquare * (series + 1 / divisor));
    offset -= 2;
  }
  series = power * (x / base * (series + 1 / std::end(divisors)[-1]) + 0.5);
  Term result = sum + power * base / (x - 1) + series;
  return sum.where(power == 0.0, result); // the rest is too small, or not a number
}

Term zeta(Term x, Term q) {
  Value isNegative = q < 0, isEven = (x * 0.5).isWhole();
  // The terms below 0 are, but for the sign, those of the sum that runs the other way.
  Term fraction = q - q.apply<math::FloorOp>();
  Term below = zetaOfPositive(x, -fraction + 1) - zetaOfPositive(x, -q + 1);
  Term positive = zetaOfPositive(x, fraction.where(isNegative, q));
  Term result = (positive + below.where(isEven, -below)).where(isNegative, positive);
  Value isPole = both(x, q.compare(arith::CmpFPredicate::OLE, 0), q.isWhole());
  result = x.of(infinity).where(isEven, nan).where(isPole, result);
  Value isReal = both(x, x.isWhole(), q.compare(arith::CmpFPredicate::OLE, 0));
  isReal = arith::OrIOp::create(*x.b, isReal, q.compare(arith::CmpFPredicate::UGT, 0));
  result = result.where(isReal, nan);
  result = x.of(nan).where(x < 1, result);
  return x.of(infinity).where(x == 1.0, result);
}

Term libm(StringRef function, Term x) {
  return x.of(rt::LibmOp::create(*x.b, x.value.getType(), function, x.value));
}

Term polygamma(Term order, Term x) {
  Term magnitude = libm("tgamma", order + 1) * zeta(order + 1, x);
  Term result = (-magnitude).where((order * 0.5).isWhole(), magnitude);
  result = digamma(x).where(order == 0.0, result);
  Value isOrder = both(x, order.compare(arith::CmpFPredicate::OGE, 0), order.isWhole());
  return result.where(isOrder, nan);
}

/// Evaluates a series of Chebyshev polynomials, by Clenshaw's recurrence.
Term chebyshev(Term x, ArrayRef<double> coefficients) {
  Term sums[3] = {x.of(0.0), x.of(0.0), x.of(0.0)};
  for (double coefficient : coefficients) {
    sums[2] = sums[1];
    sums[1] = sums[0];
    sums[0] = x * sums[1] - sums[2] + coefficient;
  }
  return (sums[0] - sums[2]) * 0.5;
}

Term besselI1e(Term x) {
  constexpr double upTo8[] = {
      2.77791411276104639959e-18,  -2.11142121435816608115e-17, 1.55363195773620046921e-16,
      -1.10559694773538630805e-15, 7.60068429473540693410e-15,  -5.04218550472791168711e-14,
      3.22379336594557470981e-13,  -1.98397439776494371520e-12, 1.17361862988909016308e-11,
      -6.66348972350202774223e-11, 3.62559028155211703701e-10,  -1.88724975172282928790e-9,
      9.38153738649577178388e-9,   -4.44505912879632808065e-8,  2.00329475355213526229e-7,
      -8.56872026469545474066e-7,  3.47025130813767847674e-6,   -1.32731636560394358279e-5,
      4.78156510755005422638e-5,   -1.61760815825896745588e-4,  5.12285956168575772895e-4,
      -1.51357245063125314899e-3,  4.15642294431288815669e-3,   -1.05640848946261981558e-2,
      2.47264490306265168283e-2,   -5.29459812080949914269e-2,  1.02643658689847095384e-1,
      -1.76416518357834055153e-1,  2.52587186443633654823e-1};
  constexpr double beyond[] = {
      7.51729631084210481353e-18,  4.41434832307170791151e-18,  -4.65030536848935832153e-17,
      -3.20952592199342395980e-17, 2.96262899764595013876e-16,  3.30820231092092828324e-16,
      -1.88035477551078244854e-15, -3.81440307243700780478e-15, 1.04202769841288027642e-14,
      4.27244001671195135429e-14,  -2.10154184277266431302e-14, -4.08355111109219731823e-13,
      -7.19855177624590851209e-13, 2.03562854414708950722e-12,  1.41258074366137813316e-11,
      3.25260358301548823856e-11,  -1.89749581235054123450e-11, -5.58974346219658380687e-10,
      -3.83538038596423702205e-9,  -2.63146884688951950684e-8,  -2.51223623787020892529e-7,
      -3.88256480887769039346e-6,  -1.10588938762623716291e-4,  -9.76109749136146840777e-3,
      7.78576235018280120474e-1};
  Term magnitude = x.apply<math::AbsFOp>();
  Term small = chebyshev(magnitude * 0.5 - 2, upTo8) * magnitude;
  Term large = chebyshev(x.of(32.0) / magnitude - 2, beyond) / magnitude.apply<math::SqrtOp>();
  Value isSmall = magnitude.compare(arith::CmpFPredicate::OLE, 8);
  return small.where(isSmall, large).apply<math::CopySignOp>(x);
}

} // namespace

Value emitErfInv(ImplicitLocOpBuilder &b, Value x) {
  if (x.getType().isF64())
    return erfInv64({&b, x}).value;
  return truncated(b, erfInv32({&b, extended(b, x, b.getF32Type())}).value, x.getType());
}
Value emitLgamma(ImplicitLocOpBuilder &b, Value x) {
  return inF64(b, [](Term x) { return libm("lgamma", x); }, x);
}
Value emitDigamma(ImplicitLocOpBuilder &b, Value x) { return inF64(b, digamma, x); }
Value emitPolygamma(ImplicitLocOpBuilder &b, Value order, Value x) { return inF64(b, polygamma, order, x); }
Value emitZeta(ImplicitLocOpBuilder &b, Value x, Value q) { return inF64(b, zeta, x, q); }
Value emitBesselI1e(ImplicitLocOpBuilder &b, Value x) { return inF64(b, besselI1e, x); }

} // namespace cgx
