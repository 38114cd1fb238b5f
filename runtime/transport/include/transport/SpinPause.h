//===-- transport/SpinPause.h - The pause of a spin loop --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_SPINPAUSE_H
#define CGX_RUNTIME_TRANSPORT_SPINPAUSE_H

namespace cgx {

/// Yields the core to its other hardware thread for a moment.
inline void spinPause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_SPINPAUSE_H
