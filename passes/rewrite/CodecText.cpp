//===-- CodecText.cpp - Codecs from text ----------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodecText.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/AttributeSupport.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace cgx {

/// People and JSON write 1e-8 where the parser of attributes wants 1.0e-8.
static std::string withPoints(StringRef text) {
  std::string result;
  while (!text.empty()) {
    StringRef word = text.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
    StringRef digits = word.take_while(llvm::isDigit);
    bool isExponent = !digits.empty() && word.drop_front(digits.size()).starts_with_insensitive("e");
    result += digits;
    result += isExponent ? ".0" : "";
    result += word.drop_front(digits.size());
    text = text.drop_front(word.size());
    result += text.take_front(1);
    text = text.drop_front(text.empty() ? 0 : 1);
  }
  return result;
}

CodecAttrInterface parseCodec(MLIRContext *context, StringRef assembly, std::string &reason) {
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    reason += (reason.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  return dyn_cast_or_null<CodecAttrInterface>(parseAttribute(withPoints(assembly), context));
}

CodecAttrInterface parseCodec(MLIRContext *context, StringRef text, ArrayRef<std::string> parameters,
                              std::string &reason) {
  StringRef family = text.take_until([](char c) { return c == '<'; }).trim();
  auto known = AbstractAttribute::lookup(("cgx." + family).str(), context);
  if (!known || !known->get().hasInterface(CodecAttrInterface::getInterfaceID())) {
    reason =
        ("expected codec to be one of " + llvm::join(getCodecMnemonics(), ", ") + ", got " + family).str();
    return {};
  }
  SmallVector<std::string> all;
  StringRef given = text.drop_front(text.find(family) + family.size()).trim();
  if (given.consume_front("<") && given.consume_back(">"))
    all.push_back(given.str());
  all.append(parameters.begin(), parameters.end());
  std::string assembly = ("#cgx." + family).str();
  if (!all.empty())
    assembly += "<" + llvm::join(all, ", ") + ">";
  return parseCodec(context, assembly, reason);
}

} // namespace cgx
