//===-- Implementation.cpp - The list of implementations ------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/kernels/implementation.h"

#include "simd/Implementations.h"

#include <array>

namespace cgx {
namespace {

constexpr Implementation reference = {"reference", "plain loops, any machine", [] { return true; },
                                      /*families=*/nullptr};

constexpr size_t maxImplementations = 8;

struct List {
  std::array<const Implementation *, maxImplementations> entries = {};
  size_t count = 0;

  List() {
    for (const Implementation *implementation : simdImplementations())
      if (count < maxImplementations - 1)
        entries[count++] = implementation;
    entries[count++] = &reference;
  }
};

const Implementation &bestSupported() {
  for (const Implementation *implementation : implementations())
    if (implementation->isSupported())
      return *implementation;
  return reference;
}

} // namespace

std::span<const Implementation *const> implementations() {
  static const List list;
  return {list.entries.data(), list.count};
}

const Implementation &defaultImplementation() {
  static const Implementation &best = bestSupported();
  return best;
}

const Implementation *findImplementation(std::string_view name) {
  for (const Implementation *implementation : implementations())
    if (name == implementation->name)
      return implementation;
  return nullptr;
}

} // namespace cgx
