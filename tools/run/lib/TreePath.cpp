//===-- TreePath.cpp - Names of tree leaves ---------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/TreePath.h"

#include "cgx/formats/Closest.h"
#include "cgx/run/Error.h"
#include "cgx/run/Manifest.h"

#include <span>
#include <utility>

using namespace cgx::run;

namespace {

std::vector<std::string> splitKeys(std::string_view name) {
  std::vector<std::string> keys;
  std::string key;
  char quote = 0;
  auto finish = [&] {
    if (!key.empty())
      keys.push_back(std::exchange(key, {}));
  };
  for (char c : name) {
    if (quote != 0 && c == quote)
      quote = 0;
    else if (quote == 0 && (c == '\'' || c == '"'))
      quote = c;
    else if (quote == 0 && (c == '[' || c == ']' || c == '.' || c == '/'))
      finish();
    else
      key += c;
  }
  finish();
  if (keys.empty())
    keys.emplace_back(name);
  return keys;
}

std::string join(std::span<const std::string> keys) {
  std::string text;
  for (const std::string &key : keys)
    text += (text.empty() ? "" : "/") + key;
  return text;
}

} // namespace

TreePath::TreePath(std::string_view name) : name_(name) {
  std::vector<std::string> keys = splitKeys(name);
  full_ = join(keys);
  brief_ = join(std::span<const std::string>(keys).subspan(keys.size() > 1 ? 1 : 0));
  leaf_ = keys.back();
}

std::vector<TreePath> cgx::run::pathsOf(const std::vector<Value> &values) {
  std::vector<TreePath> paths;
  for (const Value &value : values)
    paths.emplace_back(value.name);
  return paths;
}

bool cgx::run::agree(const TreePath &a, const TreePath &b, Agreement how) {
  switch (how) {
  case Agreement::Exact:
    return a.name() == b.name();
  case Agreement::Full:
    return a.full() == b.full();
  case Agreement::BriefToFull:
    return a.brief() == b.full() || a.full() == b.brief();
  case Agreement::Brief:
    return a.brief() == b.brief();
  case Agreement::Leaf:
    return a.leaf() == b.leaf();
  }
  return false;
}

std::optional<size_t> cgx::run::findPathIfAny(const std::vector<TreePath> &paths, const std::string &text,
                                              const std::string &what) {
  TreePath wanted(text);
  for (Agreement how :
       {Agreement::Exact, Agreement::Full, Agreement::BriefToFull, Agreement::Brief, Agreement::Leaf}) {
    std::vector<size_t> found;
    for (size_t i = 0; i < paths.size(); ++i)
      if (agree(paths[i], wanted, how))
        found.push_back(i);
    if (found.size() == 1)
      return found.front();
    if (found.size() > 1)
      throw Error("'" + text + "' may mean " + what + " '" + paths[found[0]].name() + "' or '" +
                  paths[found[1]].name() + "': give the whole name");
  }
  return std::nullopt;
}

size_t cgx::run::findPath(const std::vector<TreePath> &paths, const std::string &text,
                          const std::string &what) {
  if (const std::optional<size_t> found = findPathIfAny(paths, text, what))
    return *found;
  constexpr size_t kMost = 12;
  std::vector<std::string> names, brief;
  for (const TreePath &path : paths) {
    names.push_back(path.name());
    brief.push_back(path.brief());
  }
  std::string word = cgx::formats::closest(text, names);
  if (word.empty())
    word = cgx::formats::closest(TreePath(text).brief(), brief);
  std::string list;
  for (size_t i = 0; i < names.size() && i < kMost; ++i)
    list += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMost)
    list += " and " + std::to_string(names.size() - kMost) + " more";
  throw Error("the program has no " + what + " '" + text + "'" +
              (word.empty() ? "" : " (did you mean '" + word + "'?)") + "; it has " +
              (list.empty() ? "none" : list));
}
