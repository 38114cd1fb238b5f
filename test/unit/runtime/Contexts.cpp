//===-- Contexts.cpp - Contexts for tests ------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contexts.h"

namespace cgx::test {

cgx_status ContextSpec::create(ContextPtr &context) const {
  cgx_context_config config = CGX_CONTEXT_CONFIG_INIT;
  config.transport = transport.c_str();
  config.job = job.c_str();
  config.rank = rank;
  config.ranks = ranks;
  config.seed = seed;
  config.timeout_ms = timeoutMs;
  config.manifest = manifest.empty() ? nullptr : manifest.c_str();
  config.ring_bytes = ringBytes;
  cgx_context *raw = nullptr;
  cgx_status status = cgx_context_create(&config, &raw);
  context.reset(raw);
  return status;
}

} // namespace cgx::test
