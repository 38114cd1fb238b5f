//===-- CodecText.cpp - Codecs from text ----------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodecText.h"
#include "Meant.h"

#include "cgx/Passes/CodecOptions.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
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
  auto codec = dyn_cast_or_null<CodecAttrInterface>(parseAttribute(withPoints(assembly), context));
  // The parser of attributes says what it expected, but not of which parameter.
  StringRef parameters = assembly.split('<').second;
  if (!codec && !reason.empty() && reason.find(parameters.split('=').first.trim().str()) == std::string::npos)
    reason += ", got " + assembly.drop_front(StringRef("#cgx.").size()).str();
  return codec;
}

/// Words of `text`, between spaces and commas outside of angle brackets and quotes; `bits = 8` is one.
static SmallVector<std::string> splitWords(StringRef text) {
  SmallVector<std::string> words;
  int depth = 0;
  char quote = 0;
  bool isApart = true; // the next character begins a word
  for (char c : text) {
    depth += c == '<' ? 1 : c == '>' ? -1 : 0;
    if (quote == 0 && (c == '"' || c == '\''))
      quote = c;
    else if (c == quote)
      quote = 0;
    if (depth <= 0 && quote == 0 && (llvm::isSpace(c) || c == ',')) {
      isApart = true;
      continue;
    }
    bool continues = c == '=' || c == '<' || (!words.empty() && words.back().back() == '=');
    if (words.empty() || (isApart && !continues))
      words.emplace_back();
    words.back() += c;
    isApart = false;
  }
  return words;
}

/// `quantize<bits=8 bucket=1024>` as the parser of attributes wants it: `quantize<bits=8,bucket=1024>`.
static std::string withCommas(StringRef text) {
  StringRef family = text.take_until([](char c) { return c == '<'; });
  StringRef parameters = text.drop_front(family.size()).trim();
  if (!parameters.consume_front("<") || !parameters.consume_back(">") || parameters.contains('<'))
    return text.str();
  return (family + "<" + llvm::join(splitWords(parameters), ",") + ">").str();
}

/// What is wrong with the brackets of a text, or "".
static std::string checkBrackets(StringRef text) {
  int depth = 0;
  for (char c : text) {
    depth += c == '<' ? 1 : c == '>' ? -1 : 0;
    if (depth < 0)
      break;
  }
  return depth == 0 ? "" : "expected a '>' for each '<', got " + text.str();
}

CodecAttrInterface parseCodecText(MLIRContext *context, StringRef spelled, std::string &reason) {
  if (reason = checkBrackets(spelled); !reason.empty())
    return {};
  std::string commas = withCommas(spelled);
  StringRef text = commas;
  StringRef family = text.take_until([](char c) { return c == '<'; }).trim();
  if (auto [parameter, number] = shortForm(family); parameter)
    return parseCodecText(context,
                          addCodecParameters(std::string(codecFamilies()[number].name) +
                                                 text.drop_until([](char c) { return c == '<'; }).str(),
                                             {std::string(parameter->name) + "=" + family.str()}),
                          reason);
  if (!llvm::is_contained(getCodecMnemonics(), family)) {
    reason = ("expected codec to be one of " + llvm::join(getCodecMnemonics(), ", ") + ", got " + family +
              askMeant(family, getCodecMnemonics()))
                 .str();
    return {};
  }
  return parseCodec(context, ("#cgx." + text.ltrim()).str(), reason);
}

