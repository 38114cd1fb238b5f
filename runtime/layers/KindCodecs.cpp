//===-- KindCodecs.cpp - Codecs of kinds ----------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/KindCodecs.h"

#include "Numbers.h"

#include "cgx/layers/CodecWords.h"
#include "cgx/layers/Text.h"

#include <algorithm>

namespace cgx::layers {

/// Returns text such as "quantize: how an element becomes a level: nearest, stochastic or random_shift".
static std::string describeParameter(const CodecParameter &parameter) {
  std::vector<std::string> families;
  for (const CodecFamilyEntry &family : codecFamilies())
    if (std::ranges::find(family.parameters, parameter.name, &CodecParameter::name) !=
        family.parameters.end())
      families.emplace_back(family.name);
  std::string text(meaningOf(parameter.name));
  if (!parameter.isFlag)
    text = join(families, ", ") + ": " + text;
  if (!parameter.cases.empty())
    text += ": " + codec_table::choiceOf(codec_table::namesOf(parameter.cases));
  else if (!parameter.isFlag && !parameter.real && parameter.most != UINT32_MAX)
    text += ", " + std::to_string(parameter.least) + " to " + std::to_string(parameter.most);
  return text;
}

std::span<const CodecOption> codecOptions() {
  static const std::vector<CodecOption> options = [] {
    std::vector<CodecOption> made;
    for (const CodecFamilyEntry &family : codecFamilies())
      for (const CodecParameter &parameter : family.parameters)
        if (std::string argument = withDashes(parameter.name);
            std::ranges::find(made, argument, &CodecOption::argument) == made.end())
          made.push_back({argument, describeParameter(parameter), parameter.isFlag});
    return made;
  }();
  return options;
}

std::span<const KindCodecOption> kindCodecOptions() {
  static const KindCodecOption options[] = {
      {Kind::Gradient, "gradient", "Codec of gradients, in words: 'quantize bits=4', or bits=4"},
      {Kind::OuterGradient, "outer-gradient",
       "Codec of outer gradients, of steps that communicate every H-th time: bits=4"},
      {Kind::Weight, "weight", "Codec of weights, which are then compressed: bits=8"},
      {Kind::Activation, "activation",
       "Codec of activations, forward and backward, which are then compressed"},
      {Kind::ActivationGradient, "activation-gradient",
       "Codec of what travels in the backward pass: gradients of activations"},
      {Kind::Dispatch, "dispatch",
       "Codec of tokens on their way to their experts, and of their gradients: bits=8, with one scale for "
       "each "
       "token"},
      {Kind::DispatchGradient, "dispatch-gradient", "Codec of the gradients of dispatched tokens"},
      {Kind::Combine, "combine",
       "Codec of what experts made of tokens, on its way back, and of its gradients"},
      {Kind::CombineGradient, "combine-gradient", "Codec of the gradients of what experts made"},
      {Kind::Other, "other", "Codec of what is of no other kind, which is then compressed"},
  };
  return options;
}

/// Returns `usual` with the given parameters replaced.
static std::string changed(std::string_view usual, const std::string &given) {
  CodecWords words;
  // Errors are reported when codecs are assigned.
  if (!splitCodecWords(given, usual, words).empty())
    return given;
  std::string text = words.codec;
  if (!words.backCodec.empty())
    text += " back-codec=" + words.backCodec;
  if (words.errorFeedback != "none")
    text += " error-feedback=" + words.errorFeedback + " error-feedback-decay=" + fixed(words.decay);
  if (words.delta != "none" || words.samples != 0)
    text += " delta=" + words.delta + " samples=" + std::to_string(words.samples);
  return text;
}

static bool sendsChanges(const std::string &codec) {
  CodecWords words;
  return splitCodecWords(codec, "quantize", words).empty() && words.delta != "none";
}

KindCodecs completeKindCodecs(KindCodecs codecs, bool qsdp, const std::string &along,
                              const std::vector<std::string> &kinds) {
  if (qsdp) {
    codecs[Kind::Gradient] =
        changed("quantize<bits=8,bucket=1024,rounding=stochastic,scale=f32>", codecs[Kind::Gradient]);
    codecs[Kind::Weight] =
        changed("quantize<bits=8,bucket=1024,rounding=random_shift,scale=f32>", codecs[Kind::Weight]);
  }
  // Errors are reported when codecs are assigned.
  std::vector<CodecAlong> codecsAlong;
  (void)splitCodecsAlong(along, codecsAlong);
  for (const CodecAlong &one : codecsAlong)
    if (std::optional<Kind> kind = kindNamed(one.kind);
        kind && !isGradient(*kind) && std::ranges::find(kinds, one.kind) == kinds.end())
      codecs.try_emplace(*kind, "identity");
  // Only what travels forward is sent as changes, so activation gradients need a codec of their own.
  const auto forward = codecs.find(Kind::Activation);
  if ((forward != codecs.end() && sendsChanges(forward->second)) ||
      std::ranges::any_of(codecsAlong, [](const CodecAlong &one) {
        return one.kind == nameOf(Kind::Activation) && sendsChanges(one.codec);
      }))
    codecs.try_emplace(Kind::ActivationGradient, "identity");
  return codecs;
}

std::vector<std::string> kindsToCompress(const std::vector<std::string> &kinds, const KindCodecs &codecs) {
  std::vector<std::string> all = kinds;
  const auto add = [&](Kind kind) {
    if (std::ranges::find(all, nameOf(kind)) == all.end())
      all.emplace_back(nameOf(kind));
  };
  // Kinds that are compressed without these options stay compressed.
  if (kinds.empty() && !codecs.empty()) {
    add(Kind::Gradient);
    add(Kind::OuterGradient);
  }
  for (const auto &[kind, codec] : codecs)
    add(kind);
  return all;
}

std::string codecOfGradients(const std::string &codec, const KindCodecs &codecs) {
  const auto given = codecs.find(Kind::Gradient);
  if (given == codecs.end())
    return codec;
  CodecWords words;
  words.codec = codec; // errors are reported when codecs are assigned
  (void)splitCodecWords(given->second, "quantize", words);
  return words.codec;
}

bool asksForIdentity(const CodecOptions &options) {
  const auto isIdentity = [](const auto &entry) {
    CodecWords words;
    return splitCodecWords(entry.second, "quantize", words).empty() && words.codec == "identity";
  };
  return options.plan.empty() && options.along.empty() &&
         codecOfGradients(options.codec, options.ofKinds) == "identity" &&
         std::ranges::all_of(options.ofKinds, isIdentity);
}

} // namespace cgx::layers
