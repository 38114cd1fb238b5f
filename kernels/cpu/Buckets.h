//===-- Buckets.h - Buckets in a plain loop ---------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CPU_BUCKETS_H
#define CGX_KERNELS_CPU_BUCKETS_H

#include "CodecFamily.h"
#include "cgx/arithmetic/magnitude.h"

namespace cgx {

/// Calls visit(bucket, begin, end) for every bucket of a payload.
template <typename Visit> void forEachBucket(uint64_t bucketElements, uint64_t elements, Visit visit) {
  uint64_t bucket = 0;
  for (uint64_t begin = 0; begin < elements; begin += bucketElements, ++bucket)
    visit(bucket, begin, elements - begin < bucketElements ? elements : begin + bucketElements);
}

/// Returns the bits of the largest magnitude of elements [begin, end).
inline uint32_t largestMagnitudeBits(Source source, const void *input, uint64_t begin, uint64_t end) {
  uint32_t largest = 0;
  for (uint64_t i = begin; i < end; ++i) {
    const uint32_t bits = magnitudeBits(loadElement(source, input, i));
    largest = bits > largest ? bits : largest;
  }
  return largest;
}

/// Decodes by a function forEachValue(arguments, limit, consume), which calls consume(index, value).
/// storeValues() stores the values as elements; addValues() adds them to an accumulator.
template <typename ForEachValue>
DecodeError storeValues(const DecodeArguments &arguments, void *output, ForEachValue forEachValue) {
  forEachValue(arguments, largestValue(arguments.type),
               [&](uint64_t i, float value) { storeElement(arguments.type, output, i, value); });
  return DecodeError::ok;
}

template <typename ForEachValue>
DecodeError addValues(const DecodeArguments &arguments, float *accumulator, ForEachValue forEachValue) {
  forEachValue(arguments, largestValue(CGX_F32), [&](uint64_t i, float value) { accumulator[i] += value; });
  return DecodeError::ok;
}

} // namespace cgx

#endif // CGX_KERNELS_CPU_BUCKETS_H
