//===-- SourceText.h - modules as other programs wrote them --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every tool does with a module before MLIR reads it.
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

/// Why MLIR cannot read `buffer`, and what to write instead: portable bytecode of StableHLO, and what
/// jax.export serializes; files that hold something else, by their first bytes; text for which its parser
/// would take all memory or all of the stack. Nothing for other text, and for bytecode of MLIR itself.
std::optional<std::string> explainUnreadable(const llvm::MemoryBuffer &buffer);

/// Whether text or bytecode says where its ops come from: `loc("train.py":30:11)` at an op, or `#loc1 = ...`
/// that ops name.
bool hasLocations(const llvm::MemoryBuffer &buffer);

/// The text with each `dense<"0x...">` of i1 that has a byte per element (BooleanLiterals.h) in bits, as this
/// version of MLIR reads it. Every line and column stays where it was. Takes time in the length of the text.
std::unique_ptr<llvm::MemoryBuffer> packBooleans(std::unique_ptr<llvm::MemoryBuffer> buffer);

/// A module as MLIR's parser takes it: the text, or what bytecode says as text, which is read in a process of
/// its own with these dialects, by packBooleans. Null with the reason of explainUnreadable, or what is wrong
/// with the bytecode, in `why`.
std::unique_ptr<llvm::MemoryBuffer> prepareSource(std::unique_ptr<llvm::MemoryBuffer> buffer,
                                                  const mlir::DialectRegistry &registry, std::string &why);

} // namespace cgx

#endif // CGX_TOOLS_SOURCETEXT_H
