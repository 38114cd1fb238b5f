//===-- Programs.h - Manifests for tests -------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TEST_UNIT_RUNTIME_PROGRAMS_H
#define CGX_TEST_UNIT_RUNTIME_PROGRAMS_H

#include "cgx/codec.h"

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace cgx::test {

using Json = nlohmann::json;

struct OperandSpec {
  cgx_element_type type = CGX_F32;
  std::vector<uint64_t> shape;
  cgx_codec codec{};
  std::string layer = "params/w";
  std::optional<cgx_codec> back = {}; ///< the codec of results, if it is another one
  /// The tensors of an optimizer, by cgx_kept, for codecs that need them. They may belong to a larger
  /// operand, in which this one begins with element `first`.
  std::array<std::vector<float>, CGX_KEPT_COUNT> kept = {};
  uint64_t first = 0;

  uint64_t elements() const;
};

/// Returns one collective of a manifest; `more` holds the fields of its kind.
Json collectiveJson(uint32_t id, const std::string &kind, const std::vector<std::vector<uint32_t>> &groups,
                    const std::vector<OperandSpec> &operands, const Json &more = Json::object());

std::string manifestText(uint32_t ranks, const std::vector<Json> &collectives,
                         const std::string &hash = "0123");

/// Returns one group of all ranks.
std::vector<std::vector<uint32_t>> everybody(uint32_t ranks);

cgx_codec quantize(uint32_t bits, uint32_t bucket, cgx_rounding rounding = CGX_ROUND_STOCHASTIC,
                   cgx_scale_type scale = CGX_SCALE_BF16, bool checksum = false);

} // namespace cgx::test

#endif // CGX_TEST_UNIT_RUNTIME_PROGRAMS_H
