//===-- ForeignFile.cpp - Kinds of files that are no modules ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForeignFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

using namespace llvm;

namespace {

struct Kind {
  StringLiteral magic, name;
};

} // namespace

static constexpr Kind kKinds[] = {
    {"\x7f"
     "ELF",
     "a library or a program"},
    {"\x93NUMPY", "an array of NumPy"},
    {"PK\x03\x04", "a zip archive, as torch.save and numpy.savez write"},
    {"\x1f\x8b", "compressed by gzip"},
    {"\x28\xb5\x2f\xfd", "compressed by zstd"},
    {"\x89HDF", "an HDF5 file"},
    {"\x80\x02", "a pickle of Python"},
    {"\x80\x03", "a pickle of Python"},
    {"\x80\x04", "a pickle of Python"},
    {"\x80\x05", "a pickle of Python"},
    {"HloModule ", "text of HLO, which XLA prints after StableHLO"},
    {"#!", "a script"},
};

/// Returns true if the bytes begin with eight bytes for the length of a header, and a header in JSON.
static bool isSafetensors(StringRef bytes) {
  return bytes.size() > 8 && bytes[8] == '{' && support::endian::read64le(bytes.data()) <= bytes.size() - 8;
}

/// Returns true if the text begins with a bracket of JSON. MLIR may begin with `{-#`, and with no other
/// bracket.
static bool isJson(StringRef text) {
  if (text.consume_front("{"))
    return text.ltrim().starts_with("\"") || text.ltrim().starts_with("}");
  return text.starts_with("[");
}

/// Returns true if the first line that is no comment is Python's: no op of MLIR has such a name followed by a
/// word.
static bool isPython(StringRef text) {
  StringRef line;
  do
    std::tie(line, text) = text.ltrim().split('\n');
  while (line.starts_with("# ") || (line.empty() && !text.empty()));
  if (line.starts_with("\"\"\""))
    return true;
  for (StringRef word : {"import ", "from ", "def ", "class "}) {
    StringRef rest = line;
    if (rest.consume_front(word))
      return !rest.empty() && (isAlpha(rest.front()) || rest.front() == '_' || rest.front() == '.');
  }
  return false;
}

std::optional<std::string> cgx::nameForeignFile(StringRef bytes) {
  for (const Kind &kind : kKinds)
    if (bytes.starts_with(kind.magic))
      return kind.name.str();
  if (isSafetensors(bytes))
    return "a safetensors file";
  const StringRef begin = bytes.take_front(4096).ltrim();
  if (isJson(begin))
    return "JSON";
  if (isPython(begin))
    return "a program in Python";
  if (!bytes.empty() && bytes.take_front(4096).find_first_not_of('\0') == StringRef::npos)
    return "zeros";
  return std::nullopt;
}
