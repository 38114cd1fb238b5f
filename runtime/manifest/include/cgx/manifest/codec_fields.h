//===-- cgx/manifest/codec_fields.h - Codecs by name -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the manifest calls codec families, their parameters, and the cases of these. One
// table, from which codecs are read, written and described.
#ifndef CGX_MANIFEST_CODEC_FIELDS_H
#define CGX_MANIFEST_CODEC_FIELDS_H

#include "cgx/codec.h"

#include <span>
#include <string>
#include <string_view>

namespace cgx {

/// One parameter of a family: a whole number between `least` and `most`, a case of an enumeration (if
/// `cases` are given, the name of case i at i), a flag, or, in place of these, a real number.
struct CodecField {
  const char *name;
  uint32_t cgx_codec::*number = nullptr;
  float cgx_codec::*real = nullptr;
  uint32_t least = 0;
  uint32_t most = UINT32_MAX;
  std::span<const std::string_view> cases = {};
  bool isFlag = false;
  bool isOptional = false; ///< not written where it is 0, and 0 where it is not there
};

struct CodecFamilyFields {
  const char *name;
  cgx_codec_family family;
  std::span<const CodecField> fields;
};

/// All families that a manifest may name.
std::span<const CodecFamilyFields> codecFamilyFields();

/// The family of that number; it must be one of a manifest.
const CodecFamilyFields &fieldsOf(uint32_t family);

/// Whether a codec's field is 0: then one that is optional is not written.
bool isZero(const CodecField &field, const cgx_codec &codec);

/// The shortest number that reads as this one, such as "0.01".
std::string realText(float value);

/// Such as "quantize bits=4 bucket=128 rounding=stochastic scale=bf16".
std::string describeCodec(const cgx_codec &codec);

} // namespace cgx

#endif // CGX_MANIFEST_CODEC_FIELDS_H
