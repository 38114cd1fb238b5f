//===-- SystemError.h - Texts of system errors ------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_FORMATS_SYSTEMERROR_H
#define CGX_FORMATS_SYSTEMERROR_H

#include <string>
#include <system_error>

namespace cgx::formats {

/// Returns the system's text for an errno, with the limit of the process that may have caused it: "File too
/// large (ulimit -f)".
std::string systemErrorText(int error);
std::string systemErrorText(const std::error_code &error);

} // namespace cgx::formats

#endif // CGX_FORMATS_SYSTEMERROR_H
