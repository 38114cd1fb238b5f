//===-- NarrowTypes.cpp - Types that processors do not have -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "NarrowTypes.h"
#include "ScalarConvert.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;

namespace cgx {
namespace {

FloatType getNarrowFloat(Type element) {
  auto type = dyn_cast<FloatType>(element);
  return type && type.getWidth() <= 8 ? type : FloatType();
}

IntegerType getNarrowInteger(Type element) {
  auto type = dyn_cast<IntegerType>(element);
  return type && type.getWidth() > 1 && type.getWidth() < 8 ? type : IntegerType();
}

uint32_t bitsOf(const APFloat &value) { return value.bitcastToAPInt().getZExtValue(); }

/// Decodes a float by a table with an entry for each byte; bits that the type does not have are ignored.
Value decodeFloat(ImplicitLocOpBuilder &b, Value stored, FloatType type) {
  SmallVector<APFloat> values;
  for (unsigned bits = 0; bits < 256; ++bits) {
    APFloat value(type.getFloatSemantics(), APInt(8, bits).trunc(type.getWidth()));
    bool isInexact = false, isNaN = value.isNaN(); // which the conversion forgets where there is no fraction
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &isInexact);
    values.push_back(isNaN ? APFloat::getNaN(APFloat::IEEEsingle(), value.isNegative()) : value);
  }
  auto tableType = RankedTensorType::get({256}, b.getF32Type());
  Value table = arith::ConstantOp::create(b, DenseElementsAttr::get(tableType, values));
  return tensor::ExtractOp::create(b, table,
                                   ValueRange{arith::IndexCastUIOp::create(b, b.getIndexType(), stored)});
}

/// The bits of an f32 on their way to those of a narrower float.
struct FloatBits {
  ImplicitLocOpBuilder *b;
  Value value;

  FloatBits of(Value other) const { return {b, other}; }
  FloatBits of(uint32_t number) const {
    return of(arith::ConstantOp::create(*b, b->getI32IntegerAttr(static_cast<int32_t>(number))));
  }
  FloatBits operator+(FloatBits other) const { return of(arith::AddIOp::create(*b, value, other.value)); }
  FloatBits operator+(uint32_t number) const { return *this + of(number); }
  FloatBits operator-(uint32_t number) const {
    return of(arith::SubIOp::create(*b, value, of(number).value));
  }
  FloatBits operator&(uint32_t mask) const { return of(arith::AndIOp::create(*b, value, of(mask).value)); }
  FloatBits operator|(FloatBits other) const { return of(arith::OrIOp::create(*b, value, other.value)); }
  FloatBits operator>>(uint32_t count) const {
    return of(arith::ShRUIOp::create(*b, value, of(count).value));
  }
  Value operator>(uint32_t number) const {
    return arith::CmpIOp::create(*b, arith::CmpIPredicate::ugt, value, of(number).value);
  }
  Value operator!=(uint32_t number) const {
    return arith::CmpIOp::create(*b, arith::CmpIPredicate::ne, value, of(number).value);
  }
  FloatBits where(Value condition, FloatBits otherwise) const {
    return of(arith::SelectOp::create(*b, condition, value, otherwise.value));
  }
  /// Adds two floats that are given by their bits.
  FloatBits plusFloat(uint32_t number) const {
    Type f32 = b->getF32Type();
    Value sum = arith::AddFOp::create(*b, arith::BitcastOp::create(*b, f32, value),
                                      arith::BitcastOp::create(*b, f32, of(number).value));
    return of(arith::BitcastOp::create(*b, b->getI32Type(), sum));
  }
};

constexpr uint32_t kInfinity = 0x7f800000; // of f32

/// Encodes powers of two only, without a sign: ties go up, and anything but a positive number is NaN, as in
/// XLA.
FloatBits encodeExponent(FloatBits bits) {
  FloatBits code = (bits + 0x400000) >> 23;
  code = code.where(bits > 0x400000, bits.of(uint32_t(0))); // not more than the least one
  FloatBits nan = bits.of(0xff);
  code = nan.where(bits > kInfinity - 1, code); // infinite, NaN or negative
  return code.where(bits != 0, nan);
}

/// Rounds the fraction where it lies in the f32; below the normal numbers, an addition rounds it.
FloatBits encodeMagnitude(FloatBits bits, const llvm::fltSemantics &format) {
  uint32_t fraction = APFloat::semanticsPrecision(format) - 1, shift = 23 - fraction;
  auto least = static_cast<int32_t>(APFloat::semanticsMinExponent(format));
  uint32_t bias = 1 - least;
  FloatBits last = (bits >> shift) & 1;
  FloatBits code = ((bits + ((1u << (shift - 1)) - 1) + last) >> shift) - ((127 - bias) << fraction);
  uint32_t lastPlace = static_cast<uint32_t>(127 + least + static_cast<int32_t>(shift)) << 23;
  uint32_t leastNormal = static_cast<uint32_t>(127 + least) << 23;
  code = code.where(bits > leastNormal - 1, bits.plusFloat(lastPlace) - lastPlace);

  APFloat largest = APFloat::getLargest(format);
  APFloat beyond = APFloat::semanticsHasInf(format)   ? APFloat::getInf(format)
                   : APFloat::semanticsHasNaN(format) ? APFloat::getNaN(format)
                                                      : largest;
  // Below the normal numbers, `code` was one of them only where it was rounded up to the first.
  code = bits.of(bitsOf(beyond)).where(code > bitsOf(largest), code);
  if (!APFloat::semanticsHasNaN(format))
    return code;
  return bits.of(bitsOf(APFloat::getNaN(format))).where(bits > kInfinity, code);
}

Value encodeFloat(ImplicitLocOpBuilder &b, Value computed, FloatType type) {
  const llvm::fltSemantics &format = type.getFloatSemantics();
  FloatBits bits{&b, arith::BitcastOp::create(b, b.getI32Type(), computed)};
  auto stored = [&](FloatBits code) { return arith::TruncIOp::create(b, b.getI8Type(), code.value); };
  if (!APFloat::semanticsHasSignedRepr(format))
    return stored(encodeExponent(bits));
  FloatBits magnitude = bits & 0x7fffffff, code = encodeMagnitude(magnitude, format);
  uint32_t minus = 1u << (type.getWidth() - 1);
  FloatBits sign = (bits >> (32 - type.getWidth())) & minus;
  if (APFloat(format, APInt(type.getWidth(), minus)).isNaN()) // there is no -0: NaN has its bits
    sign = sign.where(code != 0, bits.of(uint32_t(0)));
  FloatBits result = code | sign;
  if (!APFloat::semanticsHasNaN(format)) // NaN is -0, as in XLA
    result = bits.of(minus).where(magnitude > kInfinity, result);
  return stored(result);
}

} // namespace

