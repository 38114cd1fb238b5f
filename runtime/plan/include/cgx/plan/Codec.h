//===-- cgx/plan/Codec.h - Codecs as text -*- C++ -*--===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans treat a codec as an opaque JSON object, as in manifests, such as {"family": "quantize", "bits": 4,
// ...}. So a new family needs no line here.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PLAN_CODEC_H
#define CGX_PLAN_CODEC_H

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cgx::plan {

/// The uncompressed codec, which is always a candidate.
inline constexpr const char *kUncompressed = R"({"family":"identity"})";

/// Returns the canonical spelling of a codec: sorted keys, no flag that is off. Throws Error.
std::string canonicalCodec(std::string_view json);

/// Reads `identity`, or `quantize bits=4 bucket=128`: a family and its parameters, separated by blanks or
/// commas. Parameters that are left out have the compiler's defaults. Throws Error.
std::string parseCodecLabel(std::string_view label);

/// Returns all codecs for which a label with several values of a parameter stands: `bits=2..8
/// bucket=128|512`. Throws Error.
std::vector<std::string> expandCodecLabel(std::string_view label);

/// Splits `weight=quantize bits=8` into kind and label; a label alone has no kind.
std::pair<std::string, std::string> splitKind(std::string_view text);

/// Returns the label for people: `quantize bits=4 bucket=128 rounding=stochastic scale=bf16`.
std::string codecLabel(std::string_view json);

/// Returns the label without the parameters that have their defaults.
std::string shortCodecLabel(std::string_view json);

} // namespace cgx::plan

#endif // CGX_PLAN_CODEC_H
