//===-- UnfinishedFile.h - A file that is not complete yet ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_OUTPUT_UNFINISHEDFILE_H
#define CGX_RUNTIME_OUTPUT_UNFINISHEDFILE_H

#include <memory>
#include <string>

namespace cgx::output {

/// The time when the file gets a name: Late means when it is complete, if the file system supports that.
enum class Naming { Late, Early };

/// A file in the folder of the file that it will replace. It disappears with this object unless it was moved.
class UnfinishedFile {
public:
  /// Creates the file. It is not open, with errno set, if the folder accepts no file.
  UnfinishedFile(const std::string &target, unsigned mode, Naming naming = Naming::Late);
  ~UnfinishedFile();
  UnfinishedFile(const UnfinishedFile &) = delete;
  UnfinishedFile &operator=(const UnfinishedFile &) = delete;

  bool isOpen() const { return fd_ >= 0; }
  int get() const { return fd_; }

  /// Gives it the name `target`, replacing the file of that name. Returns false, with errno set, if that
  /// fails.
  bool moveTo(const std::string &target);

  static void removeCurrent() noexcept;

private:
  class SignalsRemove;

  /// Chooses a name beside `target`, which signals remove from here on. Returns false, with errno set, if it
  /// is too long.
  bool chooseName(const std::string &target);
  void forgetName();

  int fd_ = -1;
  std::string name_; ///< empty while it has none
  std::unique_ptr<SignalsRemove> signals_;
};

} // namespace cgx::output

#endif // CGX_RUNTIME_OUTPUT_UNFINISHEDFILE_H
