//===-- Identity.cpp - Exact payloads: raw elements -----------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "cgx/arithmetic/elements.h"

namespace cgx {
namespace {

uint64_t encode(const EncodeArguments &arguments) {
  const uint64_t elements = arguments.elements;
  if (arguments.source == Source::f32ToF16)
    for (uint64_t i = 0; i < elements; ++i)
      storeElement(CGX_F16, arguments.body, i, loadF32(arguments.input, i));
  else if (arguments.source == Source::f32ToBf16)
    for (uint64_t i = 0; i < elements; ++i)
      storeElement(CGX_BF16, arguments.body, i, loadF32(arguments.input, i));
  else
    memcpy(arguments.body, arguments.input, elements * cgx_element_bytes(arguments.type));
  return elements * cgx_element_bytes(arguments.type);
}

DecodeError decode(const DecodeArguments &arguments, void *output) {
  memcpy(output, arguments.body, arguments.bodyBytes);
  return DecodeError::ok;
}

template <Source source> void accumulate(const DecodeArguments &arguments, float *accumulator) {
  for (uint64_t i = 0; i < arguments.elements; ++i)
    accumulator[i] += loadElement(source, arguments.body, i);
}

DecodeError decodeAccumulate(const DecodeArguments &arguments, float *accumulator) {
  if (arguments.type == CGX_F16)
    accumulate<Source::f16>(arguments, accumulator);
  else if (arguments.type == CGX_BF16)
    accumulate<Source::bf16>(arguments, accumulator);
  else
    accumulate<Source::f32>(arguments, accumulator);
  return DecodeError::ok;
}

} // namespace

const BodyKernels identityReference = {encode, decode, decodeAccumulate};

} // namespace cgx
