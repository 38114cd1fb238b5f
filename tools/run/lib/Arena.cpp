//===-- Arena.cpp - The buffers of one rank ---------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Arena.h"

#include "cgx/run/Error.h"

#include <algorithm>
#include <string>
#include <sys/mman.h>

using namespace cgx::run;

namespace {
constexpr uint64_t kAlignment = 64;
}

Arena::Arena(const std::vector<uint64_t> &sizes) {
  for (uint64_t size : sizes) {
    offsets_.push_back(bytes_);
    bytes_ += (size + kAlignment - 1) / kAlignment * kAlignment;
  }
  // The extra bytes give an empty tensor at the end an address inside the mapping.
  bytes_ += kAlignment;
  void *address = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED)
    throw Error("cannot allocate " + std::to_string(bytes_) + " bytes for the program's buffers");
  ::madvise(address, bytes_, MADV_HUGEPAGE); // it is a hint, so a failure does not matter
  base_ = static_cast<std::byte *>(address);
}

Arena::~Arena() { ::munmap(base_, bytes_); }
