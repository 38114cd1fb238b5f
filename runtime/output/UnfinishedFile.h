//===-- UnfinishedFile.h - A file that is not whole yet ---------*- C++ -*-===//
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

/// When it gets a name: where the file system can, when it is whole.
enum class Naming { Late, Early };

/// Lies in the folder of what it will replace. It is gone with this object unless it was moved.
class UnfinishedFile {
public:
  /// Not open, with errno set, when the folder takes no file.
  UnfinishedFile(const std::string &target, unsigned mode, Naming naming = Naming::Late);
  ~UnfinishedFile();
  UnfinishedFile(const UnfinishedFile &) = delete;
  UnfinishedFile &operator=(const UnfinishedFile &) = delete;

  bool isOpen() const { return fd_ >= 0; }
  int get() const { return fd_; }

  /// Gives it the name `target`, in the place of what had it. False with errno set when it cannot.
  bool moveTo(const std::string &target);

  static void removeCurrent() noexcept;

private:
  class SignalsRemove;

  /// A name beside `target`, which signals remove from here on. False with errno set when it is too long.
  bool chooseName(const std::string &target);
  void forgetName();

  int fd_ = -1;
  std::string name_; ///< empty as long as it has none
  std::unique_ptr<SignalsRemove> signals_;
};

} // namespace cgx::output

#endif // CGX_RUNTIME_OUTPUT_UNFINISHEDFILE_H
