//===-- Eden.cpp - The eden codec, compiled for each instruction set ------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/Eden.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep

#include "hwy/highway.h"

#if HWY_NATIVE_FMA && !HWY_HAVE_SCALABLE
#include "Eden-inl.h"
#endif

#include "../CodecFamily.h"

#if HWY_NATIVE_FMA && !HWY_HAVE_SCALABLE
HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {
namespace {

/// Calls call(bits as a constant) for the codec's bits, which have been checked.
template <uint32_t bits = 1, class Call> void withBits(uint32_t wanted, const Call &call) {
  if constexpr (bits <= 8) {
    if (wanted == bits)
      return call(std::integral_constant<uint32_t, bits>());
    withBits<bits + 1>(wanted, call);
  }
}

uint64_t encode(const EncodeArguments &arguments) {
  EdenEncoder with = {};
  withSource(arguments.source, [&]<Source source>(SourceTag<source>) { with.rotate = rotateBucket<source>; });
  withBits(arguments.codec->bits, [&]<uint32_t bits>(std::integral_constant<uint32_t, bits>) {
    with.encodeRotated = encodeRotated<bits>;
    with.packCodes = packCodes<bits>;
  });
  encodeEden(with, arguments);
  return cgx_eden_body_bytes(arguments.codec, arguments.elements);
}

UnpackLevels unpackOf(const cgx_codec &codec) {
  UnpackLevels unpack = nullptr;
  withBits(codec.bits,
           [&]<uint32_t bits>(std::integral_constant<uint32_t, bits>) { unpack = unpackLevels<bits>; });
  return unpack;
}

DecodeError decode(const DecodeArguments &arguments, void *output) {
  withSink(arguments.type, arguments.elements, output, [&]<Sink sink>(SinkTag<sink>) {
    decodeEdenTo<sink>(unpackOf(*arguments.codec), arguments, largestValue(arguments.type),
                       static_cast<OutputOf<sink> *>(output));
  });
  return DecodeError::ok;
}

DecodeError decodeAccumulate(const DecodeArguments &arguments, float *accumulator) {
  decodeEdenTo<Sink::accumulate>(unpackOf(*arguments.codec), arguments, largestValue(CGX_F32), accumulator);
  return DecodeError::ok;
}

} // namespace

extern const BodyKernels edenKernels;
const BodyKernels edenKernels = {encode, decode, decodeAccumulate};

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();
#endif
