//===-- status/Digest.h - The digest of a text ------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_STATUS_DIGEST_H
#define CGX_RUNTIME_STATUS_DIGEST_H

#include <cstdint>
#include <string_view>

namespace cgx {

/// Returns the FNV-1a digest, which is the same on all ranks, whatever built them, so that they can compare
/// texts by it.
inline uint64_t digestOf(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (unsigned char byte : text)
    hash = (hash ^ byte) * 0x100000001b3ull;
  return hash;
}

} // namespace cgx

#endif // CGX_RUNTIME_STATUS_DIGEST_H
