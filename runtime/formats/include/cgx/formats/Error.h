//===-- cgx/formats/Error.h - Errors in documents ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_FORMATS_ERROR_H
#define CGX_FORMATS_ERROR_H

#include <stdexcept>

namespace cgx::formats {

/// The exception for invalid documents; its message is for users.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace cgx::formats

#endif // CGX_FORMATS_ERROR_H
