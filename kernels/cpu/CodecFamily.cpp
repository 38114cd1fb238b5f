//===-- CodecFamily.cpp - The table of codec families ---------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodecFamily.h"

#include "Families.h"

#include <array>

namespace cgx {
namespace {

/// By number. Null: the number is taken, but this build has no kernels for it.
constexpr std::array<const CodecFamily *, CGX_CODEC_FAMILY_COUNT> listFamilies() {
  std::array<const CodecFamily *, CGX_CODEC_FAMILY_COUNT> families = {};
  families[CGX_CODEC_IDENTITY] = &identityFamily;
  families[CGX_CODEC_QUANTIZE] = &quantizeFamily;
  families[CGX_CODEC_TERNARY] = &ternaryFamily;
  families[CGX_CODEC_SIGN] = &signFamily;
  families[CGX_CODEC_NATURAL] = &naturalFamily;
  families[CGX_CODEC_CAST] = &castFamily;
  families[CGX_CODEC_TOPK] = &topkFamily;
  families[CGX_CODEC_RANDK] = &randkFamily;
  families[CGX_CODEC_THRESHOLD] = &thresholdFamily;
  families[CGX_CODEC_ADAPTIVE_THRESHOLD] = &adaptiveThresholdFamily;
  families[CGX_CODEC_LOSSLESS] = &losslessFamily;
  families[CGX_CODEC_GCOMP] = &gcompFamily;
  return families;
}

} // namespace

const CodecFamily *findCodecFamily(uint32_t family) {
  static constexpr std::array<const CodecFamily *, CGX_CODEC_FAMILY_COUNT> families = listFamilies();
  return family < families.size() ? families[family] : nullptr;
}

const BodyKernels &bodyKernels(const CodecFamily &family, uint32_t number, const Implementation &with) {
  const BodyKernels *own = with.families ? with.families[number] : nullptr;
  return own ? *own : *family.reference;
}

const char *checkIsFloat(cgx_element_type type) {
  return type == CGX_F32 || type == CGX_F16 || type == CGX_BF16
             ? nullptr
             : "expected element type f32, f16 or bf16 for a codec other than identity";
}

const char *checkBucket(const cgx_codec &codec) {
  return codec.bucket < 1 ? "expected a bucket of at least 1 element" : nullptr;
}

const char *checkDensity(const cgx_codec &codec) {
  return codec.density > 0.0f && codec.density <= 1.0f ? nullptr : "expected a density above 0 and up to 1";
}

const char *checkScaleType(const cgx_codec &codec) {
  return codec.scale > CGX_SCALE_F32 ? "expected scale bf16 or f32" : nullptr;
}

} // namespace cgx
