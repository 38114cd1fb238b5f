//===-- Cache.h - Cache of compiled steps -----------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// A folder with one file per compiled step, named by the digest of everything that its code
// depends on: program, options, processor and this compiler. Files that were not used for a week
// are removed, and so are the oldest beyond a gigabyte.
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
  /// Opens the folder `steps` in $CGX_CACHE_DIR, or else in the folder cgx of $XDG_CACHE_HOME or ~/.cache. It
  /// must belong to this user and not be writable by others, because its contents are run. Otherwise returns
  /// nothing, and `error` says why.
  static std::optional<Cache> open(std::string &error);

  /// Returns the name under which the result for `program` is stored.
  static std::string getKey(llvm::StringRef program, const Options &options);

  /// Returns the stored artifact, or nothing where there is none or it is damaged.
  std::optional<Artifact> find(llvm::StringRef key) const;
  /// Stores an artifact. A failure only costs time.
  void store(llvm::StringRef key, const Artifact &artifact) const;

private:
  Cache(std::shared_ptr<const int> held, std::string folder)
      : held(std::move(held)), folder(std::move(folder)) {}

  /// The folder that was checked, held open, and its name. Another user who owns a parent folder could put
  /// another folder at that name.
  std::shared_ptr<const int> held;
  std::string folder;
};

} // namespace cgx::compile

#endif // CGX_TOOLS_COMPILE_CACHE_H
