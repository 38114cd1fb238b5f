//===-- SystemError.cpp - Texts of system errors ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/formats/SystemError.h"

#include <cerrno>
#include <string_view>
#include <sys/resource.h>

namespace cgx::formats {

static const char *limitOf(int error) {
  if (error == EMFILE)
    return " (ulimit -n)";
  rlimit limit{};
  const bool isLimited = ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return error == EFBIG && isLimited ? " (ulimit -f)" : "";
}

std::string systemErrorText(const std::error_code &error) {
  // compared by name: libraries have their own categories
  const std::string_view of = error.category().name();
  const bool isOfSystem = of == "generic" || of.ends_with("system");
  return error.message() + (isOfSystem ? limitOf(error.value()) : "");
}

std::string systemErrorText(int error) {
  return systemErrorText(std::error_code(error, std::generic_category()));
}

} // namespace cgx::formats
