//===-- cgx/formats/CodecJson.h - Codecs as JSON ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file reads and writes the codec entries of manifests.
#ifndef CGX_FORMATS_CODECJSON_H
#define CGX_FORMATS_CODECJSON_H

#include "cgx/codec.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace cgx {

/// Reads an entry into `codec`. Checks names and types, but not the ranges of parameters. Returns what is
/// wrong, or "".
std::string readCodec(const nlohmann::json &entry, cgx_codec &codec);

/// Returns the entry of a codec.
nlohmann::json writeCodec(const cgx_codec &codec);

/// Returns the entry of a codec written as in options, `quantize bits=4`: a family, or a case of a parameter
/// that is its short form (`mxfp4`), and its parameters, separated by blanks. Parameters that are left out
/// have their usual values.
nlohmann::json readCodecLabel(const std::string &text);

} // namespace cgx

#endif // CGX_FORMATS_CODECJSON_H
