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

CodecAttrInterface parseCodec(MLIRContext *context, StringRef assembly, std::string &reason) {
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    reason += (reason.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  return dyn_cast_or_null<CodecAttrInterface>(parseAttribute(assembly, context));
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