Type getStorageType(Type element) {
  if (isNarrow(element))
    return IntegerType::get(element.getContext(), 8);
  auto type = dyn_cast<IntegerType>(element);
  return type ? IntegerType::get(type.getContext(), type.getWidth()) : element;
}

Type getComputeType(Type element) {
  return getNarrowFloat(element) ? Float32Type::get(element.getContext()) : element;
}

Value fromStorage(ImplicitLocOpBuilder &b, Value stored, Type element) {
  if (FloatType type = getNarrowFloat(element))
    return decodeFloat(b, stored, type);
  return getNarrowInteger(element) ? bitsOfStored(b, stored, element) : stored;
}

Value toStorage(ImplicitLocOpBuilder &b, Value computed, Type element) {
  if (FloatType type = getNarrowFloat(element))
    return encodeFloat(b, computed, type);
  return getNarrowInteger(element) ? storedOfBits(b, computed, element) : computed;
}

Value bitsOfStored(ImplicitLocOpBuilder &b, Value stored, Type element) {
  Type bits = b.getIntegerType(element.getIntOrFloatBitWidth());
  if (stored.getType() == bits)
    return stored;
  if (isNarrow(element))
    return arith::TruncIOp::create(b, bits, stored);
  return arith::BitcastOp::create(b, bits, stored);
}

Value storedOfBits(ImplicitLocOpBuilder &b, Value bits, Type element) {
  Type stored = getStorageType(element);
  if (stored == bits.getType())
    return bits;
  if (!isNarrow(element))
    return arith::BitcastOp::create(b, stored, bits);
  if (isa<FloatType>(element) || isUnsigned(element))
    return arith::ExtUIOp::create(b, stored, bits);
  return arith::ExtSIOp::create(b, stored, bits);
}

DenseElementsAttr toStorage(DenseElementsAttr value) {
  Type element = value.getElementType(), stored = getStorageType(element);
  if (getNarrowFloat(element))
    return value.mapValues(stored, [](const APFloat &number) { return number.bitcastToAPInt().zext(8); });
  if (getNarrowInteger(element))
    return value.mapValues(
        stored, [&](const APInt &number) { return isUnsigned(element) ? number.zext(8) : number.sext(8); });
  return element == stored ? value : value.bitcast(stored);
}

} // namespace cgx
