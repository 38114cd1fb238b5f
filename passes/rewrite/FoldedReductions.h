//===-- FoldedReductions.h - The reductions that were removed --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `cgx-fold-replicated` leaves no op that a report could show. The removed reductions are recorded in an
// attribute of the module, an array of dictionaries.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PASSES_REWRITE_FOLDEDREDUCTIONS_H
#define CGX_PASSES_REWRITE_FOLDEDREDUCTIONS_H

#include "cgx/layers/Report.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace cgx {

inline constexpr llvm::StringLiteral kFoldedAttrName = "cgx.folded";

/// Converts a folded reduction to an entry of the attribute.
inline mlir::DictionaryAttr toAttribute(const layers::FoldedReduction &folded, mlir::Builder &builder) {
  const auto entry = [&](llvm::StringRef name, llvm::StringRef text) {
    return builder.getNamedAttr(name, builder.getStringAttr(text));
  };
  return builder.getDictionaryAttr({entry("layer", folded.layer), entry("kind", folded.kind),
                                    entry("operation", folded.operation), entry("reason", folded.reason)});
}

/// Returns the folded reductions of a module. A value that is not text, since someone changed the entry by
/// hand, reads as "".
inline std::vector<layers::FoldedReduction> getFoldedReductions(mlir::ModuleOp module) {
  std::vector<layers::FoldedReduction> folded;
  auto entries = module->getAttrOfType<mlir::ArrayAttr>(kFoldedAttrName);
  if (!entries)
    return folded;
  for (auto entry : entries.getAsRange<mlir::Attribute>()) {
    const auto get = [&](llvm::StringRef name) {
      auto words = mlir::dyn_cast<mlir::DictionaryAttr>(entry);
      auto text = words ? words.getAs<mlir::StringAttr>(name) : mlir::StringAttr();
      return text ? text.str() : std::string();
    };
    folded.push_back({get("layer"), get("kind"), get("operation"), get("reason")});
  }
  return folded;
}

} // namespace cgx

#endif // CGX_PASSES_REWRITE_FOLDEDREDUCTIONS_H
