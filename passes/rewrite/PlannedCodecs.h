//===-- PlannedCodecs.h - The codecs of a plan -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads what `cgx-plan` wrote (runtime/plan/README.md): a codec for each layer, by name and
// kind. Knows no family: a codec's object {"family": "f", "p": 1} is the attribute
// #cgx.f<p = 1>.
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_REWRITE_PLANNEDCODECS_H
#define CGX_PASSES_REWRITE_PLANNEDCODECS_H

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <set>

namespace cgx::formats {
struct Codec;
} // namespace cgx::formats

namespace cgx {

/// The codec that an entry of a plan or of another JSON file describes, with its error feedback; null, and
/// why, if it describes none.
CodecAttrInterface parseCodec(mlir::MLIRContext *context, const formats::Codec &codec, std::string &reason);

class PlannedCodecs {
public:
  /// Fails, after an error at the module, where the file is no plan or names a codec that there
  /// is not.
  static mlir::FailureOr<PlannedCodecs> read(mlir::ModuleOp module, llvm::StringRef path);

  /// Fails, after an error with every difference, unless the plan and the operands that may be
  /// compressed are of the same layers.
  mlir::LogicalResult verifyFits(mlir::ModuleOp module) const;

  /// The plan has codecs for the layers `name[0]`, `name[1]`, ... of a stack, and none for the stack.
  bool namesLayersOf(LayerAttr stack) const;

  /// The kinds of layers that do not all stay exact.
  std::set<LayerKind> getCompressedKinds() const;

  /// The codec of a layer that `verifyFits` has seen.
  CodecAttrInterface lookup(LayerAttr layer) const;

private:
  struct Entry {
    std::string dtype;
    int64_t elements;
    CodecAttrInterface codec;
  };
  /// Name and kind.
  using Key = std::pair<std::string, std::string>;

  static Key keyOf(LayerAttr layer);

  std::string path;
  std::map<Key, Entry> entries;
};

} // namespace cgx

#endif // CGX_PASSES_REWRITE_PLANNEDCODECS_H
