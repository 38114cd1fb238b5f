//===-- ScalarConvert.cpp - Conversions and comparisons of one element -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "ScalarConvert.h"
#include "NarrowTypes.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace cgx {
namespace {

Value constant(ImplicitLocOpBuilder &b, Type type, const APInt &value) {
  return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
}

Value constant(ImplicitLocOpBuilder &b, Type type, const APFloat &value) {
  return arith::ConstantOp::create(b, FloatAttr::get(type, value));
}

Type signless(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer ? IntegerType::get(type.getContext(), integer.getWidth()) : type;
}

/// Returns 2 to the power of `exponent`, which may exceed a narrow format and is then infinite.
APFloat powerOfTwo(FloatType type, unsigned exponent) {
  return scalbn(APFloat(type.getFloatSemantics(), 1), exponent, APFloat::rmNearestTiesToEven);
}

/// Converts a float to an integer. arith.fptosi is undefined outside of the integer's range, so only values
/// inside go through it.
Value floatToInteger(ImplicitLocOpBuilder &b, Value value, FloatType from, Type to) {
  Type target = signless(to);
  unsigned width = target.getIntOrFloatBitWidth();
  bool isUnsignedTarget = isUnsigned(to);
  APInt least = isUnsignedTarget ? APInt::getMinValue(width) : APInt::getSignedMinValue(width);
  APInt greatest = isUnsignedTarget ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);

  APFloat limit = powerOfTwo(from, isUnsignedTarget ? width : width - 1); // greatest + 1
  APFloat low = APFloat::getZero(from.getFloatSemantics());
  if (!isUnsignedTarget)
    low = -limit;
  Value tooHigh = limit.isInfinity()
                      ? arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, value, constant(b, from, limit))
                      : arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, value, constant(b, from, limit));
  Value tooLow = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, value, constant(b, from, low));
  if (limit.isInfinity() && !isUnsignedTarget)
    tooLow = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, value, constant(b, from, low));
  Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
  Value outside = arith::OrIOp::create(b, arith::OrIOp::create(b, tooHigh, tooLow), isNaN);
  Value inside = arith::SelectOp::create(
      b, outside, constant(b, from, APFloat::getZero(from.getFloatSemantics())), value);
  Value converted = isUnsignedTarget ? arith::FPToUIOp::create(b, target, inside).getResult()
                                     : arith::FPToSIOp::create(b, target, inside).getResult();
  converted = arith::SelectOp::create(b, tooHigh, constant(b, target, greatest), converted);
  return arith::SelectOp::create(b, tooLow, constant(b, target, least), converted);
}

/// Rounds f64 to f32, to odd: the last bit says whether anything was lost, so that rounding again to half the
/// digits or fewer is as good as rounding once.
Value truncateToOdd(ImplicitLocOpBuilder &b, Value value) {
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  Value nearest = arith::TruncFOp::create(b, f32, value);
  Value back = arith::ExtFOp::create(b, b.getF64Type(), nearest);
  Value isInexact = arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, back, value);
  Value grew = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, math::AbsFOp::create(b, back),
                                     math::AbsFOp::create(b, value));
  Value one = constant(b, i32, APInt(32, 1)), bits = arith::BitcastOp::create(b, i32, nearest);
  Value toZero = arith::SelectOp::create(b, grew, arith::SubIOp::create(b, bits, one), bits);
  Value odd = arith::SelectOp::create(b, isInexact, arith::OrIOp::create(b, toZero, one), bits);
  return arith::BitcastOp::create(b, f32, odd);
}

Value integerToInteger(ImplicitLocOpBuilder &b, Value value, Type from, Type to) {
  Type target = signless(to);
  unsigned width = value.getType().getIntOrFloatBitWidth(), targetWidth = target.getIntOrFloatBitWidth();
  if (width == targetWidth)
    return value;
  if (width > targetWidth)
    return arith::TruncIOp::create(b, target, value);
  if (isUnsigned(from))
    return arith::ExtUIOp::create(b, target, value);
  return arith::ExtSIOp::create(b, target, value);
}

