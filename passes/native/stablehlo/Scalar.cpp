//===-- Scalar.cpp - StableHLO on one element ------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "Scalar.h"
#include "Conversion.h"
#include "NarrowTypes.h"
#include "ScalarConvert.h"
#include "SpecialFunctions.h"

#include "cgx/Dialect/Stablehlo/ChloDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace cgx {
namespace {

/// One operand's element: the builder at its place, the converted scalars, and the
/// original element type, which has the sign.
struct Element {
  ImplicitLocOpBuilder &b;
  ValueRange in;
  Type type;

  bool isFloat() const { return isa<FloatType>(type); }
  bool isInteger() const { return isa<IntegerType>(type); }
  bool isBool() const { return type.isInteger(1); }
  Type signless() const { return in[0].getType(); }
  unsigned width() const { return type.getIntOrFloatBitWidth(); }

  Value number(double value) const { return arith::ConstantOp::create(b, b.getFloatAttr(signless(), value)); }
  Value number(const APInt &value) const {
    return arith::ConstantOp::create(b, b.getIntegerAttr(signless(), value));
  }
  Value zero() const { return isFloat() ? number(0.0) : number(APInt(width(), 0)); }

  /// Creates one operation of the same type as the operands.
  template <typename OpTy> Value make() const { return OpTy::create(b, in); }
  /// Creates the operation if the element is a float.
  template <typename OpTy> Value makeFloat() const { return isFloat() ? make<OpTy>() : Value(); }
  /// Creates the operation for the kind of element; booleans are a kind of their own.
  template <typename FloatOp, typename SignedOp, typename UnsignedOp, typename BoolOp> Value choose() const {
    if (isFloat())
      return make<FloatOp>();
    if (isBool())
      return make<BoolOp>();
    if (!isInteger())
      return nullptr;
    return isUnsigned(type) ? make<UnsignedOp>() : make<SignedOp>();
  }
};

/// Divides integers. XLA defines cases that C does not: x / 0 = -1 (all ones), x % 0 = x, and the one
/// quotient that overflows wraps.
Value divideIntegers(const Element &e, bool remainder) {
  ImplicitLocOpBuilder &b = e.b;
  Value x = e.in[0], y = e.in[1], zero = e.zero(), one = e.number(APInt(e.width(), 1));
  Value byZero = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, y, zero);
  Value atZero = remainder ? x : e.number(APInt::getAllOnes(e.width()));
  if (isUnsigned(e.type)) {
    Value safe = arith::SelectOp::create(b, byZero, one, y);
    Value result = remainder ? arith::RemUIOp::create(b, x, safe).getResult()
                             : arith::DivUIOp::create(b, x, safe).getResult();
    return arith::SelectOp::create(b, byZero, atZero, result);
  }
  Value least = e.number(APInt::getSignedMinValue(e.width())),
        minusOne = e.number(APInt::getAllOnes(e.width()));
  Value overflows = arith::AndIOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, least),
                                          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, y, minusOne));
  // Dividing by one instead gives the wrapped quotient and a remainder of zero.
  Value safe = arith::SelectOp::create(b, arith::OrIOp::create(b, byZero, overflows), one, y);
  Value result = remainder ? arith::RemSIOp::create(b, x, safe).getResult()
                           : arith::DivSIOp::create(b, x, safe).getResult();
  return arith::SelectOp::create(b, byZero, atZero, result);
}

/// Shifts; a shift by the width or more gives zero, or the sign.
template <typename ShiftOp> Value shift(const Element &e) {
  if (!e.isInteger())
    return nullptr;
  ImplicitLocOpBuilder &b = e.b;
  Value tooFar =
      arith::CmpIOp::create(b, arith::CmpIPredicate::uge, e.in[1], e.number(APInt(e.width(), e.width())));
  if (std::is_same_v<ShiftOp, arith::ShRSIOp>) {
    Value distance = arith::SelectOp::create(b, tooFar, e.number(APInt(e.width(), e.width() - 1)), e.in[1]);
    return ShiftOp::create(b, e.in[0], distance);
  }
  Value distance = arith::SelectOp::create(b, tooFar, e.zero(), e.in[1]);
  return arith::SelectOp::create(b, tooFar, e.zero(), ShiftOp::create(b, e.in[0], distance));
}

