//===-- Emulation.cpp - Kernel agents in a plain loop ---------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmulationOn.h"
#include "HostBackend.h"

namespace cgx::test {
namespace {

class Emulation final : public EmulationOn<cuda::HostBackend> {
  const char *name() const override { return "emulation"; }
};

} // namespace

std::unique_ptr<Device> makeEmulation() { return std::make_unique<Emulation>(); }

} // namespace cgx::test