/// Returns the bits of a float as an integer whose signed order is the total order of floats.
Value totalOrderKey(ImplicitLocOpBuilder &b, Value value) {
  unsigned width = value.getType().getIntOrFloatBitWidth();
  Type type = b.getIntegerType(width);
  Value bits = arith::BitcastOp::create(b, type, value);
  Value sign = arith::ShRSIOp::create(b, bits, constant(b, type, APInt(width, width - 1)));
  Value flip = arith::AndIOp::create(b, sign, constant(b, type, APInt::getSignedMaxValue(width)));
  return arith::XOrIOp::create(b, bits, flip);
}

arith::CmpFPredicate floatPredicate(stablehlo::ComparisonDirection direction) {
  switch (direction) {
  case stablehlo::ComparisonDirection::EQ:
    return arith::CmpFPredicate::OEQ;
  case stablehlo::ComparisonDirection::NE:
    return arith::CmpFPredicate::UNE;
  case stablehlo::ComparisonDirection::GE:
    return arith::CmpFPredicate::OGE;
  case stablehlo::ComparisonDirection::GT:
    return arith::CmpFPredicate::OGT;
  case stablehlo::ComparisonDirection::LE:
    return arith::CmpFPredicate::OLE;
  case stablehlo::ComparisonDirection::LT:
    return arith::CmpFPredicate::OLT;
  }
  llvm_unreachable("all directions are covered");
}

arith::CmpIPredicate integerPredicate(stablehlo::ComparisonDirection direction, bool isUnsignedType) {
  using P = arith::CmpIPredicate;
  switch (direction) {
  case stablehlo::ComparisonDirection::EQ:
    return P::eq;
  case stablehlo::ComparisonDirection::NE:
    return P::ne;
  case stablehlo::ComparisonDirection::GE:
    return isUnsignedType ? P::uge : P::sge;
  case stablehlo::ComparisonDirection::GT:
    return isUnsignedType ? P::ugt : P::sgt;
  case stablehlo::ComparisonDirection::LE:
    return isUnsignedType ? P::ule : P::sle;
  case stablehlo::ComparisonDirection::LT:
    return isUnsignedType ? P::ult : P::slt;
  }
  llvm_unreachable("all directions are covered");
}

/// Converts between types that processors have.
Value convertComputed(ImplicitLocOpBuilder &b, Value value, Type from, Type to) {
  if (from == to)
    return value;
  auto fromFloat = dyn_cast<FloatType>(from), toFloat = dyn_cast<FloatType>(to);
  bool fromInteger = isa<IntegerType>(from), toInteger = isa<IntegerType>(to);
  if ((!fromFloat && !fromInteger) || (!toFloat && !toInteger))
    return nullptr;
  if (to.isInteger(1)) { // whether it is not zero
    if (fromFloat)
      return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, value,
                                   constant(b, from, APFloat::getZero(fromFloat.getFloatSemantics())));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value,
                                 constant(b, value.getType(), APInt(from.getIntOrFloatBitWidth(), 0)));
  }
  if (fromFloat && toFloat) {
    if (fromFloat.getWidth() < toFloat.getWidth())
      return arith::ExtFOp::create(b, to, value);
    if (fromFloat.getWidth() > toFloat.getWidth())
      return truncateFloat(b, value, toFloat);
    // f16 and bf16: neither contains the other.
    return arith::TruncFOp::create(b, to, arith::ExtFOp::create(b, b.getF32Type(), value));
  }
  if (fromFloat)
    return floatToInteger(b, value, fromFloat, to);
  if (toInteger)
    return integerToInteger(b, value, from, to);
  if (isUnsigned(from))
    return arith::UIToFPOp::create(b, to, value);
  return arith::SIToFPOp::create(b, to, value);
}

} // namespace

bool isUnsigned(Type type) { return type.isUnsignedInteger() || type.isInteger(1); }

