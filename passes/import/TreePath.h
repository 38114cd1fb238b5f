//===-- TreePath.h - paths of tensors in a Python tree ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_TREEPATH_H
#define CGX_PASSES_IMPORT_TREEPATH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace cgx {

/// One step down a tree: the key of a dictionary, the index into a sequence or
/// the attribute of an object.
struct TreeKey {
  enum class Kind { Name, Index, Attribute };
  Kind kind;
  std::string text;

  bool operator==(const TreeKey &) const = default;
};

/// A path as JAX writes it for arguments and results: a root, which is the name
/// of a Python argument or "result", and the keys below it. For example
/// `state['params']['l1']['w']`, `state.params[0].w`, `result[0]['loss']`.
struct TreePath {
  std::string root;
  llvm::SmallVector<TreeKey, 4> keys;

  /// Reads a path; a text that is none becomes a root without keys.
  static TreePath parse(llvm::StringRef text);

  /// Returns the name of the layer that a tensor at this path is: the keys joined by
  /// '/', without the root, which only names a variable of the script. A path
  /// without keys is named by its root.
  std::string getLayerName() const;
};

} // namespace cgx

#endif // CGX_PASSES_IMPORT_TREEPATH_H
