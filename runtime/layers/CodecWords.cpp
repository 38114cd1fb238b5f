//===-- CodecWords.cpp - Codecs from text ---------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/CodecWords.h"

#include "ParameterReader.h"

#include "cgx/formats/Closest.h"
#include "cgx/formats/Codec.h"
#include "cgx/layers/Text.h"

#include <algorithm>
#include <charconv>

namespace cgx::layers {

/// Returns the words of `text`, separated by spaces and commas outside of angle brackets and quotes; `bits =
/// 8` is one word.
static std::vector<std::string> splitWords(std::string_view text) {
  std::vector<std::string> words;
  int depth = 0;
  char quote = 0;
  bool isApart = true; // the next character begins a word
  for (char c : text) {
    depth += c == '<' ? 1 : c == '>' ? -1 : 0;
    if (quote == 0 && (c == '"' || c == '\''))
      quote = c;
    else if (c == quote)
      quote = 0;
    if (depth <= 0 && quote == 0 && (isSpace(c) || c == ',')) {
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

/// Returns the text between the brackets of `<...>`; nothing if there are none.
static std::optional<std::string_view> withinBrackets(std::string_view text) {
  if (!consumeFront(text, "<") || !consumeBack(text, ">"))
    return std::nullopt;
  return text;
}

/// Separates parameters by commas: `quantize<bits=8 bucket=1024>` becomes `quantize<bits=8,bucket=1024>`.
static std::string withCommas(std::string_view text) {
  const std::string_view family = takeUntil(text, '<');
  const std::optional<std::string_view> parameters = withinBrackets(trim(text.substr(family.size())));
  if (!parameters || parameters->find('<') != std::string_view::npos)
    return std::string(text);
  return std::string(family) + "<" + join(splitWords(*parameters), ",") + ">";
}

/// Returns what is wrong with the brackets of a text, or "".
static std::string checkBrackets(std::string_view text) {
  int depth = 0;
  for (char c : text) {
    depth += c == '<' ? 1 : c == '>' ? -1 : 0;
    if (depth < 0)
      break;
  }
  return depth == 0 ? "" : "expected a '>' for each '<', got " + std::string(text);
}

/// Adds the first parameter to a message that does not name it.
static std::string about(const std::string &reason, std::string_view assembly) {
  const std::string_view parameters = splitAt(assembly, '<').second;
  const std::string_view first = trim(takeUntil(parameters, '='));
  return reason.find(first) == std::string::npos ? reason + ", got " + std::string(assembly) : reason;
}

/// Returns the names of attributes that describe codecs, in alphabetical order.
static std::vector<std::string> knownCodecs() {
  std::vector<std::string> names = {"delta", "error_feedback", "two_way"};
  for (const CodecFamilyEntry &family : codecFamilies())
    names.emplace_back(family.name);
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<Codec> parseCodecText(std::string_view spelled, std::string &reason) {
  if (reason = checkBrackets(spelled); !reason.empty())
    return std::nullopt;
  const std::string commas = withCommas(spelled);
  const std::string_view text = commas, written = takeUntil(text, '<'), name = trim(written);
  if (auto [parameter, number] = shortForm(name); parameter)
    return parseCodecText(
        addCodecParameters(std::string(codecFamilies()[number].name).append(text.substr(written.size())),
                           {std::string(parameter->name) + "=" + std::string(name)}),
        reason);
  const CodecFamilyEntry *family = codecFamilyNamed(name);
  if (!family) {
    const std::vector<std::string> known = knownCodecs();
    reason = std::ranges::find(known, name) == known.end()
                 ? "expected codec to be one of " + join(known, ", ") + ", got " + std::string(name) +
                       formats::askMeant(name, known)
                 : std::string(name) + " is made of other codecs: say it beside the codec, by back-codec, "
                                       "error-feedback or delta";
    return std::nullopt;
  }
  std::optional<CodecValues> values =
      readParameters(family->family, trim(text.substr(written.size())), reason);
  if (!values) {
    reason = about(reason, trim(text));
    return std::nullopt;
  }
  return Codec{*values, {}, {}, {}};
}

std::optional<Codec> parseCodec(const formats::Codec &entry, std::string &reason) {
  std::string parameters;
  for (const formats::CodecParameter &parameter : entry.parameters)
    parameters += (parameters.empty() ? "" : ", ") + parameter.name +
                  (parameter.value.empty() ? "" : " = " + parameter.value);
  if (!parameters.empty())
    parameters = "<" + parameters + ">";
  std::string assembly = entry.family + parameters;
  // Error feedback contains the codec here, while in JSON it is a member of the codec.
  if (!entry.errorFeedback.empty())
    assembly = "error_feedback<#cgx." + assembly + ", decay = " + entry.decay +
               ", storage = " + entry.errorFeedback + ">";
  std::string wrong;
  std::optional<Codec> codec;
  if (const CodecFamilyEntry *family = codecFamilyNamed(entry.family); !family)
    wrong = "unknown attribute `" + entry.family + "` in dialect `cgx`";
  else if (std::optional<CodecValues> values = readParameters(family->family, parameters, wrong))
    codec = Codec{*values, {}, {}, {}};
  if (codec && !entry.errorFeedback.empty()) {
    double decay = 1;
    const std::optional<Storage> storage = storageNamed(entry.errorFeedback);
    if (wrong = readReal(entry.decay, decay); wrong.empty() && !storage)
      wrong = "expected f32, bf16 or int8, got " + entry.errorFeedback;
    if (wrong.empty())
      wrong = checkFeedback(*codec, decay);
    if (wrong.empty())
      codec->feedback = Feedback{decay, *storage};
  }
  if (wrong.empty())
    return codec;
  reason = "expected a codec, got #cgx." + assembly + ": " + about(wrong, assembly);
  return std::nullopt;
}

std::string splitCodecWords(std::string_view text, std::string_view usual, CodecWords &words) {
  if (std::string wrong = checkBrackets(text); !wrong.empty())
    return wrong;
  std::vector<std::string> given = splitWords(text);
  words = {};
  words.codec = usual;
  if (!given.empty() && takeUntil(given.front(), '<').find('=') == std::string_view::npos) {
    words.codec = given.front();
    given.erase(given.begin());
  }
  std::vector<std::string> parameters;
  for (const std::string &word : given) {
    const auto [name, value] = splitAt(word, '=');
    const std::string option = withDashes(name);
    const char *end = value.data() + value.size();
    if (option == "error-feedback") {
      words.errorFeedback = value;
    } else if (option == "back-codec") {
      words.backCodec = value;
    } else if (option == "delta") {
      words.delta = value.empty() ? "f32" : value;
    } else if (option == "samples") {
      if (auto [last, error] = std::from_chars(value.data(), end, words.samples);
          error != std::errc() || last != end)
        return "expected samples to be a number, got " + std::string(value);
    } else if (option != "error-feedback-decay") {
      parameters.push_back(withUnderscores(name) + word.substr(name.size()));
    } else if (auto [last, error] = std::from_chars(value.data(), end, words.decay);
               error != std::errc() || last != end) {
      return "expected error-feedback-decay to be a number, got " + std::string(value);
    }
  }
  // Given parameters replace the usual ones.
  std::vector<std::string> all;
  const std::string codec = words.codec;
  const std::string_view family = takeUntil(codec, '<');
  const auto nameOf = [](std::string_view word) { return takeUntil(word, '='); };
  if (auto inner = withinBrackets(trim(std::string_view(codec).substr(family.size()))))
    for (const std::string &word : splitWords(*inner))
      if (std::ranges::none_of(parameters,
                               [&](std::string_view other) { return nameOf(other) == nameOf(word); }))
        all.push_back(word);
  all.insert(all.end(), parameters.begin(), parameters.end());
  words.codec = addCodecParameters(family, all);
  return "";
}

/// Returns `text` without the quotes around it.
static std::string_view withoutQuotes(std::string_view text) {
  for (char quote : {'"', '\''})
    if (text.size() >= 2 && text.starts_with(quote) && text.ends_with(quote))
      return text.substr(1, text.size() - 2);
  return text;
}

std::string splitCodecsAlong(std::string_view text, std::vector<CodecAlong> &codecs) {
  for (const std::string &word : splitWords(text)) {
    const std::string_view axes = takeUntil(word, '<');
    const auto inner = withinBrackets(std::string_view(word).substr(axes.size()));
    if (axes.empty() || !inner)
      return "expected codecs of an axis of the mesh, such as host<gradient=bits=4>, got " + word;
    for (const std::string &given : splitWords(*inner)) {
      const auto [kind, codec] = splitAt(given, '=');
      if (codec.empty())
        return "expected the codec of a kind, such as gradient=bits=4, or weight=\"bits=4 delta=bf16\", "
               "got " +
               given + " along " + std::string(axes);
      codecs.push_back({std::string(axes), withUnderscores(kind), std::string(withoutQuotes(codec))});
    }
  }
  return "";
}

/// Returns `codec` with buckets of `length` elements in place of rows.
static std::string withRows(std::string_view codec, int64_t length) {
  const std::string_view family = takeUntil(codec, '<');
  const auto inner = withinBrackets(trim(codec.substr(family.size())));
  if (!inner)
    return std::string(codec);
  std::vector<std::string> parameters = splitWords(*inner);
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

std::optional<Codec> addErrorFeedback(const Codec &codec, std::string_view storage, double decay,
                                      std::string &reason) {
  if (storage == "none")
    return codec;
  const std::optional<Storage> kept = storageNamed(storage);
  if (!kept) {
    reason = "expected error-feedback to be none, f32, bf16 or int8, got " + std::string(storage);
    return std::nullopt;
  }
  if (reason = checkFeedback(codec, decay); !reason.empty())
    return std::nullopt;
  Codec fed = codec;
  fed.feedback = Feedback{decay, *kept};
  return fed;
}

/// Returns the codec that sends changes, if the words ask for that.
static std::optional<Codec> addDelta(const Codec &codec, const CodecWords &words, std::string &reason) {
  if (words.delta == "none" && words.samples == 0)
    return codec;
  const std::optional<Storage> kept = storageNamed(words.delta);
  if (!kept) {
    reason = "expected delta=f32 or delta=bf16, how messages are kept, got delta=" + words.delta;
    return std::nullopt;
  }
  const auto samples = static_cast<int64_t>(words.samples);
  if (reason = checkChanges(codec, samples, *kept); !reason.empty())
    return std::nullopt;
  Codec changed = codec;
  changed.changes = Delta{samples, *kept};
  return changed;
}

std::optional<Codec> buildCodec(const CodecWords &words, std::string &reason) {
  std::optional<Codec> built = parseCodecText(words.codec, reason);
  if (built && !words.backCodec.empty()) {
    std::optional<Codec> returned = parseCodecText(words.backCodec, reason);
    if (!returned)
      return std::nullopt;
    if (reason = checkReturnCodec(*built, *returned); !reason.empty())
      return std::nullopt;
    built->returned = returned->forward;
  }
  if (built)
    built = addErrorFeedback(*built, words.errorFeedback, words.decay, reason);
  return built ? addDelta(*built, words, reason) : built;
}

std::string addCodecParameters(std::string_view codec, const std::vector<std::string> &parameters) {
  const std::string_view family = takeUntil(codec, '<'), given = trim(codec.substr(family.size()));
  const auto inner = withinBrackets(given);
  if (!given.empty() && !inner)
    return std::string(codec); // its reader reports what is wrong
  std::vector<std::string> all;
  if (inner)
    all.emplace_back(*inner);
  all.insert(all.end(), parameters.begin(), parameters.end());
  return std::string(trim(family)) + (all.empty() ? "" : "<" + join(all, ",") + ">");
}

} // namespace cgx::layers
