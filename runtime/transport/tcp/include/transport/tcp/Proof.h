//===-- transport/tcp/Proof.h - Who knows the secret of a job -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TCP_PROOF_H
#define CGX_RUNTIME_TRANSPORT_TCP_PROOF_H

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace cgx::tcp {

using Bytes32 = std::array<std::byte, 32>;

/// Bytes that nobody can guess. Throws std::runtime_error where the machine has none.
Bytes32 randomBytes();

/// SHA-256.
Bytes32 hashOf(std::string_view text);

/// HMAC-SHA-256 of a label and of parts of a known length.
Bytes32 authenticate(std::span<const std::byte> key, std::string_view label,
                     std::initializer_list<std::span<const std::byte>> parts);

/// In a time that does not say where they differ.
bool areEqual(const Bytes32 &a, const Bytes32 &b);

} // namespace cgx::tcp

#endif // CGX_RUNTIME_TRANSPORT_TCP_PROOF_H
