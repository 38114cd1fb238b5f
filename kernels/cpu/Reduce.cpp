//===-- Reduce.cpp - Uncompressed reductions of typed buffers -------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file is compiled at -O3, which vectorizes its loops.

#include "cgx/kernels/reduce.h"

#include "cgx/arithmetic/elements.h"

#include <type_traits>

namespace cgx {
namespace {

/// The formats of elements: `Stored` is the type in memory and `Value` the type of the arithmetic.
template <typename T> struct Native {
  using Stored = T;
  using Value = T;
  static T widen(T x) { return x; }
  static T narrow(T x) { return x; }
};

struct Float16 {
  using Stored = uint16_t;
  using Value = float;
  static float widen(uint16_t bits) { return floatFromFloat16(bits); }
  static uint16_t narrow(float x) { return float16FromFloat(x); }
};

struct Bfloat16 {
  using Stored = uint16_t;
  using Value = float;
  static float widen(uint16_t bits) { return floatFromBfloat16(bits); }
  static uint16_t narrow(float x) { return bfloat16FromFloat(x); }
};

struct Bool {
  using Stored = uint8_t;
  using Value = bool;
  static bool widen(uint8_t x) { return x != 0; }
  static uint8_t narrow(bool x) { return x ? 1 : 0; }
};

struct Sum {
  template <typename V> static V apply(V a, V b) {
    if constexpr (std::is_same_v<V, bool>)
      return a || b;
    else if constexpr (std::is_integral_v<V>) // wraps, signed or not
      return V(std::make_unsigned_t<V>(a) + std::make_unsigned_t<V>(b));
    else
      return a + b;
  }
};

struct Product {
  template <typename V> static V apply(V a, V b) {
    if constexpr (std::is_same_v<V, bool>)
      return a && b;
    else if constexpr (std::is_integral_v<V>) // 64 bits, or 16-bit factors would overflow int
      return V(uint64_t(a) * uint64_t(b));
    else
      return a * b;
  }
};

/// The maximum. A NaN in the first operand stays, because no comparison with it holds; b != b lets a NaN of
/// the second one in.
struct Max {
  template <typename V> static V apply(V a, V b) { return b > a || b != b ? b : a; }
};

struct Min {
  template <typename V> static V apply(V a, V b) { return b < a || b != b ? b : a; }
};

template <typename Format, typename Operation>
void reduceLoop(void *accumulator, const void *input, uint64_t elements) {
  using Stored = typename Format::Stored;
  Stored *a = static_cast<Stored *>(accumulator);
  const Stored *b = static_cast<const Stored *>(input);
  for (uint64_t i = 0; i < elements; ++i)
    a[i] = Format::narrow(
        Operation::template apply<typename Format::Value>(Format::widen(a[i]), Format::widen(b[i])));
}

template <typename Format>
void reduceAs(ReduceOp reduction, void *accumulator, const void *input, uint64_t elements) {
  switch (reduction) {
  case ReduceOp::sum:
    return reduceLoop<Format, Sum>(accumulator, input, elements);
  case ReduceOp::max:
    return reduceLoop<Format, Max>(accumulator, input, elements);
  case ReduceOp::min:
    return reduceLoop<Format, Min>(accumulator, input, elements);
  case ReduceOp::product:
    return reduceLoop<Format, Product>(accumulator, input, elements);
  }
}

template <typename Format> void scaleAs(void *data, uint64_t elements, double factor) {
  using Value = typename Format::Value;
  auto *x = static_cast<typename Format::Stored *>(data);
  for (uint64_t i = 0; i < elements; ++i)
    x[i] = Format::narrow(Format::widen(x[i]) * Value(factor));
}

} // namespace

void reduce(ReduceOp reduction, cgx_element_type type, void *accumulator, const void *input,
            uint64_t elements) {
  switch (type) {
  case CGX_F32:
    return reduceAs<Native<float>>(reduction, accumulator, input, elements);
  case CGX_F16:
    return reduceAs<Float16>(reduction, accumulator, input, elements);
  case CGX_BF16:
    return reduceAs<Bfloat16>(reduction, accumulator, input, elements);
  case CGX_F64:
    return reduceAs<Native<double>>(reduction, accumulator, input, elements);
  case CGX_I8:
    return reduceAs<Native<int8_t>>(reduction, accumulator, input, elements);
  case CGX_I16:
    return reduceAs<Native<int16_t>>(reduction, accumulator, input, elements);
  case CGX_I32:
    return reduceAs<Native<int32_t>>(reduction, accumulator, input, elements);
  case CGX_I64:
    return reduceAs<Native<int64_t>>(reduction, accumulator, input, elements);
  case CGX_U8:
    return reduceAs<Native<uint8_t>>(reduction, accumulator, input, elements);
  case CGX_U16:
    return reduceAs<Native<uint16_t>>(reduction, accumulator, input, elements);
  case CGX_U32:
    return reduceAs<Native<uint32_t>>(reduction, accumulator, input, elements);
  case CGX_U64:
    return reduceAs<Native<uint64_t>>(reduction, accumulator, input, elements);
  case CGX_BOOL:
    return reduceAs<Bool>(reduction, accumulator, input, elements);
  case CGX_ELEMENT_TYPE_COUNT:
    return;
  }
}

void scaleElements(cgx_element_type type, void *data, uint64_t elements, double factor) {
  switch (type) {
  case CGX_F32:
    return scaleAs<Native<float>>(data, elements, factor);
  case CGX_F16:
    return scaleAs<Float16>(data, elements, factor);
  case CGX_BF16:
    return scaleAs<Bfloat16>(data, elements, factor);
  case CGX_F64:
    return scaleAs<Native<double>>(data, elements, factor);
  default:
    return;
  }
}

} // namespace cgx
