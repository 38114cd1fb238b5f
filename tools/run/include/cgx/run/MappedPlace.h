//===-- cgx/run/MappedPlace.h - Which file an address is of -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files are mapped and not read, since samples may be more than fits into memory. One that is
// cut short meanwhile takes its pages along, and whoever touches them gets SIGBUS: as long as
// a MappedPlace lives, that ends the process with the name of the file, in whatever thread or
// rank it happens.
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
