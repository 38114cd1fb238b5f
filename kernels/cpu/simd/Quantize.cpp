//===-- Quantize.cpp - The quantize codec in vectors, per instruction set --===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// foreach_target.h compiles this file once for each instruction set.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/Quantize.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep

#include "hwy/highway.h"

#if HWY_NATIVE_FMA && !HWY_HAVE_SCALABLE
#include "Mapped-inl.h"
#include "Segments-inl.h"
#endif

#include "../QuantizeBody.h"
#include "Implementations.h"

#if HWY_NATIVE_FMA && !HWY_HAVE_SCALABLE
HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {
namespace {

/// Calls function<bits>() for the codec's bits, which have been checked.
#define CGX_DISPATCH_BITS(function, bits, ...)                                                               \
  switch (bits) {                                                                                            \
  case 1:                                                                                                    \
    return function<1>(__VA_ARGS__);                                                                         \
  case 2:                                                                                                    \
    return function<2>(__VA_ARGS__);                                                                         \
  case 3:                                                                                                    \
    return function<3>(__VA_ARGS__);                                                                         \
  case 4:                                                                                                    \
    return function<4>(__VA_ARGS__);                                                                         \
  case 5:                                                                                                    \
    return function<5>(__VA_ARGS__);                                                                         \
  case 6:                                                                                                    \
    return function<6>(__VA_ARGS__);                                                                         \
  case 7:                                                                                                    \
    return function<7>(__VA_ARGS__);                                                                         \
  default:                                                                                                   \
    return function<8>(__VA_ARGS__);                                                                         \
  }

template <uint32_t bits> void encodeLevels(const QuantizeEncodeArguments &arguments) {
  if (arguments.codec->levels == CGX_LEVELS_UNIFORM)
    encodeBits<bits>(arguments);
  else
    encodeMappedLevels(arguments, packBuffer<bits>);
}

template <uint32_t bits>
void decodeLevels(const QuantizeDecodeArguments &arguments, cgx_element_type type, void *output) {
  if (arguments.codec->levels == CGX_LEVELS_UNIFORM)
    return decodeBits<bits>(arguments, type, output);
  withSink(type, arguments.elements, output, [&]<Sink sink>(SinkTag<sink>) {
    decodeMappedLevels<sink>(arguments, unpackBuffer<bits>, largestValue(type),
                             static_cast<OutputOf<sink> *>(output));
  });
}

template <uint32_t bits> void accumulateLevels(const QuantizeDecodeArguments &arguments, float *accumulator) {
  if (arguments.codec->levels == CGX_LEVELS_UNIFORM)
    decodeAccumulateBits<bits>(arguments, accumulator);
  else
    decodeMappedLevels<Sink::accumulate>(arguments, unpackBuffer<bits>, largestValue(CGX_F32), accumulator);
}

void encodeSections(const QuantizeEncodeArguments &arguments) {
  CGX_DISPATCH_BITS(encodeLevels, arguments.codec->bits, arguments)
}

void decodeSections(const QuantizeDecodeArguments &arguments, cgx_element_type type, void *output) {
  CGX_DISPATCH_BITS(decodeLevels, arguments.codec->bits, arguments, type, output)
}

void accumulateSections(const QuantizeDecodeArguments &arguments, float *accumulator){
    CGX_DISPATCH_BITS(accumulateLevels, arguments.codec -> bits, arguments, accumulator)}

#undef CGX_DISPATCH_BITS

uint64_t encode(const EncodeArguments &arguments) {
  encodeSections(cutBody(arguments));
  return cgx_quantize_body_bytes(arguments.codec, arguments.elements);
}

DecodeError decode(const DecodeArguments &arguments, void *output) {
  decodeSections(cutBody(arguments), arguments.type, output);
  return DecodeError::ok;
}

DecodeError decodeAccumulate(const DecodeArguments &arguments, float *accumulator) {
  accumulateSections(cutBody(arguments), accumulator);
  return DecodeError::ok;
}

} // namespace

extern const BodyKernels quantizeKernels; // extern, because a const object would be internal to this file
const BodyKernels quantizeKernels = {encode, decode, decodeAccumulate};

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();
#endif
