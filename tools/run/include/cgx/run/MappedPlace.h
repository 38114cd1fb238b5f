//===-- cgx/run/MappedPlace.h - Addresses of a mapped file ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files are mapped and not read, because samples may be larger than memory. If a file is
// truncated meanwhile, an access to the lost pages raises SIGBUS. While a MappedPlace lives, that
// ends the process with the name of the file, in any thread or rank.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_MAPPEDPLACE_H
#define CGX_RUN_MAPPEDPLACE_H

#include <cstddef>
#include <string>

namespace cgx::run {

class MappedPlace {
public:
  MappedPlace() = default;
  MappedPlace(const std::string &path, const void *begin, size_t bytes);
  MappedPlace(MappedPlace &&other) noexcept;
  MappedPlace &operator=(MappedPlace &&other) noexcept;
  ~MappedPlace();

private:
  struct Entry;
  friend struct Places;

  Entry *entry_ = nullptr;
};

} // namespace cgx::run

#endif // CGX_RUN_MAPPEDPLACE_H
