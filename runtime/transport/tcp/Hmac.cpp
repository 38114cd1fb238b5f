//===-- transport/tcp/Hmac.cpp - HMAC-SHA-256 and random bytes --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/tcp/Hmac.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdexcept>
#include <vector>

namespace cgx::tcp {

static unsigned char *raw(std::byte *bytes) { return reinterpret_cast<unsigned char *>(bytes); }

Bytes32 randomBytes() {
  Bytes32 bytes;
  if (RAND_bytes(raw(bytes.data()), int(bytes.size())) != 1)
    throw std::runtime_error("OpenSSL has no random bytes");
  return bytes;
}

Bytes32 hashOf(std::string_view text) {
  Bytes32 hash;
  if (EVP_Digest(text.data(), text.size(), raw(hash.data()), nullptr, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("OpenSSL has no SHA-256");
  return hash;
}

Bytes32 authenticate(std::span<const std::byte> key, std::string_view label,
                     std::initializer_list<std::span<const std::byte>> parts) {
  const Bytes32 labelled = hashOf(label); // of fixed length, so that no label is a prefix of another
  std::vector<std::byte> text(labelled.begin(), labelled.end());
  for (std::span<const std::byte> part : parts)
    text.insert(text.end(), part.begin(), part.end());
  Bytes32 code;
  if (!HMAC(EVP_sha256(), key.data(), int(key.size()), raw(text.data()), text.size(), raw(code.data()),
            nullptr))
    throw std::runtime_error("OpenSSL has no HMAC");
  return code;
}

bool areEqual(const Bytes32 &a, const Bytes32 &b) { return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0; }

} // namespace cgx::tcp
