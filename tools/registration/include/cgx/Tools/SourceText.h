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

namespace cgx {

/// Why MLIR cannot read `buffer`, and what to write instead: portable bytecode of StableHLO, and what
/// jax.export serializes; text for which its parser would take all memory. Nothing for other text, and for
/// bytecode of MLIR itself.
std::optional<std::string> explainUnreadable(const llvm::MemoryBuffer &buffer);

/// Whether text or bytecode says where its ops come from: `loc("train.py":30:11)` at an op, or `#loc1 = ...`
/// that ops name.
bool hasLocations(const llvm::MemoryBuffer &buffer);

/// The text with each `dense<"0x...">` of i1 that has a byte per element (BooleanLiterals.h) in bits, as this
/// version of MLIR reads it. Every line and column stays where it was. Takes time in the length of the text.
std::unique_ptr<llvm::MemoryBuffer> packBooleans(std::unique_ptr<llvm::MemoryBuffer> buffer);

} // namespace cgx

#endif // CGX_TOOLS_SOURCETEXT_H
