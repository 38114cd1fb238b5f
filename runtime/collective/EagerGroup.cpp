//===-- collective/EagerGroup.cpp - Eager messages of a group ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EagerGroup.h"

namespace cgx {

Status EagerGroup::check(uint32_t position, const EagerMessage &eager, const Tag &expected,
                         uint64_t bytes) const {
  uint32_t rank = execution.group.ranks[position];
  Tag tag = eager.tag;
  tag.part &= EagerSlots::kNumberMask;
  if (tag != expected)
    return Status::error(CGX_MISMATCH, "rank ", rank, " is at ", describe(tag), ", rank ",
                         execution.transport.rank(), " at ", describe(expected));
  if (eager.bytes.size() != bytes)
    return Status::error(CGX_MISMATCH, "expected ", bytes, " bytes from rank ", rank, " (",
                         describe(expected), "), got ", eager.bytes.size());
  return Status();
}

} // namespace cgx
