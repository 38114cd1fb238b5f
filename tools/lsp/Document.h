//===-- Document.h - Report about the collectives of a module ---*- C++ -*-===//
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
  unsigned line = 0, column = 0; ///< from 0, as in editors
};

/// One version of a file that is open in an editor. It is parsed at the first question and then kept.
class Document {
public:
  Document(std::string text, const mlir::DialectRegistry &registry);
  ~Document();

  /// Returns Markdown for a place: the reference of the op if the place is on its name, and, anywhere on a
  /// collective, the layer, codec and bytes of each operand. The text is empty if there is neither or the
  /// text cannot be parsed.
  std::string describe(Place place);

  /// Returns the names of layers in the text, if the place is inside the first quotes of a `layer(` clause.
  std::vector<std::string> completeLayers(Place place) const;

private:
  struct Chunk;
  Chunk *chunkAt(unsigned &line);

  std::string text;
  const mlir::DialectRegistry &registry;
  std::map<unsigned, std::unique_ptr<Chunk>> chunks; ///< modules between lines of `// -----`, by first line
};

} // namespace cgx::lsp

#endif // CGX_TOOLS_LSP_DOCUMENT_H
