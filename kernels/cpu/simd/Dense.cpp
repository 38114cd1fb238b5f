//===-- Dense.cpp - Ternary, sign, natural and cast in vectors ------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// foreach_target.h compiles this file once for each instruction set. Rows of 32 elements need buckets of
// whole rows, and random numbers that start with a row; all other cases are left to the reference.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/Dense.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep

#include "hwy/highway.h"

#if HWY_NATIVE_FMA && !HWY_HAVE_SCALABLE
#include "Cast-inl.h"
#include "Natural-inl.h"
#include "Sign-inl.h"
#include "Ternary-inl.h"
#endif

#include "../Families.h"

#if HWY_NATIVE_FMA && !HWY_HAVE_SCALABLE
HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {
namespace {

bool hasWholeRows(const cgx_codec &codec) { return codec.bucket % 32 == 0; }

uint64_t encodeTernary(const EncodeArguments &arguments) {
  if (!hasWholeRows(*arguments.codec) || arguments.firstElement % 32 != 0)
    return ternaryReference.encode(arguments);
  withSource(arguments.source,
             [&]<Source source>(SourceTag<source>) { encodeTernaryFrom<source>(arguments); });
  return cgx_ternary_body_bytes(arguments.codec, arguments.elements);
}

DecodeError decodeTernary(const DecodeArguments &arguments, void *output) {
  if (!hasWholeRows(*arguments.codec))
    return ternaryReference.decode(arguments, output);
  withSink(arguments.type, arguments.elements, output, [&]<Sink sink>(SinkTag<sink>) {
    decodeTernaryTo<sink>(arguments, largestValue(arguments.type), static_cast<OutputOf<sink> *>(output));
  });
  return DecodeError::ok;
}

DecodeError accumulateTernary(const DecodeArguments &arguments, float *accumulator) {
  if (!hasWholeRows(*arguments.codec))
    return ternaryReference.decodeAccumulate(arguments, accumulator);
  decodeTernaryTo<Sink::accumulate>(arguments, largestValue(CGX_F32), accumulator);
  return DecodeError::ok;
}

uint64_t encodeSign(const EncodeArguments &arguments) {
  if (!hasWholeRows(*arguments.codec))
    return signReference.encode(arguments);
  withSource(arguments.source, [&]<Source source>(SourceTag<source>) { encodeSignFrom<source>(arguments); });
  return cgx_sign_body_bytes(arguments.codec, arguments.elements);
}

DecodeError decodeSign(const DecodeArguments &arguments, void *output) {
  if (!hasWholeRows(*arguments.codec))
    return signReference.decode(arguments, output);
  withSink(arguments.type, arguments.elements, output, [&]<Sink sink>(SinkTag<sink>) {
    decodeSignTo<sink>(arguments, largestValue(arguments.type), static_cast<OutputOf<sink> *>(output));
  });
  return DecodeError::ok;
}

DecodeError accumulateSign(const DecodeArguments &arguments, float *accumulator) {
  if (!hasWholeRows(*arguments.codec))
    return signReference.decodeAccumulate(arguments, accumulator);
  decodeSignTo<Sink::accumulate>(arguments, largestValue(CGX_F32), accumulator);
  return DecodeError::ok;
}

uint64_t encodeNatural(const EncodeArguments &arguments) {
  if (arguments.firstElement % 32 != 0)
    return naturalReference.encode(arguments);
  withSource(arguments.source,
             [&]<Source source>(SourceTag<source>) { encodeNaturalFrom<source>(arguments); });
  return cgx_natural_body_bytes(arguments.elements);
}

DecodeError decodeNatural(const DecodeArguments &arguments, void *output) {
  withSink(arguments.type, arguments.elements, output, [&]<Sink sink>(SinkTag<sink>) {
    decodeNaturalTo<sink>(arguments, largestValue(arguments.type), static_cast<OutputOf<sink> *>(output));
  });
  return DecodeError::ok;
}

DecodeError accumulateNatural(const DecodeArguments &arguments, float *accumulator) {
  decodeNaturalTo<Sink::accumulate>(arguments, largestValue(CGX_F32), accumulator);
  return DecodeError::ok;
}

uint64_t encodeCast(const EncodeArguments &arguments) {
  const cgx_codec &codec = *arguments.codec;
  if (!hasWholeRows(codec) && !isNvfp4(codec))
    return castReference.encode(arguments);
  withSource(arguments.source, [&]<Source source>(SourceTag<source>) {
    switch (codec.format) {
    case CGX_FORMAT_BF16:
      return encodeHalves<Source::bf16, source>(arguments);
    case CGX_FORMAT_F16:
      return encodeHalves<Source::f16, source>(arguments);
    case CGX_FORMAT_FP8_E5M2:
      return encodeMini<e5m2, /*clamped=*/false, source>(arguments);
    case CGX_FORMAT_FP8_E4M3:
      return encodeMini<e4m3, /*clamped=*/false, source>(arguments);
    case CGX_FORMAT_MXFP4:
      return encodeMini<e2m1, /*clamped=*/true, source>(arguments);
    case CGX_FORMAT_NVFP4:
      return encodeNvfp4<source>(arguments);
    default:
      return encodeMini<e4m3, /*clamped=*/true, source>(arguments);
    }
  });
  return cgx_cast_body_bytes(&codec, arguments.elements);
}

template <Sink sink>
void decodeCastTo(const DecodeArguments &arguments, float limit, OutputOf<sink> *output) {
  switch (arguments.codec->format) {
  case CGX_FORMAT_BF16:
    return decodeHalves<Source::bf16, sink>(arguments, limit, output);
  case CGX_FORMAT_F16:
    return decodeHalves<Source::f16, sink>(arguments, limit, output);
  case CGX_FORMAT_FP8_E5M2:
    return decodeMini<e5m2, sink>(arguments, limit, output);
  case CGX_FORMAT_MXFP4:
    return decodeMini<e2m1, sink>(arguments, limit, output);
  case CGX_FORMAT_NVFP4:
    return decodeNvfp4<sink>(arguments, limit, output);
  default:
    return decodeMini<e4m3, sink>(arguments, limit, output);
  }
}

DecodeError decodeCast(const DecodeArguments &arguments, void *output) {
  if (!hasWholeRows(*arguments.codec) && !isNvfp4(*arguments.codec))
    return castReference.decode(arguments, output);
  withSink(arguments.type, arguments.elements, output, [&]<Sink sink>(SinkTag<sink>) {
    decodeCastTo<sink>(arguments, largestValue(arguments.type), static_cast<OutputOf<sink> *>(output));
  });
  return DecodeError::ok;
}

DecodeError accumulateCast(const DecodeArguments &arguments, float *accumulator) {
  if (!hasWholeRows(*arguments.codec) && !isNvfp4(*arguments.codec))
    return castReference.decodeAccumulate(arguments, accumulator);
  decodeCastTo<Sink::accumulate>(arguments, largestValue(CGX_F32), accumulator);
  return DecodeError::ok;
}

} // namespace

// These are declared extern because a const object would be internal to this file.
extern const BodyKernels ternaryKernels, signKernels, naturalKernels, castKernels;
const BodyKernels ternaryKernels = {encodeTernary, decodeTernary, accumulateTernary};
const BodyKernels signKernels = {encodeSign, decodeSign, accumulateSign};
const BodyKernels naturalKernels = {encodeNatural, decodeNatural, accumulateNatural};
const BodyKernels castKernels = {encodeCast, decodeCast, accumulateCast};

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();
#endif
