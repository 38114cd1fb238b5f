//===-- Programs.h - Manifests and contexts for tests ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TEST_UNIT_RUNTIME_PROGRAMS_H
#define CGX_TEST_UNIT_RUNTIME_PROGRAMS_H

#include "cgx/runtime.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cgx::test {

using Json = nlohmann::json;

/// The manifest's "codec" object of a codec.
Json codecJson(const cgx_codec &codec);

struct OperandSpec {
  cgx_element_type type = CGX_F32;
  std::vector<uint64_t> shape;
  cgx_codec codec{};
  std::string layer = "params/w";

  uint64_t elements() const;
};

/// One collective of a manifest; `more` holds the fields of its kind.
Json collectiveJson(uint32_t id, const std::string &kind, const std::vector<std::vector<uint32_t>> &groups,
                    const std::vector<OperandSpec> &operands, const Json &more = Json::object());

std::string manifestText(uint32_t ranks, const std::vector<Json> &collectives,
                         const std::string &hash = "0123");

/// One group of all ranks.
std::vector<std::vector<uint32_t>> everybody(uint32_t ranks);

cgx_codec quantize(uint32_t bits, uint32_t bucket, cgx_rounding rounding = CGX_ROUND_STOCHASTIC,
                   cgx_scale_type scale = CGX_SCALE_BF16, bool checksum = false);

struct DestroyContext {
  void operator()(cgx_context *context) const { cgx_context_destroy(context); }
};
using ContextPtr = std::unique_ptr<cgx_context, DestroyContext>;

/// What a context is made of, with defaults for tests.
struct ContextSpec {
  std::string transport = "inproc";
  std::string job;
  uint32_t rank = 0;
  uint32_t ranks = 1;
  std::string manifest;
  uint64_t seed = 7;
  uint32_t timeoutMs = 20000;
  uint64_t ringBytes = 0;

  cgx_status create(ContextPtr &context) const;
};

inline int64_t address(const cgx_context *context) { return reinterpret_cast<int64_t>(context); }
inline int64_t address(const void *pointer) { return reinterpret_cast<int64_t>(pointer); }

} // namespace cgx::test

#endif // CGX_TEST_UNIT_RUNTIME_PROGRAMS_H
