//===-- Families.h - The list of codec families -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CPU_FAMILIES_H
#define CGX_KERNELS_CPU_FAMILIES_H

#include "CodecFamily.h"

namespace cgx {

/// Declares the reference loops of every family, each of which has its own file. Families without payloads
/// define none.
#define CGX_FAMILY(constant, name, cpp_name, traits, summary) extern const BodyKernels cpp_name##Reference;
CGX_CODEC_FAMILIES(CGX_FAMILY)
#undef CGX_FAMILY

} // namespace cgx

#endif // CGX_KERNELS_CPU_FAMILIES_H
