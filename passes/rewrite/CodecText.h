//===-- CodecText.h - Codecs from text --------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Options and plans name codecs in words. They become assembly that the attribute of the
// family parses, so that no pass knows a family.
#ifndef CGX_PASSES_REWRITE_CODECTEXT_H
#define CGX_PASSES_REWRITE_CODECTEXT_H

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include <string>

namespace cgx {

/// Null, and why not in `reason`, where the assembly is that of no codec.
CodecAttrInterface parseCodec(mlir::MLIRContext *context, llvm::StringRef assembly, std::string &reason);

/// The same for `family` or `family<name = value, ...>`, or a case of a parameter that stands for its family.
CodecAttrInterface parseCodecText(mlir::MLIRContext *context, llvm::StringRef text, std::string &reason);

} // namespace cgx

#endif // CGX_PASSES_REWRITE_CODECTEXT_H
