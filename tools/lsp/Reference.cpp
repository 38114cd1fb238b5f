//===-- Reference.cpp - Reference of an op --------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference.h"

#include "ReferencePages.inc"

#include <utility>

using llvm::StringRef;

namespace cgx::lsp {

/// Returns the lines of the page between the op's heading and the next one of any depth.
static StringRef findSection(StringRef page, StringRef op) {
  const std::string heading = "\n### `" + op.str() + "` (";
  const size_t begin = page.find(heading);
  if (begin == StringRef::npos)
    return {};
  StringRef section = page.substr(begin + heading.size()).split('\n').second;
  return section.take_front(section.find("\n###"));
}

std::string getReference(StringRef op) {
  for (StringRef page : kPages) {
    StringRef section = findSection(page, op);
    if (section.empty())
      continue;
    std::string text;
    bool isSyntax = false, isCode = false;
    // The grammar and the traits are left out, because they are for authors of passes.
    for (StringRef line; !section.empty();) {
      std::tie(line, section) = section.split('\n');
      if (line.starts_with("```"))
        isCode = !isCode;
      if (line == "Syntax:")
        isSyntax = true;
      if (!isSyntax && !line.starts_with("Traits:") && !line.starts_with("Interfaces:") &&
          !line.starts_with("Effects:"))
        text += line.str() + "\n";
      if (isSyntax && line == "```" && !isCode)
        isSyntax = false;
    }
    return StringRef(text).trim().str();
  }
  return {};
}

} // namespace cgx::lsp
