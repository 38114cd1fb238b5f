//===-- cgx/formats/InputFile.h - Opens input files -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All input files of tools and runtime are opened here. Opening does not wait, whatever the path leads to: a
// pipe without a writer is an error after two seconds, not a program that hangs.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_FORMATS_INPUTFILE_H
#define CGX_FORMATS_INPUTFILE_H

#include <string>

namespace cgx::formats {

/// The kinds of files that are accepted as an input.
enum class InputKind {
  File,  ///< only a regular file, which is mapped into memory
  Stream ///< also a pipe, a device, a terminal: it is read from begin to end
};

/// Opens an input for reading. Returns its descriptor, whose first read may wait for a slow writer; or -1,
/// and in `wrong` the reason ("No such file or directory").
int openInput(const std::string &path, InputKind kind, std::string &wrong);

} // namespace cgx::formats

#endif // CGX_FORMATS_INPUTFILE_H
