//===-- SourceText.cpp - Modules that other programs wrote ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Tools/SourceText.h"

#include "Bytecode.h"
#include "ForeignFile.h"
#include "SourceDepth.h"

#include "cgx/Dialect/Stablehlo/BooleanLiterals.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

static constexpr StringLiteral kWriteText =
    "write text instead: jax.jit(step).lower(...).as_text(debug_info=True), exported.mlir_module() of "
    "jax.export, or "
    "stablehlo-translate --deserialize";

/// Returns true if the bytes at `magic` begin StableHLO's portable bytecode, whose ops belong to the vhlo
/// dialect.
static bool isPortable(StringRef magic) {
  // The header consists of the magic bytes, the version, and the name of the program that wrote it.
  return magic.take_front(64).contains("StableHLO");
}

/// Returns the position of an op of vhlo, as in `"vhlo.add_v1"(` or `vhlo.return_v1 %0`, outside of comments.
static std::optional<size_t> findPortableOp(StringRef text) {
  for (size_t at = text.find("vhlo."); at != StringRef::npos; at = text.find("vhlo.", at + 1)) {
    StringRef op = text.substr(at).take_while([](char c) { return isAlnum(c) || c == '_' || c == '.'; });
    StringRef after = text.substr(at + op.size());
    size_t line = text.rfind('\n', at) + 1; // 0 in the first line
    char before = at == 0 ? '\n' : text[at - 1];
    bool isOp = before == '"' ? after.starts_with("\"(") && (at < 2 || text[at - 2] != '@')
                              : isSpace(before) && after.starts_with(" ");
    if (isOp && op.contains("_v") && !text.slice(line, at).contains("//"))
      return at;
  }
  return std::nullopt;
}

