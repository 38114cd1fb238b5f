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
  /// All keys: `state/params/l1/w`.
  const std::string &full() const { return full_; }
  /// Without the first key; the full form when there is no other.
  const std::string &brief() const { return brief_; }
  /// The last key.
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

/// The one path among `paths` that `text`, as a person types it, means. Throws
/// Error when there is none or more than one; `what` says what is looked for.
size_t findPath(const std::vector<TreePath> &paths, const std::string &text, const std::string &what);
/// The same where there may be none.
std::optional<size_t> findPathIfAny(const std::vector<TreePath> &paths, const std::string &text,
                                    const std::string &what);

} // namespace cgx::run

#endif // CGX_RUN_TREEPATH_H
