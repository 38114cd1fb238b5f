//===-- kernels/cpu/Topk.cpp - The largest elements -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChunkedTopk.h"
#include "Families.h"
#include "TopkCut.h"

namespace cgx {
namespace {

template <typename Load> void encodeFrom(const EncodeArguments &arguments, const Load &load) {
  const uint64_t elements = arguments.elements, count = cgx_sparse_count(arguments.codec, elements);
  const auto value = [&](uint64_t i) { return load(arguments.input, i); };
  const auto magnitude = [&](uint64_t i) { return magnitudeBits(value(i)); };
  const Cut cut = findCut(elements, count, magnitude);
  // NaNs and infinities are larger than all numbers. If they fill all places, some of them may be left out.
  storeRest(arguments.body, cut.magnitude < infinityBits);
  PositionsWriter positions(elements, count, arguments.body + 4);
  uint8_t *values = arguments.body + 4 + cgx_position_bytes(elements, count);
  uint64_t sent = 0;
  forEachOfLargest(elements, cut, value, [&](uint64_t i, float x) {
    positions.add(i);
    storeElement(arguments.type, values, sent++, x);
  });
  positions.finish();
}

uint64_t encode(const EncodeArguments &arguments) {
  if (arguments.codec->bits != 0)
    return encodeTopkLevels(arguments);
  withSource(arguments.source, [&](auto load) { encodeFrom(arguments, load); });
  return cgx_topk_body_bytes(arguments.codec, arguments.type, arguments.elements);
}

template <typename Put> DecodeError decodeWith(const DecodeArguments &arguments, const Put &put) {
  const uint64_t count = cgx_sparse_count(arguments.codec, arguments.elements);
  const PositionsReader positions(arguments.elements, count, arguments.body + 4);
  if (!positions.isWellFormed())
    return DecodeError::malformed;
  put(arguments.body + 4 + cgx_position_bytes(arguments.elements, count),
      [&](const auto &take) { positions.forEach(take); });
  return DecodeError::ok;
}

DecodeError decode(const DecodeArguments &arguments, void *output) {
  if (arguments.codec->bits != 0)
    return decodeTopkLevels(arguments, output);
  return decodeWith(arguments, [&](const uint8_t *values, const auto &forEachSent) {
    storeSparse(arguments, loadRest(arguments.body), values, output, forEachSent);
  });
}

DecodeError decodeAccumulate(const DecodeArguments &arguments, float *accumulator) {
  if (arguments.codec->bits != 0)
    return addTopkLevels(arguments, accumulator);
  return decodeWith(arguments, [&](const uint8_t *values, const auto &forEachSent) {
    addSparse(arguments, loadRest(arguments.body), values, accumulator, forEachSent);
  });
}

} // namespace

const BodyKernels topkReference = {encode, decode, decodeAccumulate};

} // namespace cgx
