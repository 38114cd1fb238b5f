//===-- cgx/run/TreePath.h - Names of tree leaves ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// JAX names a leaf by how Python would reach it: `state['params']['l1'][0].w`.
// The slash form, which people type and other tools write, joins the keys:
// `state/params/l1/0/w`; the short form drops the first, the name of a Python
// variable: `params/l1/0/w`.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_TREEPATH_H
#define CGX_RUN_TREEPATH_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cgx::run {

class TreePath {
public:
  explicit TreePath(std::string_view name);

  const std::string &name() const { return name_; }
  /// Returns all keys: `state/params/l1/w`.
  const std::string &full() const { return full_; }
  /// Returns the path without its first key, or the full path when it has only one key.
  const std::string &brief() const { return brief_; }
  /// Returns the last key.
  const std::string &leaf() const { return leaf_; }

private:
  std::string name_, full_, brief_, leaf_;
};

struct Value;
std::vector<TreePath> pathsOf(const std::vector<Value> &values);

/// The forms in which two names may agree, the closest first.
enum class Agreement { Exact, Full, BriefToFull, Brief, Leaf };
inline constexpr Agreement kAgreements[] = {Agreement::Exact, Agreement::Full, Agreement::BriefToFull,
                                            Agreement::Brief};

bool agree(const TreePath &a, const TreePath &b, Agreement how);

/// Returns the one path among `paths` that a user means by `text`. Throws Error when none or more than one
/// fits; `what` is the noun that the error uses for it.
size_t findPath(const std::vector<TreePath> &paths, const std::string &text, const std::string &what);
/// Returns that path, or nothing where none fits.
std::optional<size_t> findPathIfAny(const std::vector<TreePath> &paths, const std::string &text,
                                    const std::string &what);

} // namespace cgx::run

#endif // CGX_RUN_TREEPATH_H
