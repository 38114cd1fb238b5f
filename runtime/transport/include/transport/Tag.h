//===-- transport/Tag.h - The name of a message -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TAG_H
#define CGX_RUNTIME_TRANSPORT_TAG_H

#include <cstdint>
#include <string>

namespace cgx {

/// The name of a message between two ranks. Messages are matched by name, never by arrival order; messages of
/// one pair with equal tags are matched in the order of posting. Messages of two steps are never in flight
/// together.
struct Tag {
  uint64_t step = 0;
  uint32_t collective = 0;
  uint16_t phase = 0;
  uint16_t part = 0; ///< a part of the phase, such as one operand

  friend bool operator==(const Tag &, const Tag &) = default;
};

std::string describe(const Tag &tag);

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_TAG_H
