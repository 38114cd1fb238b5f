//===-- cgx/formats/CodecJson.h - Codecs as JSON ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The codec entries of a manifest, for everybody who reads or writes one.
#ifndef CGX_FORMATS_CODECJSON_H
#define CGX_FORMATS_CODECJSON_H

#include "cgx/codec.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace cgx {

/// Reads an entry into `codec`: names and types only, not whether a parameter is in its range. Returns
/// what is wrong, or "".
std::string readCodec(const nlohmann::json &entry, cgx_codec &codec);

/// The entry of a codec.
nlohmann::json writeCodec(const cgx_codec &codec);

/// The entry of a codec as people write it, `quantize bits=4`: a family, or a case of one that is its short
/// form
/// (`mxfp4`), and its parameters, separated by blanks. What is left out has its usual value.
nlohmann::json readCodecLabel(const std::string &text);

} // namespace cgx

#endif // CGX_FORMATS_CODECJSON_H
