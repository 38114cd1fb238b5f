//===-- kernels/cpu/Randk.cpp - Elements at random places -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "SparseBody.h"
#include "cgx/arithmetic/strata.h"

namespace cgx {
namespace {

constexpr uint64_t keyBegin = 4, valuesBegin = 12;

/// Returns the key of the positions, which depends only on the payload's key and on where in the tensor the
/// payload begins.
RandomKey keyOfPositions(const EncodeArguments &arguments) {
  return RandomKey{mixBits(arguments.key.value + arguments.firstElement)};
}

template <typename Load> void encodeFrom(const EncodeArguments &arguments, const Load &load) {
  const uint64_t elements = arguments.elements, count = cgx_sparse_count(arguments.codec, elements);
  uint32_t anyNotFinite = 0;
  for (uint64_t i = 0; i < elements; ++i)
    anyNotFinite |= uint32_t(magnitudeBits(load(arguments.input, i)) >= infinityBits);
  storeRest(arguments.body, !anyNotFinite);
  const RandomKey key = keyOfPositions(arguments);
  memcpy(arguments.body + keyBegin, &key.value, sizeof key.value);
  const RandomStream stream = makeRandomStream(key, 0);
  for (uint64_t i = 0; i < count; ++i)
    storeElement(arguments.type, arguments.body + valuesBegin, i,
                 load(arguments.input, drawPosition(stream, elements, count, i)));
}

uint64_t encode(const EncodeArguments &arguments) {
  withSource(arguments.source, [&](auto load) { encodeFrom(arguments, load); });
  return cgx_randk_body_bytes(arguments.codec, arguments.type, arguments.elements);
}

/// Calls take(i, position) for every value of the body.
template <typename Take> void forEachDrawn(const DecodeArguments &arguments, const Take &take) {
  RandomKey key;
  memcpy(&key.value, arguments.body + keyBegin, sizeof key.value);
  const RandomStream stream = makeRandomStream(key, 0);
  const uint64_t count = cgx_sparse_count(arguments.codec, arguments.elements);
  for (uint64_t i = 0; i < count; ++i)
    take(i, drawPosition(stream, arguments.elements, count, i));
}

DecodeError decode(const DecodeArguments &arguments, void *output) {
  storeSparse(arguments, loadRest(arguments.body), arguments.body + valuesBegin, output,
              [&](const auto &take) { forEachDrawn(arguments, take); });
  return DecodeError::ok;
}

DecodeError decodeAccumulate(const DecodeArguments &arguments, float *accumulator) {
  addSparse(arguments, loadRest(arguments.body), arguments.body + valuesBegin, accumulator,
            [&](const auto &take) { forEachDrawn(arguments, take); });
  return DecodeError::ok;
}

} // namespace

const BodyKernels randkReference = {encode, decode, decodeAccumulate};

} // namespace cgx