Value convertScalar(ImplicitLocOpBuilder &b, Value value, Type from, Type to) {
  if (from == to)
    return value;
  if (!from.isIntOrFloat() || !to.isIntOrFloat())
    return nullptr;
  Value computed = fromStorage(b, value, from);
  if (from.isF64() && isNarrow(to) && isa<FloatType>(to)) // f32 is on the way, and must not round before
    computed = truncateToOdd(b, computed);
  else
    computed = convertComputed(b, computed, getComputeType(from), getComputeType(to));
  return computed ? toStorage(b, computed, to) : Value();
}

/// Rounds a float. From f64, the C library's compiler support has no function for bf16.
Value truncateFloat(ImplicitLocOpBuilder &b, Value value, FloatType to) {
  if (value.getType().isF64() && to.getWidth() < 32)
    value = truncateToOdd(b, value);
  return arith::TruncFOp::create(b, to, value);
}

Value compareScalars(ImplicitLocOpBuilder &b, stablehlo::ComparisonDirection direction, bool total, Value lhs,
                     Value rhs, Type original) {
  lhs = fromStorage(b, lhs, original);
  rhs = fromStorage(b, rhs, original);
  if (isa<FloatType>(original)) {
    if (!total)
      return arith::CmpFOp::create(b, floatPredicate(direction), lhs, rhs);
    return arith::CmpIOp::create(b, integerPredicate(direction, /*isUnsignedType=*/false),
                                 totalOrderKey(b, lhs), totalOrderKey(b, rhs));
  }
  if (isa<IntegerType>(original))
    return arith::CmpIOp::create(b, integerPredicate(direction, isUnsigned(original)), lhs, rhs);
  return nullptr;
}

Value reducePrecision(ImplicitLocOpBuilder &b, Value value, unsigned exponentBits, unsigned mantissaBits) {
  auto type = cast<FloatType>(value.getType());
  unsigned width = type.getWidth(), sourceMantissa = type.getFPMantissaWidth() - 1;
  unsigned sourceExponent = width - 1 - sourceMantissa;
  Type bitsType = b.getIntegerType(width);
  auto integer = [&](const APInt &v) { return constant(b, bitsType, v); };
  Value bits = arith::BitcastOp::create(b, bitsType, value);

  if (mantissaBits < sourceMantissa) { // round to nearest even by adding almost half
    unsigned shift = sourceMantissa - mantissaBits;
    Value last = arith::AndIOp::create(b, arith::ShRUIOp::create(b, bits, integer(APInt(width, shift))),
                                       integer(APInt(width, 1)));
    APInt almostHalf = APInt::getLowBitsSet(width, shift - 1);
    bits = arith::AddIOp::create(b, bits, arith::AddIOp::create(b, last, integer(almostHalf)));
    bits = arith::AndIOp::create(b, bits, integer(~APInt::getLowBitsSet(width, shift)));
  }
  if (exponentBits < sourceExponent) { // beyond the range: to infinity or to zero
    unsigned bias = (1u << (exponentBits - 1)) - 1, sourceBias = (1u << (sourceExponent - 1)) - 1;
    APInt exponentMask = APInt::getBitsSet(width, sourceMantissa, width - 1);
    Value exponent = arith::AndIOp::create(b, bits, integer(exponentMask));
    Value sign = arith::AndIOp::create(b, bits, integer(APInt::getSignMask(width)));
    APInt greatest = APInt(width, sourceBias + bias) << sourceMantissa;
    APInt least = APInt(width, sourceBias - bias) << sourceMantissa;
    Value overflows = arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, exponent, integer(greatest));
    Value underflows = arith::CmpIOp::create(b, arith::CmpIPredicate::ule, exponent, integer(least));
    bits = arith::SelectOp::create(b, overflows, arith::OrIOp::create(b, sign, integer(exponentMask)), bits);
    bits = arith::SelectOp::create(b, underflows, sign, bits);
  }
  Value rounded = arith::BitcastOp::create(b, type, bits);
  Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
  if (mantissaBits == 0) { // a format that has no NaN, by StableHLO's interpreter
    Value infinity = constant(b, type, APFloat::getInf(type.getFloatSemantics()));
    return arith::SelectOp::create(b, isNaN, math::CopySignOp::create(b, infinity, value), rounded);
  }
  return arith::SelectOp::create(b, isNaN, value, rounded);
}

} // namespace cgx
