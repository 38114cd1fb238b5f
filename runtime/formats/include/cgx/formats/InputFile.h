//===-- cgx/formats/InputFile.h - Opening what is read -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one home of "open an input file" of tools and runtime. Whatever stands at the place, opening it does
// not wait: a pipe that nobody writes to is an error after two seconds, and not a program that hangs.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_FORMATS_INPUTFILE_H
#define CGX_FORMATS_INPUTFILE_H

#include <string>

namespace cgx::formats {

/// What may stand at the place of an input.
enum class InputKind {
  File,  ///< a regular file alone, which is mapped into memory
  Stream ///< also a pipe, a device, a terminal: what is read from begin to end
};

/// Opens an input for reading. Returns its descriptor, from which the first read may wait as long as whoever
/// writes there takes; or -1, with what is wrong ("No such file or directory").
int openInput(const std::string &path, InputKind kind, std::string &wrong);

} // namespace cgx::formats

#endif // CGX_FORMATS_INPUTFILE_H
