//===-- Implementation.cpp - The list of implementations ------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/kernels/implementation.h"

#include "ReferenceQuantize.h"

namespace cgx {
namespace {

constexpr Implementation reference = {"reference", "plain loops, any machine", [] { return true; },
                                      &referenceQuantizeKernels};

constexpr const Implementation *all[] = {&reference};

const Implementation &bestSupported() {
  for (const Implementation *implementation : all)
    if (implementation->isSupported())
      return *implementation;
  return reference;
}

} // namespace

std::span<const Implementation *const> implementations() { return all; }

const Implementation &defaultImplementation() {
  static const Implementation &best = bestSupported();
  return best;
}

const Implementation *findImplementation(std::string_view name) {
  for (const Implementation *implementation : all)
    if (name == implementation->name)
      return implementation;
  return nullptr;
}

} // namespace cgx
