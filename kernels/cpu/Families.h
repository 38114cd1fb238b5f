//===-- Families.h - The codec families that there are ----------*- C++ -*-===//
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

extern const CodecFamily identityFamily;
extern const CodecFamily quantizeFamily;
extern const CodecFamily ternaryFamily;
extern const CodecFamily signFamily;
extern const CodecFamily naturalFamily;
extern const CodecFamily castFamily;
extern const CodecFamily topkFamily;
extern const CodecFamily randkFamily;
extern const CodecFamily thresholdFamily;
extern const CodecFamily adaptiveThresholdFamily;
extern const CodecFamily losslessFamily;
extern const CodecFamily gcompFamily;

} // namespace cgx

#endif // CGX_KERNELS_CPU_FAMILIES_H
