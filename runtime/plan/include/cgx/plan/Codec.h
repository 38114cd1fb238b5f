//===-- cgx/plan/Codec.h - Codecs as text -*- C++ -*--===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan never looks into a codec: it is the JSON object that manifests have, such as
// {"family": "quantize", "bits": 4, ...}. So a new family needs no line here.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PLAN_CODEC_H
#define CGX_PLAN_CODEC_H

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cgx::plan {

/// The codec that changes nothing, always a candidate.
inline constexpr const char *kExact = R"({"family":"identity"})";

/// One spelling for one codec: sorted keys, no flag that is off. Throws Error.
std::string canonicalCodec(std::string_view json);

/// From `identity`, or `quantize bits=4 bucket=128`: a family and its parameters, separated
/// by blanks or commas. What is left out of quantize has the compiler's default. Throws Error.
std::string parseCodecLabel(std::string_view label);

/// From a label with several values of a parameter, `bits=2..8 bucket=128|512`, all codecs that
/// it stands for. Throws Error.
std::vector<std::string> expandCodecLabel(std::string_view label);

/// `weight=quantize bits=8` as kind and label; a label alone is of no kind.
std::pair<std::string, std::string> splitKind(std::string_view text);

/// For people: `quantize bits=4 bucket=128 rounding=stochastic scale=bf16`.
std::string codecLabel(std::string_view json);

/// The label without the parameters that have their defaults.
std::string shortCodecLabel(std::string_view json);

} // namespace cgx::plan

#endif // CGX_PLAN_CODEC_H
