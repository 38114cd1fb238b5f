//===-- CodecFamily.cpp - The table of codec families ---------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodecFamily.h"

#include "Families.h"

namespace cgx {

const BodyKernels &bodyKernels(uint32_t family, const Implementation &with) {
  static constexpr const BodyKernels *references[] = {
#define CGX_FAMILY(constant, name, cpp_name, traits, summary)                                                \
  (traits) & CGX_HAS_NO_PAYLOADS ? nullptr : &cpp_name##Reference,
      CGX_CODEC_FAMILIES(CGX_FAMILY)
#undef CGX_FAMILY
  };
  const BodyKernels *own = with.families ? with.families[family] : nullptr;
  return own ? *own : *references[family];
}

} // namespace cgx
