//===-- CodecOptions.h - Codecs and their parameters as options -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `codec=quantize bits=8` is `codec=quantize<bits=8>`: whoever has an option for a codec has one for each
// parameter that the table of codecs has, and none is listed by hand.
#ifndef CGX_PASSES_CODECOPTIONS_H
#define CGX_PASSES_CODECOPTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cgx {

enum class LayerKind : uint32_t;

/// An option for the parameters of one name, of all families.
struct CodecOption {
  std::string argument, description;
  bool isFlag;
};

/// Of every parameter, in the order of the table.
llvm::ArrayRef<CodecOption> getCodecOptions();

/// `family` or `family<name=value,...>` with these parameters (`name=value`, or `name` of a flag) beside
/// those that it has.
std::string addCodecParameters(llvm::StringRef codec, llvm::ArrayRef<std::string> parameters);

/// The options of a pass, or of a pipeline: `Text` and `Flag` are its kinds of options.
template <typename Text, typename Flag, typename Parent> class CodecParameterOptions {
public:
  explicit CodecParameterOptions(Parent &parent) {
    for (const CodecOption &option : getCodecOptions())
      if (option.isFlag)
        flags.push_back(std::make_unique<Flag>(parent, option.argument, llvm::cl::desc(option.description),
                                               llvm::cl::init(false)));
      else
        texts.push_back(std::make_unique<Text>(parent, option.argument, llvm::cl::desc(option.description),
                                               llvm::cl::init("")));
  }

  /// `codec` with the parameters that were given.
  std::string addTo(llvm::StringRef codec) const {
    std::vector<std::string> given;
    auto nameOf = [](const auto &option) {
      std::string name = option->getArgStr().str();
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    };
    for (const auto &text : texts)
      if (!text->empty())
        given.push_back(nameOf(text) + "=" + text->getValue());
    for (const auto &flag : flags)
      if (flag->getValue())
        given.push_back(nameOf(flag));
    return addCodecParameters(codec, given);
  }

private:
  std::vector<std::unique_ptr<Text>> texts;
  std::vector<std::unique_ptr<Flag>> flags;
};

/// An option for the codec of the layers of a kind.
struct KindCodecOption {
  LayerKind kind;
  const char *argument, *description;
};

/// Of every kind.
llvm::ArrayRef<KindCodecOption> getKindCodecOptions();

/// Codecs of kinds, in words.
using KindCodecs = std::map<LayerKind, std::string>;

/// The options of a pass, or of a pipeline: `Text` is its kind of options.
template <typename Text, typename Parent> class KindCodecOptions {
public:
  explicit KindCodecOptions(Parent &parent) {
    for (const KindCodecOption &option : getKindCodecOptions())
      texts[option.kind] = std::make_unique<Text>(parent, option.argument, llvm::cl::desc(option.description),
                                                  llvm::cl::init(""));
  }

  /// Those that were given.
  KindCodecs get() const {
    KindCodecs codecs;
    for (const auto &[kind, text] : texts)
      if (!text->empty())
        codecs[kind] = text->getValue();
    return codecs;
  }

  void set(const KindCodecs &codecs) {
    for (const auto &[kind, codec] : codecs)
      *texts.at(kind) = codec;
  }

private:
  std::map<LayerKind, std::unique_ptr<Text>> texts;
};

} // namespace cgx

#endif // CGX_PASSES_CODECOPTIONS_H
