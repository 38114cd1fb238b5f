//===-- Word.h - A word out of a known list ---------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_DIALECT_CGX_LIB_WORD_H
#define CGX_DIALECT_CGX_LIB_WORD_H

#include "mlir/IR/OpImplementation.h"

namespace cgx {

/// Parses a keyword that should be one of `known`, and an editor that asks what may stand here is told these.
/// The caller checks which one it is.
inline mlir::ParseResult parseWord(mlir::AsmParser &parser, llvm::StringRef &word,
                                   llvm::ArrayRef<llvm::StringRef> known) {
  if (succeeded(parser.parseOptionalKeyword(&word, known)))
    return mlir::success();
  return parser.parseKeyword(&word);
}

/// Returns the names of an enumeration whose values are 0 to `most`.
template <typename Enum>
llvm::SmallVector<llvm::StringRef> wordsOf(llvm::StringRef (*stringify)(Enum), uint64_t most) {
  llvm::SmallVector<llvm::StringRef> words;
  for (uint64_t value = 0; value <= most; ++value)
    words.push_back(stringify(static_cast<Enum>(value)));
  return words;
}

} // namespace cgx

#endif // CGX_DIALECT_CGX_LIB_WORD_H
