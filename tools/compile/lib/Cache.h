//===-- Cache.h - Compiled steps of earlier calls ---------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// A folder with a file for each compiled step, named by the digest of all that its code depends on: program,
// options, processor and this compiler. What was not used for a week, and what is more than a gigabyte, goes.
//
//===----------------------------------------------------------------------------===//
#ifndef CGX_TOOLS_COMPILE_CACHE_H
#define CGX_TOOLS_COMPILE_CACHE_H

#include "cgx/compile.h"

#include "llvm/ADT/StringRef.h"

#include <memory>

namespace cgx::compile {

class Cache {
public:
  /// The folder `steps` in $CGX_CACHE_DIR, else in cgx of $XDG_CACHE_HOME or of ~/.cache. It has to be of
  /// this user and not writable by others, since what is in it is run; `error` says why it is not used.
  static std::optional<Cache> open(std::string &error);

  /// The name of what `program` compiles to.
  static std::string getKey(llvm::StringRef program, const Options &options);

  /// Nothing where there is none, or one that was damaged.
  std::optional<Artifact> find(llvm::StringRef key) const;
  /// A failure loses nothing but time.
  void store(llvm::StringRef key, const Artifact &artifact) const;

private:
  Cache(std::shared_ptr<const int> held, std::string folder)
      : held(std::move(held)), folder(std::move(folder)) {}

  /// The folder that was looked at, and its name: another user who owns a folder above it can put another one
  /// at the name that it was opened by.
  std::shared_ptr<const int> held;
  std::string folder;
};

} // namespace cgx::compile

#endif // CGX_TOOLS_COMPILE_CACHE_H