Value sign(const Element &e) {
  ImplicitLocOpBuilder &b = e.b;
  Value x = e.in[0];
  if (e.isFloat()) { // zeros and NaN stay
    Value nonzero = arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, x, e.zero());
    return arith::SelectOp::create(b, nonzero, math::CopySignOp::create(b, e.number(1.0), x), x);
  }
  if (!e.isInteger())
    return nullptr;
  Value one = e.number(APInt(e.width(), 1));
  Value positive = arith::SelectOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, e.zero()),
                                           e.zero(), one);
  if (isUnsigned(e.type))
    return positive;
  Value negative = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, x, e.zero());
  return arith::SelectOp::create(b, negative, e.number(APInt::getAllOnes(e.width())), positive);
}

Value clamp(const Element &e) {
  ImplicitLocOpBuilder &b = e.b;
  Value low = e.in[0], x = e.in[1], high = e.in[2];
  if (e.isFloat())
    return arith::MinimumFOp::create(b, arith::MaximumFOp::create(b, x, low), high);
  if (!e.isInteger())
    return nullptr;
  if (isUnsigned(e.type))
    return arith::MinUIOp::create(b, arith::MaxUIOp::create(b, x, low), high);
  return arith::MinSIOp::create(b, arith::MaxSIOp::create(b, x, low), high);
}

/// Computes a power by the bits of the exponent, which is not negative.
Value powerOfIntegers(const Element &e, Value base, Value exponent, unsigned exponentBits) {
  ImplicitLocOpBuilder &b = e.b;
  Value result = e.number(APInt(e.width(), 1));
  for (unsigned bit = 0; bit < exponentBits; ++bit) {
    Value factor = arith::AndIOp::create(b, exponent, e.number(APInt::getOneBitSet(e.width(), bit)));
    Value isSet = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, factor, e.zero());
    result = arith::SelectOp::create(b, isSet, arith::MulIOp::create(b, result, base), result);
    base = arith::MulIOp::create(b, base, base);
  }
  return result;
}

/// Computes a power. A negative exponent gives the reciprocal without its fraction: 0 except for bases 1 and
/// -1.
Value power(const Element &e) {
  if (e.isFloat())
    return e.make<math::PowFOp>();
  if (!e.isInteger() || e.isBool())
    return nullptr;
  if (isUnsigned(e.type))
    return powerOfIntegers(e, e.in[0], e.in[1], e.width());
  ImplicitLocOpBuilder &b = e.b;
  Value base = e.in[0], exponent = e.in[1];
  Value isNegative = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, exponent, e.zero());
  Value magnitude =
      arith::SelectOp::create(b, isNegative, arith::SubIOp::create(b, e.zero(), exponent), exponent);
  // The magnitude of the least exponent is a power of two, which the bits below the sign represent as 0: both
  // are even.
  Value result = powerOfIntegers(e, base, magnitude, e.width() - 1);
  Value isUnit = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, math::AbsIOp::create(b, base),
                                       e.number(APInt(e.width(), 1)));
  Value isFraction = arith::AndIOp::create(
      b, isNegative, arith::XOrIOp::create(b, isUnit, arith::ConstantOp::create(b, b.getBoolAttr(true))));
  return arith::SelectOp::create(b, isFraction, e.zero(), result);
}

/// Returns whether a function of several steps would round each of them to its narrow type.
bool roundsEachStep(const Element &e) { return e.isFloat() && e.width() < 32; }

/// Returns the function on f32, rounded once.
Value inF32(const Element &e, Value (*function)(const Element &)) {
  Value wide = arith::ExtFOp::create(e.b, e.b.getF32Type(), e.in[0]);
  Value result = function({e.b, wide, e.b.getF32Type()});
  return arith::TruncFOp::create(e.b, e.signless(), result);
}

/// Computes 1 / (1 + exp(-x)), with the exponential that cannot overflow.
Value logistic(const Element &e) {
  if (!e.isFloat())
    return nullptr;
  if (roundsEachStep(e))
    return inF32(e, logistic);
  ImplicitLocOpBuilder &b = e.b;
  Value exp = math::ExpOp::create(b, arith::NegFOp::create(b, math::AbsFOp::create(b, e.in[0])));
  Value isNegative = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, e.in[0], e.zero());
  Value numerator = arith::SelectOp::create(b, isNegative, exp, e.number(1.0));
  return arith::DivFOp::create(b, numerator, arith::AddFOp::create(b, e.number(1.0), exp));
}

