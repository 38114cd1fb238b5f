//===-- Sinks-inl.h - Destinations of decoded values ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#if defined(CGX_KERNELS_CPU_SIMD_SINKS) == defined(HWY_TARGET_TOGGLE)
#ifdef CGX_KERNELS_CPU_SIMD_SINKS
#undef CGX_KERNELS_CPU_SIMD_SINKS
#else
#define CGX_KERNELS_CPU_SIMD_SINKS
#endif

#include "Vectors-inl.h"
#include "hwy/cache_control.h"

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {

/// The destination of decoded values: stored as f32 through the cache or past it, stored as f16 or bf16, or
/// added to f32.
enum class Sink { f32, streamedF32, f16, bf16, accumulate };

/// The type of the elements that a sink writes.
template <Sink sink>
using OutputOf = std::conditional_t<sink == Sink::f16 || sink == Sink::bf16, uint16_t, float>;

/// The size from which on outputs are written past the cache.
constexpr uint64_t streamFromBytes = 8ull << 20;

/// The distance at which accumulators are prefetched.
constexpr uint64_t accumulateAheadBytes = 4096;

/// Writes a vector of values. A streamed destination must be aligned.
template <Sink sink> HWY_INLINE void emit(FloatVector value, OutputOf<sink> *HWY_RESTRICT out) {
  const Floats floats;
  if constexpr (sink == Sink::accumulate) {
    hwy::Prefetch(reinterpret_cast<const char *>(reinterpret_cast<uintptr_t>(out) + accumulateAheadBytes));
    hn::StoreU(hn::Add(hn::LoadU(floats, out), value), floats, out);
  } else if constexpr (sink == Sink::streamedF32) {
    hn::Stream(value, floats, out);
  } else if constexpr (sink == Sink::f32) {
    hn::StoreU(value, floats, out);
  } else if constexpr (sink == Sink::f16) {
    const hn::Rebind<hwy::float16_t, Floats> narrow;
    hn::StoreU(hn::DemoteTo(narrow, value), narrow, reinterpret_cast<hwy::float16_t *>(out));
  } else {
    const WordVector bits = hn::ShiftRight<16>(roundToBfloat16(value));
    hn::StoreU(hn::TruncateTo(NarrowHalves(), bits), NarrowHalves(), out);
  }
}

template <Sink sink> using SinkTag = std::integral_constant<Sink, sink>;

/// Calls decode(SinkTag<sink>()) for the sink of an output.
template <class Decode>
void withSink(cgx_element_type type, uint64_t elements, const void *output, Decode decode) {
  if (type == CGX_F16)
    return decode(SinkTag<Sink::f16>());
  if (type == CGX_BF16)
    return decode(SinkTag<Sink::bf16>());
  if (elements * 4 < streamFromBytes || reinterpret_cast<uintptr_t>(output) % 64 != 0)
    return decode(SinkTag<Sink::f32>());
  decode(SinkTag<Sink::streamedF32>());
  hwy::FlushStream();
}

/// Writes one value.
template <Sink sink> HWY_INLINE void emitOne(float value, OutputOf<sink> *out) {
  if constexpr (sink == Sink::accumulate)
    *out += value;
  else
    storeElement(sink == Sink::f16 ? CGX_F16 : sink == Sink::bf16 ? CGX_BF16 : CGX_F32, out, 0, value);
}

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
