//===-- Contexts.cpp - Contexts for tests ------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contexts.h"

#include "Job.h"

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
  const std::string rendezvous = rendezvousOf(job);
  cgx_tcp_config tcp = CGX_TCP_CONFIG_INIT;
  tcp.rendezvous = rendezvous.c_str();
  tcp.streams = streams;
  if (transport == "shm+tcp")
    playHostOf(rank);
  cgx_context *raw = nullptr;
  cgx_status status = cgx_context_create_over_tcp(&config, &tcp, &raw);
  context.reset(raw);
  return status;
}

} // namespace cgx::test
