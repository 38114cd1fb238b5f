//===-- FamilyList.h - The families that have kernels -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_GROUP_FAMILYLIST_H
#define CGX_KERNELS_CUDA_GROUP_FAMILYLIST_H

#include "Quantize.h"
#include "SmallFamilies.h"

#include <type_traits>

namespace cgx::cuda {

/// Returns whether a codec belongs to a family of kernels.
template <typename Family> bool isOf(const cgx_codec &codec) = delete;
template <> inline bool isOf<Identity>(const cgx_codec &codec) { return codec.family == CGX_CODEC_IDENTITY; }
template <> inline bool isOf<Quantize>(const cgx_codec &codec) { return codec.family == CGX_CODEC_QUANTIZE; }
template <> inline bool isOf<Ternary>(const cgx_codec &codec) { return codec.family == CGX_CODEC_TERNARY; }
template <> inline bool isOf<Sign>(const cgx_codec &codec) { return codec.family == CGX_CODEC_SIGN; }
template <> inline bool isOf<Natural>(const cgx_codec &codec) { return codec.family == CGX_CODEC_NATURAL; }
template <> inline bool isOf<CastTo16>(const cgx_codec &codec) {
  return codec.family == CGX_CODEC_CAST && codec.bucket == 0;
}
template <> inline bool isOf<CastScaled>(const cgx_codec &codec) {
  return codec.family == CGX_CODEC_CAST && codec.bucket != 0;
}

/// Calls visit(std::type_identity<Family>()) for each.
template <typename Visit> void forEachFamily(const Visit &visit) {
  visit(std::type_identity<Identity>());
  visit(std::type_identity<Quantize>());
  visit(std::type_identity<Ternary>());
  visit(std::type_identity<Sign>());
  visit(std::type_identity<Natural>());
  visit(std::type_identity<CastTo16>());
  visit(std::type_identity<CastScaled>());
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_FAMILYLIST_H