/// Computes 1 / sqrt(x): the hardware's estimate would differ between machines.
Value reciprocalSqrt(const Element &e) {
  if (!e.isFloat())
    return nullptr;
  if (roundsEachStep(e))
    return inF32(e, reciprocalSqrt);
  return arith::DivFOp::create(e.b, e.number(1.0), math::SqrtOp::create(e.b, e.in[0]));
}

/// Computes the error function; MLIR's polynomial loses the sign of zero.
Value errorFunction(const Element &e) {
  if (!e.isFloat())
    return nullptr;
  return math::CopySignOp::create(e.b, e.make<math::ErfOp>(), e.in[0]);
}

Value negate(const Element &e) {
  if (e.isFloat())
    return e.make<arith::NegFOp>();
  return e.isInteger() ? arith::SubIOp::create(e.b, e.zero(), e.in[0]).getResult() : Value();
}

Value isFinite(const Element &e) {
  if (!e.isFloat())
    return nullptr;
  Value magnitude = math::AbsFOp::create(e.b, e.in[0]);
  Value infinity = e.number(std::numeric_limits<double>::infinity());
  return arith::CmpFOp::create(e.b, arith::CmpFPredicate::OLT, magnitude, infinity);
}

/// Returns whether x is the infinity of the given sign.
Value isInfinite(const Element &e, Value x, double sign) {
  if (!e.isFloat())
    return nullptr;
  Value infinity = e.number(sign * std::numeric_limits<double>::infinity());
  return arith::CmpFOp::create(e.b, arith::CmpFPredicate::OEQ, x, infinity);
}

Value square(const Element &e) {
  if (e.isFloat())
    return arith::MulFOp::create(e.b, e.in[0], e.in[0]).getResult();
  return e.isInteger() ? arith::MulIOp::create(e.b, e.in[0], e.in[0]).getResult() : Value();
}

Value bitwiseNot(const Element &e) {
  return e.isInteger()
             ? arith::XOrIOp::create(e.b, e.in[0], e.number(APInt::getAllOnes(e.width()))).getResult()
             : Value();
}

/// Returns the high half of the product of twice the width.
Value multiplyHigh(const Element &e) {
  if (!e.isInteger() || e.isBool())
    return nullptr;
  if (isUnsigned(e.type))
    return arith::MulUIExtendedOp::create(e.b, e.in[0], e.in[1]).getHigh();
  return arith::MulSIExtendedOp::create(e.b, e.in[0], e.in[1]).getHigh();
}

Value absolute(const Element &e) {
  if (e.isFloat())
    return e.make<math::AbsFOp>();
  if (!e.isInteger())
    return nullptr;
  return isUnsigned(e.type) ? e.in[0] : e.make<math::AbsIOp>();
}

/// Computes the next float, using that the bits of floats of one sign are in the order of the floats.
Value nextAfter(const Element &e, Type original) {
  if (!e.isFloat() || isNarrow(original))
    return nullptr;
  ImplicitLocOpBuilder &b = e.b;
  Value x = e.in[0], y = e.in[1];
  IntegerType type = b.getIntegerType(e.width());
  auto integer = [&](APInt value) { return arith::ConstantOp::create(b, b.getIntegerAttr(type, value)); };
  auto compare = [&](arith::CmpFPredicate predicate, Value left, Value right) -> Value {
    return arith::CmpFOp::create(b, predicate, left, right);
  };
  Value bits = arith::BitcastOp::create(b, type, x), one = integer(APInt(e.width(), 1));
  Value upwards = compare(arith::CmpFPredicate::OLT, x, y),
        positive = compare(arith::CmpFPredicate::OGT, x, e.zero());
  Value grows = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, upwards, positive);
  Value neighbour = arith::SelectOp::create(b, grows, arith::AddIOp::create(b, bits, one),
                                            arith::SubIOp::create(b, bits, one));
  // Zeros are one number: the next is the least one, with the sign of y.
  Value sign =
      arith::AndIOp::create(b, arith::BitcastOp::create(b, type, y), integer(APInt::getSignMask(e.width())));
  Value isZero = compare(arith::CmpFPredicate::OEQ, x, e.zero());
  neighbour = arith::SelectOp::create(b, isZero, arith::OrIOp::create(b, sign, one), neighbour);
  Value result = arith::BitcastOp::create(b, e.signless(), neighbour);
  result = arith::SelectOp::create(b, compare(arith::CmpFPredicate::OEQ, x, y), y, result);
  Value isNaN = compare(arith::CmpFPredicate::UNO, x, y);
  return arith::SelectOp::create(b, isNaN, arith::AddFOp::create(b, x, y), result);
}

