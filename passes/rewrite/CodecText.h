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
#include <vector>

namespace cgx {

/// A codec in words, as options have them.
struct CodecWords {
  std::string codec = "quantize";
  /// Of what an all-reduce sends back; empty: the same.
  std::string backCodec;
  std::string errorFeedback = "none";
  double decay = 1.0;
  /// How messages are kept of which changes are sent, or none.
  std::string delta = "none";
  uint64_t samples = 0;

  /// Whether some bucket is a row: `bucket=row`.
  bool isOfRows() const;
  /// The same, of rows of `length` elements.
  CodecWords ofRows(int64_t length) const;
};

/// Splits `quantize bits=8 bucket=1024`, `quantize<bits=8 bucket=1024>`, or `bits=8`, whose codec is `usual`,
/// with `error-feedback`, `error-feedback-decay`, `back-codec`, `delta` and `samples` among the words where
/// they are wanted. Returns what is wrong, or "".
std::string splitCodecWords(llvm::StringRef text, llvm::StringRef usual, CodecWords &words);

/// The codec of a kind of layers in collectives along some axes of the mesh.
struct CodecAlong {
  std::string axes; ///< `host`, or several: `host+shard`
  std::string kind;
  std::string codec;
};

/// Splits `shard<gradient=bits=8 weight="bits=4 delta=bf16"> host<gradient=quantize<bits=4 bucket=64>>`:
/// several words of a codec stand in brackets of a family or in quotes. Returns what is wrong, or "".
std::string splitCodecsAlong(llvm::StringRef text, std::vector<CodecAlong> &codecs);

/// Null, and why not in `reason`, where the assembly is that of no codec.
CodecAttrInterface parseCodec(mlir::MLIRContext *context, llvm::StringRef assembly, std::string &reason);

/// The same for `family` or `family<name = value, ...>`, or a case of a parameter that stands for its family.
/// Parameters may stand apart by spaces, too.
CodecAttrInterface parseCodecText(mlir::MLIRContext *context, llvm::StringRef text, std::string &reason);

/// The codec with error feedback kept in `storage`, or as it is for `none`; null, and why not in `reason`,
/// where it cannot have it.
CodecAttrInterface addErrorFeedback(CodecAttrInterface codec, llvm::StringRef storage, double decay,
                                    std::string &reason);

/// What words describe; null, and why not in `reason`, where they describe none.
CodecAttrInterface buildCodec(mlir::MLIRContext *context, const CodecWords &words, std::string &reason);

} // namespace cgx

#endif // CGX_PASSES_REWRITE_CODECTEXT_H
