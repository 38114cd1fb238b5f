//===-- RandomCodecs.h - Codecs with any parameters ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TEST_UNIT_CUDA_RANDOMCODECS_H
#define CGX_TEST_UNIT_CUDA_RANDOMCODECS_H

#include "cgx/codec.h"

#include <random>
#include <string>

namespace cgx::test {

/// Returns a codec of that family that the kernels accept for elements of that type: those for GPUs, if there
/// are any.
cgx_codec randomCodec(uint32_t family, cgx_element_type type, std::mt19937_64 &random);

/// Describes all fields, for failure messages.
std::string describeFields(const cgx_codec &codec);

} // namespace cgx::test

#endif // CGX_TEST_UNIT_CUDA_RANDOMCODECS_H
