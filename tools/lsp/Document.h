//===-- Document.h - What a module says of its collectives ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TOOLS_LSP_DOCUMENT_H
#define CGX_TOOLS_LSP_DOCUMENT_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cgx::lsp {

struct Place {
  unsigned line = 0, column = 0; ///< from 0, as editors count
};

/// One version of a file that an editor has open. Read when it is asked about, and kept then.
class Document {
public:
  Document(std::string text, const mlir::DialectRegistry &registry);
  ~Document();

  /// In Markdown: of the op whose name is at the place, what the reference says; of the collective there, at
  /// whichever of its clauses, each operand's layer, codec and bytes. Empty if there is none or if the text
  /// cannot be read.
  std::string describe(Place place);

  /// Names of layers in the text, if the place is inside of the first quotes of a `layer(` clause.
  std::vector<std::string> completeLayers(Place place) const;

private:
  struct Chunk;
  Chunk *chunkAt(unsigned &line);

  std::string text;
  const mlir::DialectRegistry &registry;
  std::map<unsigned, std::unique_ptr<Chunk>> chunks; ///< by first line: modules between lines of `// -----`
};

} // namespace cgx::lsp

#endif // CGX_TOOLS_LSP_DOCUMENT_H
