//===-- Threads.cpp - Kernel agents on threads of the CPU -----------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmulationOn.h"
#include "ThreadBackend.h"

namespace cgx::test {
namespace {

class Threads final : public EmulationOn<cuda::ThreadBackend> {
  const char *name() const override { return "threads"; }
  bool isSlow() const override { return true; }
};

} // namespace

std::unique_ptr<Device> makeThreads() { return std::make_unique<Threads>(); }

} // namespace cgx::test
