//===-- FoldedReductions.h - The reductions that were taken away -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `cgx-fold-replicated` leaves no op that a report could show. What it took away stands in an attribute of
// the module, an array of dictionaries.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PASSES_REWRITE_FOLDEDREDUCTIONS_H
#define CGX_PASSES_REWRITE_FOLDEDREDUCTIONS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace cgx {

inline constexpr llvm::StringLiteral kFoldedAttrName = "cgx.folded";

/// An operand of a reduction that was taken away, since its ranks hold the same anyway.
struct FoldedReduction {
  std::string layer, kind, operation;
  std::string reason; ///< why they do: "computed from the result of all_reduce 'params/w'"

  mlir::DictionaryAttr toAttribute(mlir::Builder &builder) const {
    const auto entry = [&](llvm::StringRef name, llvm::StringRef text) {
      return builder.getNamedAttr(name, builder.getStringAttr(text));
    };
    return builder.getDictionaryAttr(
        {entry("layer", layer), entry("kind", kind), entry("operation", operation), entry("reason", reason)});
  }
};

/// Those of a module. What is no text in an entry, which somebody changed by hand, is "".
inline std::vector<FoldedReduction> getFoldedReductions(mlir::ModuleOp module) {
  std::vector<FoldedReduction> folded;
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
