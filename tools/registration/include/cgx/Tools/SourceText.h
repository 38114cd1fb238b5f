//===-- SourceText.h - Modules that other programs wrote --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every tool prepares a module like this before MLIR reads it.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TOOLS_SOURCETEXT_H
#define CGX_TOOLS_SOURCETEXT_H

#include <memory>
#include <optional>
#include <string>

namespace llvm {
class MemoryBuffer;
} // namespace llvm

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace cgx {

/// Explains why MLIR cannot read `buffer`, and what to write instead: for StableHLO's portable bytecode and
/// the files of jax.export; for files of another kind, which it recognizes by their first bytes; and for text
/// on which MLIR's parser would exhaust memory or the stack. Returns nothing for other text, and for MLIR's
/// own bytecode.
std::optional<std::string> explainUnreadable(const llvm::MemoryBuffer &buffer);

/// Returns true if text or bytecode has locations for its ops: `loc("train.py":30:11)` at an op, or `#loc1 =
/// ...` that ops name.
bool hasLocations(const llvm::MemoryBuffer &buffer);

/// Returns the text after packing each `dense<"0x...">` of i1 with a byte per element (BooleanLiterals.h)
/// into bits, which this version of MLIR reads. Every line and column stays the same. The time is linear in
/// the length of the text.
std::unique_ptr<llvm::MemoryBuffer> packBooleans(std::unique_ptr<llvm::MemoryBuffer> buffer);

/// Returns a module in a form that MLIR's parser accepts: its text after packBooleans, or the text of its
/// bytecode, which is read in a process of its own with these dialects. Returns null on an error, with the
/// reason of explainUnreadable, or the damage of the bytecode, in `why`.
std::unique_ptr<llvm::MemoryBuffer> prepareSource(std::unique_ptr<llvm::MemoryBuffer> buffer,
                                                  const mlir::DialectRegistry &registry, std::string &why);

} // namespace cgx

#endif // CGX_TOOLS_SOURCETEXT_H
