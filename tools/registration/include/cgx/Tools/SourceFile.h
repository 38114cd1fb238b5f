//===-- SourceFile.h - files with modules --------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TOOLS_SOURCEFILE_H
#define CGX_TOOLS_SOURCEFILE_H

#include <memory>
#include <string>

namespace llvm {
class MemoryBuffer;
} // namespace llvm

namespace cgx {

/// Reads a file, a pipe or, by "-", standard input, whatever it turns out to be: at most 4 GiB, of a device
/// that is no terminal at most 1 MiB, and nothing of a pipe that nobody writes to. Into memory, since a file
/// that becomes shorter takes what is mapped of it away. Null with the reason in `why`, without the name.
std::unique_ptr<llvm::MemoryBuffer> readSourceFile(const std::string &path, std::string &why);

} // namespace cgx

#endif // CGX_TOOLS_SOURCEFILE_H