Value bitcast(const Element &e, Type to) {
  if (!e.type.isIntOrFloat() || !to.isIntOrFloat() || to.getIntOrFloatBitWidth() != e.width())
    return nullptr; // changes the shape
  return storedOfBits(e.b, bitsOfStored(e.b, e.in[0], e.type), to);
}

Value emit(const Element &e, Operation *op) {
  using namespace stablehlo;
  using mlir::Value;
  return llvm::TypeSwitch<Operation *, Value>(op)
      // Arithmetic.
      .Case([&](AddOp) { return e.choose<arith::AddFOp, arith::AddIOp, arith::AddIOp, arith::OrIOp>(); })
      .Case(
          [&](SubtractOp) { return e.choose<arith::SubFOp, arith::SubIOp, arith::SubIOp, arith::XOrIOp>(); })
      .Case([&](MulOp) { return e.choose<arith::MulFOp, arith::MulIOp, arith::MulIOp, arith::AndIOp>(); })
      .Case([&](DivOp) {
        return e.isInteger() ? divideIntegers(e, /*remainder=*/false) : e.makeFloat<arith::DivFOp>();
      })
      .Case([&](RemOp) {
        return e.isInteger() ? divideIntegers(e, /*remainder=*/true) : e.makeFloat<arith::RemFOp>();
      })
      .Case(
          [&](MaxOp) { return e.choose<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp, arith::OrIOp>(); })
      .Case(
          [&](MinOp) { return e.choose<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp, arith::AndIOp>(); })
      .Case([&](PowOp) { return power(e); })
      .Case([&](NegOp) { return negate(e); })
      .Case([&](AbsOp) { return absolute(e); })
      .Case([&](SignOp) { return sign(e); })
      .Case([&](ClampOp) { return clamp(e); })
      // Bits.
      .Case([&](AndOp) { return e.isInteger() ? e.make<arith::AndIOp>() : Value(); })
      .Case([&](OrOp) { return e.isInteger() ? e.make<arith::OrIOp>() : Value(); })
      .Case([&](XorOp) { return e.isInteger() ? e.make<arith::XOrIOp>() : Value(); })
      .Case([&](NotOp) { return bitwiseNot(e); })
      .Case([&](ShiftLeftOp) { return shift<arith::ShLIOp>(e); })
      .Case([&](ShiftRightLogicalOp) { return shift<arith::ShRUIOp>(e); })
      .Case([&](ShiftRightArithmeticOp) { return shift<arith::ShRSIOp>(e); })
      .Case([&](PopulationCountOp) { return e.isInteger() ? e.make<math::CtPopOp>() : Value(); })
      .Case(
          [&](CountLeadingZerosOp) { return e.isInteger() ? e.make<math::CountLeadingZerosOp>() : Value(); })
      // Functions.
      .Case([&](ExpOp) { return e.makeFloat<math::ExpOp>(); })
      .Case([&](Expm1Op) { return e.makeFloat<math::ExpM1Op>(); })
      .Case([&](LogOp) { return e.makeFloat<math::LogOp>(); })
      .Case([&](Log1pOp) { return e.makeFloat<math::Log1pOp>(); })
      .Case([&](LogisticOp) { return logistic(e); })
      .Case([&](TanhOp) { return e.makeFloat<math::TanhOp>(); })
      .Case([&](TanOp) { return e.makeFloat<math::TanOp>(); })
      .Case([&](SineOp) { return e.makeFloat<math::SinOp>(); })
      .Case([&](CosineOp) { return e.makeFloat<math::CosOp>(); })
      .Case([&](Atan2Op) { return e.makeFloat<math::Atan2Op>(); })
      .Case([&](SqrtOp) { return e.makeFloat<math::SqrtOp>(); })
      .Case([&](RsqrtOp) { return reciprocalSqrt(e); })
      .Case([&](CbrtOp) { return e.makeFloat<math::CbrtOp>(); })
      .Case([&](chlo::AcosOp) { return e.makeFloat<math::AcosOp>(); })
      .Case([&](chlo::AcoshOp) { return e.makeFloat<math::AcoshOp>(); })
      .Case([&](chlo::AsinOp) { return e.makeFloat<math::AsinOp>(); })
      .Case([&](chlo::AsinhOp) { return e.makeFloat<math::AsinhOp>(); })
      .Case([&](chlo::AtanOp) { return e.makeFloat<math::AtanOp>(); })
      .Case([&](chlo::AtanhOp) { return e.makeFloat<math::AtanhOp>(); })
      .Case([&](chlo::CoshOp) { return e.makeFloat<math::CoshOp>(); })
      .Case([&](chlo::SinhOp) { return e.makeFloat<math::SinhOp>(); })
      .Case([&](chlo::TanOp) { return e.makeFloat<math::TanOp>(); })
      .Case([&](chlo::ErfOp) { return errorFunction(e); })
      .Case([&](chlo::ErfcOp) { return e.makeFloat<math::ErfcOp>(); })
      .Case([&](chlo::SquareOp) { return square(e); })
      .Case([&](chlo::MulhiOp) { return multiplyHigh(e); })
      .Case([&](chlo::NextAfterOp) { return nextAfter(e, getElementTypeOrSelf(op->getOperand(0))); })
      .Case([&](chlo::ErfInvOp) { return e.isFloat() ? emitErfInv(e.b, e.in[0]) : Value(); })
      .Case([&](chlo::LgammaOp) { return e.isFloat() ? emitLgamma(e.b, e.in[0]) : Value(); })
      .Case([&](chlo::DigammaOp) { return e.isFloat() ? emitDigamma(e.b, e.in[0]) : Value(); })
      .Case([&](chlo::BesselI1eOp) { return e.isFloat() ? emitBesselI1e(e.b, e.in[0]) : Value(); })
      .Case([&](chlo::PolygammaOp) { return e.isFloat() ? emitPolygamma(e.b, e.in[0], e.in[1]) : Value(); })
      .Case([&](chlo::ZetaOp) { return e.isFloat() ? emitZeta(e.b, e.in[0], e.in[1]) : Value(); })
      // Rounding.
      .Case([&](CeilOp) { return e.makeFloat<math::CeilOp>(); })
      .Case([&](FloorOp) { return e.makeFloat<math::FloorOp>(); })
      .Case([&](RoundOp) { return e.makeFloat<math::RoundOp>(); })
      .Case([&](RoundNearestEvenOp) { return e.makeFloat<math::RoundEvenOp>(); })
      .Case([&](ReducePrecisionOp o) {
        return e.isFloat() ? reducePrecision(e.b, e.in[0], o.getExponentBits(), o.getMantissaBits())
                           : Value();
      })
      // Choice and type.
      .Case([&](IsFiniteOp) { return isFinite(e); })
      .Case([&](chlo::IsInfOp) {
        return e.isFloat() ? isInfinite(e, math::AbsFOp::create(e.b, e.in[0]), 1.0) : Value();
      })
      .Case([&](chlo::IsPosInfOp) { return isInfinite(e, e.in[0], 1.0); })
      .Case([&](chlo::IsNegInfOp) { return isInfinite(e, e.in[0], -1.0); })
      .Case([&](SelectOp) { return arith::SelectOp::create(e.b, e.in[0], e.in[1], e.in[2]).getResult(); })
      .Case([&](CompareOp o) {
        bool total = o.getCompareType() == ComparisonType::TOTALORDER;
        return compareScalars(e.b, o.getComparisonDirection(), total, e.in[0], e.in[1], e.type);
      })
      .Case(
          [&](ConvertOp o) { return convertScalar(e.b, e.in[0], e.type, getElementTypeOrSelf(o.getType())); })
      .Case([&](BitcastConvertOp o) { return bitcast(e, getElementTypeOrSelf(o.getType())); })
      .Default([](Operation *) { return Value(); });
}

} // namespace

