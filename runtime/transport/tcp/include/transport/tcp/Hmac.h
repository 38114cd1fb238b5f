//===-- transport/tcp/Hmac.h - HMAC-SHA-256 and random bytes ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TCP_HMAC_H
#define CGX_RUNTIME_TRANSPORT_TCP_HMAC_H

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace cgx::tcp {

using Bytes32 = std::array<std::byte, 32>;

/// Returns bytes that nobody can guess. Throws std::runtime_error if the machine provides none.
Bytes32 randomBytes();

/// Returns the SHA-256 of the text.
Bytes32 hashOf(std::string_view text);

/// Returns the HMAC-SHA-256 of a label and of parts of known length.
Bytes32 authenticate(std::span<const std::byte> key, std::string_view label,
                     std::initializer_list<std::span<const std::byte>> parts);

/// Compares in a time that does not depend on where they differ.
bool areEqual(const Bytes32 &a, const Bytes32 &b);

} // namespace cgx::tcp

#endif // CGX_RUNTIME_TRANSPORT_TCP_HMAC_H
