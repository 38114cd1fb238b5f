//===-- Contexts.h - Contexts for tests --------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TEST_UNIT_RUNTIME_CONTEXTS_H
#define CGX_TEST_UNIT_RUNTIME_CONTEXTS_H

#include "cgx/runtime.h"

#include <memory>
#include <string>

namespace cgx::test {

struct DestroyContext {
  void operator()(cgx_context *context) const { cgx_context_destroy(context); }
};
using ContextPtr = std::unique_ptr<cgx_context, DestroyContext>;

/// The configuration of a context, with defaults for tests.
struct ContextSpec {
  std::string transport = "inproc";
  std::string job;
  uint32_t rank = 0;
  uint32_t ranks = 1;
  std::string manifest;
  uint64_t seed = 7;
  uint32_t timeoutMs = 20000;
  uint64_t ringBytes = 0;
  uint32_t streams = 0; ///< streams of tcp

  cgx_status create(ContextPtr &context) const;
};

inline int64_t address(const cgx_context *context) { return reinterpret_cast<int64_t>(context); }
inline int64_t address(const void *pointer) { return reinterpret_cast<int64_t>(pointer); }

} // namespace cgx::test

#endif // CGX_TEST_UNIT_RUNTIME_CONTEXTS_H
