//===-- Natural.cpp - The natural codec in a plain loop -------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/arithmetic/natural.h"
#include "Buckets.h"
#include "Families.h"
#include "cgx/arithmetic/bit_plane.h"

namespace cgx {
namespace {

uint64_t encode(const EncodeArguments &arguments) {
  uint8_t *exponents = arguments.body, *negative = exponents + arguments.elements;
  memset(negative, 0, planeBytes(arguments.elements));
  for (uint64_t i = 0; i < arguments.elements; ++i) {
    const float x = loadElement(arguments.source, arguments.input, i);
    exponents[i] = uint8_t(naturalExponent(x, randomHalf(arguments.key, arguments.firstElement + i)));
    setBit(negative, i, x < 0.0f);
  }
  return cgx_natural_body_bytes(arguments.elements);
}

template <typename Consume>
void forEachValue(const DecodeArguments &arguments, float limit, const Consume &consume) {
  const uint8_t *exponents = arguments.body, *negative = exponents + arguments.elements;
  for (uint64_t i = 0; i < arguments.elements; ++i)
    consume(i, naturalValue(exponents[i], loadBit(negative, i), limit));
}

DecodeError decode(const DecodeArguments &arguments, void *output) {
  return storeValues(arguments, output, [](const auto &...all) { forEachValue(all...); });
}

DecodeError decodeAccumulate(const DecodeArguments &arguments, float *accumulator) {
  return addValues(arguments, accumulator, [](const auto &...all) { forEachValue(all...); });
}

} // namespace

const BodyKernels naturalReference = {encode, decode, decodeAccumulate};

} // namespace cgx
