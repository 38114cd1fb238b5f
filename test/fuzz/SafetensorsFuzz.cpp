//===-- test/fuzz/SafetensorsFuzz.cpp - Any bytes as tensors ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bytes.h"

#include "cgx/run/Error.h"
#include "cgx/run/Safetensors.h"

#include <algorithm>
#include <memory>

using namespace cgx::run;

static uint64_t sum;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // The header gets the right length in front of it, so that most inputs pass that check.
  auto file = std::make_unique<std::byte[]>(size + 8);
  uint64_t headerBytes = size;
  if (size > 8 && data[0] == '{')
    for (headerBytes = 1; headerBytes < size && data[headerBytes - 1] != 0;)
      ++headerBytes;
  std::memcpy(file.get(), &headerBytes, 8);
  std::copy(data, data + size, reinterpret_cast<uint8_t *>(file.get()) + 8);
  for (auto bytes : {std::span<const std::byte>(file.get(), size + 8), std::as_bytes(std::span(data, size))})
    try {
      SafetensorsFile parsed = SafetensorsFile::parse(bytes, "fuzz.safetensors");
      for (const TensorView &tensor : parsed.tensors())
        for (std::byte byte : tensor.bytes)
          sum += uint64_t(byte);
    } catch (const Error &error) {
      if (!*error.what())
        __builtin_trap(); // rejected without a reason
    }
  return 0;
}
