//===-- cgx/output/OutputFolder.h - Folders that their owner can use *- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_OUTPUT_OUTPUTFOLDER_H
#define CGX_OUTPUT_OUTPUTFOLDER_H

#include <string>

namespace cgx {

/// Who may use a new folder beside its owner; the process's umask takes from it.
enum class FolderMode : unsigned { Shared = 0777, Private = 0700 };

/// Makes `path` and the folders above it, where they are not there yet. Its owner may use what is new
/// whatever the umask: it would be made for nobody else, and the next call could not open it. Returns what
/// went wrong, with the path; empty on success.
[[nodiscard]] std::string makeOutputFolder(const std::string &path, FolderMode mode = FolderMode::Shared);

} // namespace cgx

#endif // CGX_OUTPUT_OUTPUTFOLDER_H
