//===-- SourceFile.h - Files with modules -----------------------*- C++ -*-===//
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

/// Reads a file, a pipe or, for "-", standard input: at most 4 GiB, at most 1 MiB from a device that is no
/// terminal, and nothing from a pipe without a writer. The text is read into memory, because a mapped file
/// may be truncated. Returns null, with the reason in `why` without the name, on an error.
std::unique_ptr<llvm::MemoryBuffer> readSourceFile(const std::string &path, std::string &why);

} // namespace cgx

#endif // CGX_TOOLS_SOURCEFILE_H
