//===-- cgx/output/OutputFolder.h - Makes output folders --------*- C++ -*-===//
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

/// The permissions of a new folder beside its owner's. The process's umask reduces them.
enum class FolderMode : unsigned { Shared = 0777, Private = 0700 };

/// Makes `path` and its parent folders, if they do not exist. The owner may use new folders whatever the
/// umask is: otherwise the next call could not open them. Returns what went wrong, with the path; empty on
/// success.
[[nodiscard]] std::string makeOutputFolder(const std::string &path, FolderMode mode = FolderMode::Shared);

} // namespace cgx

#endif // CGX_OUTPUT_OUTPUTFOLDER_H
