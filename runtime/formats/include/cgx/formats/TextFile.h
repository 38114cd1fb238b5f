//===-- cgx/formats/TextFile.h - Files of text, of bounded length -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_FORMATS_TEXTFILE_H
#define CGX_FORMATS_TEXTFILE_H

#include <cstddef>
#include <string>

namespace cgx::formats {

/// Reads a file, or a pipe, of at most `most` bytes. Returns what is wrong ("No such file or
/// directory"), or "".
std::string readTextFile(const std::string &path, std::string &text, size_t most = size_t{1} << 26);

} // namespace cgx::formats

#endif // CGX_FORMATS_TEXTFILE_H