/// Returns true if a position is in a string or a comment, both of which end with their line.
static bool isQuoted(StringRef text, size_t at) {
  bool isInString = false;
  for (size_t i = text.rfind('\n', at) + 1; i < at; ++i) { // 0 in the first line
    if (isInString && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      isInString = !isInString;
    else if (!isInString && text.substr(i).starts_with("//"))
      return true;
  }
  return isInString;
}

/// The most results of an op. MLIR's parser allocates memory for each number below one that it reads.
static constexpr uint64_t kMostResults = 1 << 20;

/// Returns the position of a result number that no op can have, as in `%0#4294967295`.
static std::optional<size_t> findHugeResult(StringRef text) {
  for (size_t at = text.find('#'); at != StringRef::npos; at = text.find('#', at + 1)) {
    StringRef digits = text.substr(at + 1).take_while(isDigit);
    uint64_t number = 0;
    if (digits.empty() || (!digits.getAsInteger(10, number) && number < kMostResults))
      continue;
    StringRef before =
        text.take_front(at).rtrim("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$.-");
    if (before.ends_with("%") && !isQuoted(text, at))
      return at;
  }
  return std::nullopt;
}

std::optional<std::string> cgx::explainUnreadable(const MemoryBuffer &buffer) {
  StringRef text = buffer.getBuffer();
  std::string name = buffer.getBufferIdentifier().str();
  if (text.starts_with(cgx::kBytecodeMagic)) {
    if (!isPortable(text))
      return std::nullopt;
    return name + ": error: this is portable bytecode of StableHLO (vhlo), which only its own tools read; " +
           kWriteText.str();
  }
  if (std::optional<std::string> kind = nameForeignFile(text))
    return name + ": error: this is " + *kind +
           "; expected a step as text or bytecode of MLIR, such as step.mlir of cgx_jax.export_step";
  if (std::optional<size_t> op = findPortableOp(text))
    return name + ":" + std::to_string(text.take_front(*op).count('\n') + 1) +
           ": error: this is text of StableHLO's portable form (vhlo), which only its own tools read; " +
           kWriteText.str() + ", or stablehlo-opt --vhlo-legalize-to-stablehlo";
  if (std::optional<size_t> number = findHugeResult(text))
    return name + ":" + std::to_string(text.take_front(*number).count('\n') + 1) +
           ": error: expected the number of a result to be below " + std::to_string(kMostResults) + ", got " +
           text.substr(*number + 1).take_while(isDigit).str();
  if (std::optional<size_t> deep = findDeepNesting(text))
    return name + ":" + std::to_string(text.take_front(*deep).count('\n') + 1) +
           ": error: expected brackets, and attributes and types by name, to be nested at most " +
           std::to_string(kDeepestNesting) + " deep, got more";
  // Text has no zero bytes. A file of jax.export contains bytecode.
  if (!text.take_front(4096).contains('\0'))
    return std::nullopt;
  size_t inner = text.find(cgx::kBytecodeMagic);
  if (inner == StringRef::npos || !isPortable(text.substr(inner)))
    return std::nullopt;
  return name + ": error: this is a function that jax.export serialized, with portable bytecode inside; " +
         kWriteText.str();
}

bool cgx::hasLocations(const MemoryBuffer &buffer) {
  StringRef text = buffer.getBuffer();
  if (text.starts_with(cgx::kBytecodeMagic) || text.starts_with("#loc") || text.contains("\n#loc"))
    return true;
  constexpr StringLiteral kLocation = " loc(";
  for (size_t at = text.find(kLocation); at != StringRef::npos; at = text.find(kLocation, at + 1))
    if (!isQuoted(text, at))
      return true;
  return false;
}

namespace {

/// A scanner of the text's tokens that looks at strings and comments only.
class Packer {
public:
  explicit Packer(MutableArrayRef<char> text) : text(text) {}

  /// Packs the text, which ends with NUL.
  void run() {
    while (at < text.size()) {
      if (text[at] == '"')
        skipString();
      else if (text[at] == '/' && at + 1 < text.size() && text[at + 1] == '/')
        skipLine();
      else if (isAlpha(text[at]) || text[at] == '_')
        takeWord();
      else
        ++at;
    }
  }

private:
  void skipString() {
    for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
      if (text[at] == '\\')
        ++at;
    ++at;
  }

  void skipLine() {
    while (at < text.size() && text[at] != '\n')
      ++at;
  }

  void takeWord() {
    size_t begin = at;
    while (at < text.size() && (isAlnum(text[at]) || StringRef("_$.-").contains(text[at])))
      ++at;
    if (StringRef(&text[begin], at - begin) != "dense")
      return;
    if (std::optional<StringRef> digits = cgx::stablehlo::matchByteBooleans(&text[begin]))
      pack(*digits);
  }

  /// Replaces the bytes by their bits, and writes spaces after the string.
  void pack(StringRef digits) {
    size_t out = digits.data() - text.data();
    size_t end = out + digits.size() + 1; // including the quote
    size_t count = digits.size() / 2;
    for (size_t begin = 0; begin < count; begin += 8) {
      unsigned byte = 0;
      for (size_t bit = 0; bit < std::min<size_t>(8, count - begin); ++bit)
        byte |= static_cast<unsigned>(cgx::stablehlo::getByteBoolean(digits, begin + bit)) << bit;
      // Two digits encode eight elements of two digits each, so the output never passes the input.
      text[out++] = hexdigit(byte >> 4);
      text[out++] = hexdigit(byte & 15);
    }
    text[out++] = '"';
    while (out < end)
      text[out++] = ' ';
    at = end;
  }

  MutableArrayRef<char> text;
  size_t at = 0;
};

} // namespace

std::unique_ptr<MemoryBuffer> cgx::packBooleans(std::unique_ptr<MemoryBuffer> buffer) {
  if (!buffer->getBuffer().contains("dense<\"0x"))
    return buffer;
  auto copy =
      WritableMemoryBuffer::getNewUninitMemBuffer(buffer->getBufferSize(), buffer->getBufferIdentifier());
  llvm::copy(buffer->getBuffer(), copy->getBufferStart());
  Packer(copy->getBuffer()).run();
  return copy;
}

std::unique_ptr<MemoryBuffer> cgx::prepareSource(std::unique_ptr<MemoryBuffer> buffer,
                                                 const mlir::DialectRegistry &registry, std::string &why) {
  std::optional<std::string> reason = explainUnreadable(*buffer);
  if (!reason && buffer->getBuffer().starts_with(cgx::kBytecodeMagic)) {
    const std::string name = buffer->getBufferIdentifier().str();
    std::string text;
    if (bytecodeToText(buffer->getBuffer(), name, registry, text)) {
      buffer = MemoryBuffer::getMemBufferCopy(text, name);
      reason = explainUnreadable(*buffer);
    } else {
      reason = text;
    }
  }
  if (!reason)
    return packBooleans(std::move(buffer));
  why = *reason;
  return nullptr;
}