bool isElementwise(Operation *op) {
  using namespace stablehlo;
  return isa<AddOp, SubtractOp, MulOp, DivOp, RemOp, MaxOp, MinOp, PowOp, NegOp, AbsOp, SignOp, ClampOp,
             AndOp, OrOp, XorOp, NotOp, ShiftLeftOp, ShiftRightLogicalOp, ShiftRightArithmeticOp,
             PopulationCountOp, CountLeadingZerosOp, ExpOp, Expm1Op, LogOp, Log1pOp, LogisticOp, TanhOp,
             TanOp, SineOp, CosineOp, Atan2Op, SqrtOp, RsqrtOp, CbrtOp, CeilOp, FloorOp, RoundOp,
             RoundNearestEvenOp, ReducePrecisionOp, IsFiniteOp, SelectOp, CompareOp, ConvertOp,
             BitcastConvertOp>(op) ||
         isa<chlo::AcosOp, chlo::AcoshOp, chlo::AsinOp, chlo::AsinhOp, chlo::AtanOp, chlo::AtanhOp,
             chlo::CoshOp, chlo::SinhOp, chlo::TanOp, chlo::ErfOp, chlo::ErfcOp, chlo::SquareOp,
             chlo::MulhiOp, chlo::NextAfterOp, chlo::ErfInvOp, chlo::LgammaOp, chlo::DigammaOp,
             chlo::BesselI1eOp, chlo::PolygammaOp, chlo::ZetaOp, chlo::IsInfOp, chlo::IsPosInfOp,
             chlo::IsNegInfOp>(op);
}