std::string splitCodecWords(StringRef text, StringRef usual, CodecWords &words) {
  if (std::string wrong = checkBrackets(text); !wrong.empty())
    return wrong;
  SmallVector<std::string> given = splitWords(text);
  auto isFamily = [](StringRef word) {
    return !word.take_until([](char c) { return c == '<'; }).contains('=');
  };
  words = {};
  words.codec = usual.str();
  if (!given.empty() && isFamily(given.front())) {
    words.codec = given.front();
    given.erase(given.begin());
  }
  SmallVector<std::string> parameters;
  for (StringRef word : given) {
    auto [name, value] = word.split('=');
    std::string dashes = name.str();
    std::replace(dashes.begin(), dashes.end(), '_', '-');
    if (dashes == "error-feedback")
      words.errorFeedback = value.str();
    else if (dashes == "back-codec")
      words.backCodec = value.str();
    else if (dashes == "delta")
      words.delta = value.empty() ? "f32" : value.str();
    else if (dashes == "samples") {
      if (value.getAsInteger(10, words.samples))
        return ("expected samples to be a number, got " + value).str();
    } else if (dashes != "error-feedback-decay") {
      std::string underscores = name.str();
      std::replace(underscores.begin(), underscores.end(), '-', '_');
      parameters.push_back(underscores + word.drop_front(name.size()).str());
    } else if (value.getAsDouble(words.decay)) {
      return ("expected error-feedback-decay to be a number, got " + value).str();
    }
  }
  // What is given takes the place of what is usual.
  SmallVector<std::string> all;
  StringRef family = StringRef(words.codec).take_until([](char c) { return c == '<'; });
  StringRef inner = StringRef(words.codec).drop_front(family.size()).trim();
  auto nameOf = [](StringRef word) { return word.split('=').first; };
  if (inner.consume_front("<") && inner.consume_back(">"))
    for (const std::string &word : splitWords(inner))
      if (llvm::none_of(parameters, [&](StringRef other) { return nameOf(other) == nameOf(word); }))
        all.push_back(word);
  all.append(parameters);
  words.codec = addCodecParameters(family, all);
  return "";
}

/// `text` without the quotes around it.
static StringRef withoutQuotes(StringRef text) {
  for (StringRef quote : {"\"", "'"})
    if (text.size() >= 2 && text.starts_with(quote) && text.ends_with(quote))
      return text.drop_front().drop_back();
  return text;
}

std::string splitCodecsAlong(StringRef text, std::vector<CodecAlong> &codecs) {
  for (const std::string &word : splitWords(text)) {
    StringRef axes = StringRef(word).take_until([](char c) { return c == '<'; });
    StringRef inner = StringRef(word).drop_front(axes.size());
    if (axes.empty() || !inner.consume_front("<") || !inner.consume_back(">"))
      return "expected codecs of an axis of the mesh, such as host<gradient=bits=4>, got " + word;
    for (const std::string &given : splitWords(inner)) {
      auto [kind, codec] = StringRef(given).split('=');
      if (codec.empty())
        return "expected the codec of a kind, such as gradient=bits=4, or weight=\"bits=4 delta=bf16\", "
               "got " +
               given + " along " + axes.str();
      codecs.push_back({axes.str(), kind.str(), withoutQuotes(codec).str()});
      std::replace(codecs.back().kind.begin(), codecs.back().kind.end(), '-', '_');
    }
  }
  return "";
}

/// `codec` with buckets of `length` elements where they are rows.
static std::string withRows(StringRef codec, int64_t length) {
  StringRef family = codec.take_until([](char c) { return c == '<'; });
  StringRef inner = codec.drop_front(family.size()).trim();
  if (!inner.consume_front("<") || !inner.consume_back(">"))
    return codec.str();
  SmallVector<std::string> parameters = splitWords(inner);
  for (std::string &parameter : parameters)
    if (parameter == "bucket=row")
      parameter = "bucket=" + std::to_string(length);
  return addCodecParameters(family, parameters);
}

CodecWords CodecWords::ofRows(int64_t length) const {
  CodecWords words = *this;
  words.codec = withRows(codec, length);
  words.backCodec = withRows(backCodec, length);
  return words;
}

bool CodecWords::isOfRows() const {
  const CodecWords one = ofRows(1), two = ofRows(2);
  return one.codec != two.codec || one.backCodec != two.backCodec;
}

