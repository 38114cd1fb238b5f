//===-- Programs.cpp - Manifests for tests -----------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"

#include "cgx/formats/CodecJson.h"

#include <array>
#include <numeric>

namespace cgx::test {

static constexpr std::array<const char *, 13> kTypeNames = {"f32", "f16", "bf16", "f64", "i8",  "i16", "i32",
                                                            "i64", "u8",  "u16",  "u32", "u64", "bool"};

uint64_t OperandSpec::elements() const {
  return std::accumulate(shape.begin(), shape.end(), uint64_t(1), std::multiplies<>());
}

Json collectiveJson(uint32_t id, const std::string &kind, const std::vector<std::vector<uint32_t>> &groups,
                    const std::vector<OperandSpec> &operands, const Json &more) {
  Json list = Json::array();
  for (const OperandSpec &operand : operands) {
    list.push_back({{"layer", operand.layer},
                    {"layer_id", uint64_t(id) * 16 + list.size()},
                    {"kind", "gradient"},
                    {"dtype", kTypeNames[operand.type]},
                    {"elements", operand.elements()},
                    {"shape", operand.shape},
                    {"codec", writeCodec(operand.codec)}});
    if (operand.back)
      list.back()["codec"]["back"] = writeCodec(*operand.back);
  }
  Json json = {{"id", id}, {"kind", kind}, {"groups", groups}, {"operands", std::move(list)}};
  json.update(more);
  return json;
}

std::string manifestText(uint32_t ranks, const std::vector<Json> &collectives, const std::string &hash) {
  return Json({{"cgx_manifest", 1}, {"hash", hash}, {"ranks", ranks}, {"collectives", collectives}}).dump();
}

std::vector<std::vector<uint32_t>> everybody(uint32_t ranks) {
  std::vector<uint32_t> row(ranks);
  std::iota(row.begin(), row.end(), 0u);
  return {row};
}

cgx_codec quantize(uint32_t bits, uint32_t bucket, cgx_rounding rounding, cgx_scale_type scale,
                   bool checksum) {
  return {.family = CGX_CODEC_QUANTIZE,
          .bits = bits,
          .bucket = bucket,
          .rounding = uint32_t(rounding),
          .scale = uint32_t(scale),
          .checksum = checksum ? 1u : 0u};
}

} // namespace cgx::test
