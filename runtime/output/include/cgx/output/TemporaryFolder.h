//===-- TemporaryFolder.h - A folder of this process alone ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_OUTPUT_TEMPORARYFOLDER_H
#define CGX_OUTPUT_TEMPORARYFOLDER_H

#include <filesystem>
#include <string>

namespace cgx {

/// A new folder in $TMPDIR, else /tmp, which only this user may enter, and which is removed with its content
/// when this object is destroyed. Files in /tmp itself have names that others can take first: they would be
/// read and written instead.
class TemporaryFolder {
public:
  /// Creates a folder whose name begins with `name`. Throws std::runtime_error, with the path.
  explicit TemporaryFolder(const std::string &name);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  /// Returns the folder of temporary files: $TMPDIR, else /tmp.
  static std::string parent();

  const std::filesystem::path &path() const { return path_; }

private:
  std::filesystem::path path_;
};

} // namespace cgx

#endif // CGX_OUTPUT_TEMPORARYFOLDER_H
