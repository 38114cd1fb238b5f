//===-- CodecOptions.h - Codecs and their parameters as options -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `codec=quantize bits=8` is `codec=quantize<bits=8>`: a pass with an option for a codec has one for each
// parameter in the table of codecs, and none is listed by hand.
#ifndef CGX_PASSES_CODECOPTIONS_H
#define CGX_PASSES_CODECOPTIONS_H

#include "cgx/layers/CodecWords.h"
#include "cgx/layers/KindCodecs.h"
#include "cgx/layers/Text.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cgx {

/// The options of a pass, or of a pipeline: `Text` and `Flag` are its kinds of options.
template <typename Text, typename Flag, typename Parent> class CodecParameterOptions {
public:
  explicit CodecParameterOptions(Parent &parent) {
    for (const layers::CodecOption &option : layers::codecOptions())
      if (option.isFlag)
        flags.push_back(std::make_unique<Flag>(parent, option.argument, llvm::cl::desc(option.description),
                                               llvm::cl::init(false)));
      else
        texts.push_back(std::make_unique<Text>(parent, option.argument, llvm::cl::desc(option.description),
                                               llvm::cl::init("")));
  }

  /// Returns `codec` with the parameters that were given.
  std::string addTo(llvm::StringRef codec) const {
    std::vector<std::string> given;
    auto nameOf = [](const auto &option) { return layers::withUnderscores(option->getArgStr().str()); };
    for (const auto &text : texts)
      if (!text->empty())
        given.push_back(nameOf(text) + "=" + text->getValue());
    for (const auto &flag : flags)
      if (flag->getValue())
        given.push_back(nameOf(flag));
    return layers::addCodecParameters(codec.str(), given);
  }

private:
  std::vector<std::unique_ptr<Text>> texts;
  std::vector<std::unique_ptr<Flag>> flags;
};

/// The options of a pass, or of a pipeline: `Text` is its kind of options.
template <typename Text, typename Parent> class KindCodecOptions {
public:
  explicit KindCodecOptions(Parent &parent) {
    for (const layers::KindCodecOption &option : layers::kindCodecOptions())
      texts[option.kind] = std::make_unique<Text>(parent, option.argument, llvm::cl::desc(option.description),
                                                  llvm::cl::init(""));
  }

  /// Returns the codecs that were given, by kind.
  layers::KindCodecs get() const {
    layers::KindCodecs codecs;
    for (const auto &[kind, text] : texts)
      if (!text->empty())
        codecs[kind] = text->getValue();
    return codecs;
  }

  void set(const layers::KindCodecs &codecs) {
    for (const auto &[kind, codec] : codecs)
      *texts.at(kind) = codec;
  }

private:
  std::map<layers::Kind, std::unique_ptr<Text>> texts;
};

} // namespace cgx

#endif // CGX_PASSES_CODECOPTIONS_H
