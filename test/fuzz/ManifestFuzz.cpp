//===-- test/fuzz/ManifestFuzz.cpp - Any text as a program's manifest ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bytes.h"

#include "manifest/Manifest.h"

#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(Bytes(data, size).text());
  for (uint32_t ranks : {1u, 4u})
    if (cgx::Result<cgx::Program> program = cgx::Program::parse(text.c_str(), ranks); !program.ok())
      if (program.status().message().empty())
        __builtin_trap(); // rejected without a reason
  return 0;
}
