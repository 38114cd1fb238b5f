//===-- kernels/cpu/ChunkedTopk.h - The largest of each bucket, as levels -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CPU_CHUNKEDTOPK_H
#define CGX_KERNELS_CPU_CHUNKEDTOPK_H

#include "CodecFamily.h"

namespace cgx {

/// Encode and decode bodies of topk with `bits`, in which each bucket is encoded by itself.
uint64_t encodeTopkLevels(const EncodeArguments &arguments);
DecodeError decodeTopkLevels(const DecodeArguments &arguments, void *output);
DecodeError addTopkLevels(const DecodeArguments &arguments, float *accumulator);

} // namespace cgx

#endif // CGX_KERNELS_CPU_CHUNKEDTOPK_H