/// What `make` returns as a codec; null, and what it said in `reason`, where it refuses.
template <typename Make>
static CodecAttrInterface made(MLIRContext *context, std::string &reason, Make make) {
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    reason += (reason.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  Attribute codec = make([&] { return mlir::emitError(UnknownLoc::get(context)); });
  return codec ? cast<CodecAttrInterface>(codec) : CodecAttrInterface();
}

CodecAttrInterface addErrorFeedback(CodecAttrInterface codec, StringRef storage, double decay,
                                    std::string &reason) {
  if (storage == "none")
    return codec;
  MLIRContext *context = codec.getContext();
  std::optional<ResidualStorage> kept = symbolizeResidualStorage(storage);
  if (!kept) {
    reason = ("expected error-feedback to be none, f32, bf16 or int8, got " + storage).str();
    return {};
  }
  return made(context, reason, [&](auto emitError) {
    return ErrorFeedbackAttr::getChecked(emitError, context, codec, Builder(context).getF64FloatAttr(decay),
                                         *kept);
  });
}

/// The codec for changes, where the words say so.
static CodecAttrInterface addDelta(CodecAttrInterface codec, const CodecWords &words, std::string &reason) {
  if (words.delta == "none" && words.samples == 0)
    return codec;
  std::optional<ResidualStorage> kept = symbolizeResidualStorage(words.delta);
  if (!kept) {
    reason = "expected delta=f32 or delta=bf16, how messages are kept, got delta=" + words.delta;
    return {};
  }
  return made(codec.getContext(), reason, [&](auto emitError) {
    return DeltaAttr::getChecked(emitError, codec.getContext(), codec, static_cast<int64_t>(words.samples),
                                 *kept);
  });
}

CodecAttrInterface buildCodec(MLIRContext *context, const CodecWords &words, std::string &reason) {
  CodecAttrInterface built = parseCodecText(context, words.codec, reason);
  if (built && !words.backCodec.empty()) {
    CodecAttrInterface back = parseCodecText(context, words.backCodec, reason);
    if (!back)
      return {};
    built = made(context, reason,
                 [&](auto emitError) { return TwoWayAttr::getChecked(emitError, context, built, back); });
  }
  if (built)
    built = addErrorFeedback(built, words.errorFeedback, words.decay, reason);
  return built ? addDelta(built, words, reason) : built;
}

std::string addCodecParameters(StringRef codec, ArrayRef<std::string> parameters) {
  StringRef family = codec.take_until([](char c) { return c == '<'; });
  StringRef given = codec.drop_front(family.size()).trim();
  SmallVector<std::string> all;
  if (!given.empty() && !(given.starts_with("<") && given.ends_with(">")))
    return codec.str(); // whoever reads it says what is wrong
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

ArrayRef<KindCodecOption> getKindCodecOptions() {
  static const KindCodecOption options[] = {
      {LayerKind::Gradient, "gradient", "Codec of gradients, in words: 'quantize bits=4', or bits=4"},
      {LayerKind::OuterGradient, "outer-gradient",
       "Codec of outer gradients, of steps that communicate every H-th time: bits=4"},
      {LayerKind::Weight, "weight", "Codec of weights, which are then compressed: bits=8"},
      {LayerKind::Activation, "activation",
       "Codec of activations, forward and backward, which are then compressed"},
      {LayerKind::ActivationGradient, "activation-gradient",
       "Codec of what travels in the backward pass: gradients of activations"},
      {LayerKind::Dispatch, "dispatch",
       "Codec of tokens on their way to their experts, and of their gradients: bits=8, with one scale for "
       "each "
       "token"},
      {LayerKind::DispatchGradient, "dispatch-gradient", "Codec of the gradients of dispatched tokens"},
      {LayerKind::Combine, "combine",
       "Codec of what experts made of tokens, on its way back, and of its gradients"},
      {LayerKind::CombineGradient, "combine-gradient", "Codec of the gradients of what experts made"},
      {LayerKind::Other, "other", "Codec of what is of no other kind, which is then compressed"},
  };
  return options;
}

} // namespace cgx
