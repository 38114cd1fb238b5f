//===-- ReferenceQuantize.h - The quantize codec in a plain loop --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CPU_REFERENCEQUANTIZE_H
#define CGX_KERNELS_CPU_REFERENCEQUANTIZE_H

#include "QuantizeKernels.h"

namespace cgx {

extern const QuantizeKernels referenceQuantizeKernels;

} // namespace cgx

#endif // CGX_KERNELS_CPU_REFERENCEQUANTIZE_H
