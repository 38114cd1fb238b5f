//===-- CodecText.cpp - Codecs from text ----------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodecText.h"

#include "cgx/Passes/CodecOptions.h"

#include "mlir/AsmParser/AsmParser.h"
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

CodecAttrInterface parseCodecText(MLIRContext *context, StringRef text, std::string &reason) {
  StringRef family = text.take_until([](char c) { return c == '<'; }).trim();
  if (auto [parameter, number] = shortForm(family); parameter)
    return parseCodecText(context,
                          addCodecParameters(std::string(codecFamilies()[number].name) +
                                                 text.drop_until([](char c) { return c == '<'; }).str(),
                                             {std::string(parameter->name) + "=" + family.str()}),
                          reason);
  if (!llvm::is_contained(getCodecMnemonics(), family)) {
    reason =
        ("expected codec to be one of " + llvm::join(getCodecMnemonics(), ", ") + ", got " + family).str();
    return {};
  }
  return parseCodec(context, ("#cgx." + text.ltrim()).str(), reason);
}

std::string addCodecParameters(StringRef codec, ArrayRef<std::string> parameters) {
  StringRef family = codec.take_until([](char c) { return c == '<'; });
  StringRef given = codec.drop_front(family.size()).trim();
  SmallVector<std::string> all;
  if (given.consume_front("<") && given.consume_back(">"))
    all.push_back(given.str());
  all.append(parameters.begin(), parameters.end());
  return family.trim().str() + (all.empty() ? "" : "<" + llvm::join(all, ",") + ">");
}

/// "quantize: how an element becomes a level: nearest, stochastic or random_shift"
static std::string describeParameter(const CodecParameter &parameter) {
  std::vector<std::string> families;
  for (const CodecFamilyEntry &family : codecFamilies())
    if (llvm::any_of(family.parameters, [&](const CodecParameter &of) { return of.name == parameter.name; }))
      families.emplace_back(family.name);
  std::string text(meaningOf(parameter.name));
  if (!parameter.isFlag)
    text = llvm::join(families, ", ") + ": " + text;
  if (!parameter.cases.empty())
    text += ": " + codec_table::choiceOf(codec_table::namesOf(parameter.cases));
  else if (!parameter.isFlag && !parameter.real && parameter.most != UINT32_MAX)
    text += ", " + std::to_string(parameter.least) + " to " + std::to_string(parameter.most);
  return text;
}

ArrayRef<CodecOption> getCodecOptions() {
  static const std::vector<CodecOption> options = [] {
    std::vector<CodecOption> made;
    for (const CodecFamilyEntry &family : codecFamilies())
      for (const CodecParameter &parameter : family.parameters) {
        std::string argument(parameter.name);
        std::replace(argument.begin(), argument.end(), '_', '-');
        if (llvm::none_of(made, [&](const CodecOption &option) { return option.argument == argument; }))
          made.push_back({argument, describeParameter(parameter), parameter.isFlag});
      }
    return made;
  }();
  return options;
}

} // namespace cgx