/// Returns whether `emit` takes operands in their storage type.
static bool takesStored(Operation *op) {
  return isa<stablehlo::SelectOp, stablehlo::ConvertOp, stablehlo::BitcastConvertOp, stablehlo::CompareOp>(
      op);
}

Value emitScalar(OpBuilder &builder, Operation *op, ValueRange operands) {
  ImplicitLocOpBuilder b(op->getLoc(), builder);
  Type type = getElementTypeOrSelf(op->getOperand(0).getType());
  if (takesStored(op))
    return emit({b, operands, type}, op);
  SmallVector<Value> computed;
  for (auto [stored, original] : llvm::zip_equal(operands, op->getOperands()))
    computed.push_back(fromStorage(b, stored, getElementTypeOrSelf(original.getType())));
  Value result = emit({b, computed, getComputeType(type)}, op);
  return result ? toStorage(b, result, getElementTypeOrSelf(op->getResult(0).getType())) : Value();
}

/// Returns the element of a constant that has one value. Null if it has none, or no number.
static Value emitScalarConstant(OpBuilder &builder, stablehlo::ConstantOp constant) {
  auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
  Type type = getElementTypeOrSelf(constant.getType());
  if (!value || !value.isSplat() || !type.isIntOrFloat())
    return nullptr;
  Attribute element = toStorage(value).getSplatValue<Attribute>();
  return arith::ConstantOp::create(builder, constant.getLoc(), cast<TypedAttr>(element));
}

FailureOr<SmallVector<Value>> emitScalarRegion(OpBuilder &builder, Region &region, ValueRange arguments) {
  if (!region.hasOneBlock())
    return failure();
  Block &block = region.front();
  IRMapping scalars;
  scalars.map(block.getArguments(), arguments);
  auto lookup = [&](ValueRange values) -> FailureOr<SmallVector<Value>> {
    SmallVector<Value> result;
    for (Value value : values) {
      Value scalar = scalars.lookupOrNull(value);
      // Simplifications move constants out of regions.
      if (auto constant = value.getDefiningOp<stablehlo::ConstantOp>(); !scalar && constant)
        scalar = emitScalarConstant(builder, constant);
      if (!scalar)
        return failure(); // from outside of the region
      result.push_back(scalar);
    }
    return result;
  };
  for (Operation &op : block.without_terminator()) {
    if (isa<stablehlo::ConstantOp>(op))
      continue; // emitted where it is used
    FailureOr<SmallVector<Value>> operands = lookup(op.getOperands());
    if (failed(operands) || !isElementwise(&op))
      return failure();
    Value result = emitScalar(builder, &op, *operands);
    if (!result)
      return failure();
    scalars.map(op.getResult(0), result);
  }
  return lookup(block.getTerminator()->getOperands());
}

} // namespace cgx
