//===-- FlushDenormals.h - Float arithmetic as XLA's threads do it -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TOOLS_JAX_FFI_FLUSHDENORMALS_H
#define CGX_TOOLS_JAX_FFI_FLUSHDENORMALS_H

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace cgx::xla {

/// While one lives, its thread takes floats below the least normal one for zero, as XLA's own threads do. A
/// program that goes on in another thread without it gives other bits, and which thread that is differs
/// between ranks.
class FlushDenormals {
public:
  FlushDenormals() : before_(get()) { set(before_ | kFlush); }
  ~FlushDenormals() { set(before_); }
  FlushDenormals(const FlushDenormals &) = delete;
  FlushDenormals &operator=(const FlushDenormals &) = delete;

private:
#if defined(__x86_64__)
  using Word = unsigned;
  static constexpr Word kFlush = 0x8040; ///< of results, and of operands
  static Word get() { return _mm_getcsr(); }
  static void set(Word word) { _mm_setcsr(word); }
#elif defined(__aarch64__)
  using Word = uint64_t;
  static constexpr Word kFlush = uint64_t{1} << 24; ///< of both
  static Word get() {
    Word word;
    asm volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void set(Word word) { asm volatile("msr fpcr, %0" : : "r"(word)); }
#else
#error "expected x86-64 or AArch64, on which XLA flushes denormals"
#endif

  Word before_;
};

} // namespace cgx::xla

#endif // CGX_TOOLS_JAX_FFI_FLUSHDENORMALS_H
