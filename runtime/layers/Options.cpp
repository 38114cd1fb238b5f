//===-- Options.cpp - The options of cgx-compress -------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/Options.h"

#include "cgx/formats/Closest.h"
#include "cgx/layers/CodecWords.h"
#include "cgx/layers/KindCodecs.h"
#include "cgx/layers/Text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

namespace cgx::layers {

namespace {

// ---- Splitting the text into words, as MLIR does

/// Returns the position of the next such character outside of brackets and quotes.
size_t findOutside(std::string_view text, size_t from, char wanted) {
  for (size_t i = from; i < text.size(); ++i) {
    const char c = text[i];
    if (c == wanted)
      return i;
    if (c == '{' || c == '(' || c == '[')
      i = findOutside(text, i + 1, c == '{' ? '}' : c == '(' ? ')' : ']');
    else if (c == '"' || c == '\'')
      i = text.find(c, i + 1);
    if (i == std::string_view::npos)
      break;
  }
  return std::string_view::npos;
}

/// Removes the quotes or the brackets around a text.
std::string_view unwrap(std::string_view text) {
  text = trim(text);
  if (text.size() <= 2)
    return text;
  for (char quote : {'\'', '"'})
    if (text.front() == quote && text.back() == quote)
      return trim(text.substr(1, text.size() - 2));
  if (text.front() == '{' && findOutside(text, 1, '}') == text.size() - 1)
    text = trim(text.substr(1, text.size() - 2));
  return text;
}

struct Word {
  std::string_view name;
  std::optional<std::string_view> value; ///< absent for a flag
};

/// Takes the next option from the text.
Word takeWord(std::string_view &text) {
  const auto take = [&](size_t size) {
    const std::string_view taken = unwrap(text.substr(0, size));
    text.remove_prefix(size);
    while (!text.empty() && isSpace(text.front()))
      text.remove_prefix(1);
    return taken;
  };
  const size_t end = std::min(text.find_first_of(" ="), text.size());
  const bool hasValue = end < text.size() && text[end] == '=';
  Word word{take(end), {}};
  if (!hasValue)
    return word;
  text.remove_prefix(1);
  size_t depth = 0, at = 0;
  for (; at < text.size() && (depth != 0 || text[at] != ' '); ++at) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      if (const size_t close = text.find(c, at + 1); close != std::string_view::npos)
        at = close;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && depth != 0) {
      --depth;
    }
  }
  word.value = take(at);
  return word;
}

// ---- Reading values

bool readList(std::string_view text, std::vector<std::string> &list) {
  while (!text.empty()) {
    const size_t comma = findOutside(text, 0, ',');
    list.emplace_back(unwrap(text.substr(0, comma)));
    if (comma == std::string_view::npos)
      break;
    text.remove_prefix(comma + 1);
    if (text.empty())
      list.emplace_back();
  }
  return true;
}

bool readFlag(std::string_view text, bool &flag) {
  constexpr std::array<std::string_view, 5> on = {"", "true", "TRUE", "True", "1"};
  constexpr std::array<std::string_view, 4> off = {"false", "FALSE", "False", "0"};
  flag = std::ranges::find(on, text) != on.end();
  return flag || std::ranges::find(off, text) != off.end();
}

template <typename Number> bool readNumber(std::string_view text, Number &number) {
  int base = 10;
  const std::string_view sign = text.starts_with('-') ? "-" : "";
  std::string_view digits = text.substr(sign.size());
  for (auto [prefix, other] :
       {std::pair<std::string_view, int>{"0x", 16}, {"0X", 16}, {"0b", 2}, {"0B", 2}, {"0o", 8}})
    if (digits.size() > 2 && digits.starts_with(prefix)) {
      digits.remove_prefix(2);
      base = other;
      break;
    }
  if (base == 10 && digits.size() > 1 && digits[0] == '0' && isDigit(digits[1])) {
    digits.remove_prefix(1);
    base = 8;
  }
  const std::string plain = std::string(sign) + std::string(digits);
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), number, base);
  return error == std::errc() && end == plain.data() + plain.size();
}

bool readReal(std::string_view text, double &number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// ---- The options

/// Reads the value of an option into its place; returns false if it is invalid.
using Read = std::function<bool(std::string_view)>;

/// The table of options by name.
class OptionTable {
public:
  explicit OptionTable(CompressOptions &options) {
    text("algorithm", options.algorithms.algorithm);
    text("along", options.codecs.along);
    text("back-codec", options.codecs.backCodec);
    text("codec", options.codecs.codec);
    text("divergent-collectives", options.divergentCollectives);
    text("error-feedback", options.codecs.errorFeedback);
    text("inside", options.algorithms.inside);
    text("leaders", options.algorithms.leaders);
    text("machine", options.algorithms.machine);
    text("plan", options.codecs.plan);
    text("prefetch", options.prefetch);
    text("reuse-gathers", options.reuseGathers);
    text("sample-ids", options.sampleIds);
    list("exclude", options.filter.exclude);
    list("kinds", options.filter.kinds);
    list("split-layers", options.splitLayers);
    flag("decompose", [&](std::string_view value) { return readFlag(value, options.decompose); });
    flag("qsdp", [&](std::string_view value) { return readFlag(value, options.qsdp); });
    flag("overlap", [&](std::string_view value) { return readFlag(value, options.overlap.emplace()); });
    add("error-feedback-decay",
        [&](std::string_view value) { return readReal(value, options.codecs.decay); });
    add("group-bytes",
        [&](std::string_view value) { return readNumber(value, options.groupBytes.emplace()); });
    add("local", [&](std::string_view value) { return readNumber(value, options.algorithms.local); });
    add("min-elements",
        [&](std::string_view value) { return readNumber(value, options.filter.minElements); });
    add("min-rank", [&](std::string_view value) { return readNumber(value, options.filter.minRank); });
    add("scope", [&](std::string_view value) {
      options.scope = value;
      return value == "layer-wise" || value == "entire-model";
    });
    for (const KindCodecOption &option : kindCodecOptions())
      add(option.argument, [&options, kind = option.kind](std::string_view value) {
        options.codecs.ofKinds[kind] = value;
        return true;
      });
    for (const CodecOption &option : codecOptions())
      if (option.isFlag)
        flag(option.argument, [this, &option](std::string_view value) { return readFlagOf(option, value); });
      else
        add(option.argument, [this, &option](std::string_view value) {
          parameters[option.argument] = withUnderscores(option.argument) + "=" + std::string(value);
          return true;
        });
  }

  /// Reads one option. Returns what is wrong, or "".
  std::string read(const Word &word) const {
    const auto option = reads.find(word.name);
    if (option == reads.end()) {
      std::vector<std::string> names;
      for (const auto &[name, read] : reads)
        names.push_back(name);
      return describeUnknownOption(word.name, names);
    }
    const bool isRead = (word.value || flags.contains(word.name)) && option->second(word.value.value_or(""));
    return isRead ? "" : "a wrong value";
  }

  /// Returns `codec` with the given parameters: those with values first.
  std::string addParameters(const std::string &codec) const {
    std::vector<std::string> given;
    for (bool isFlag : {false, true})
      for (const CodecOption &option : codecOptions())
        if (const auto found = parameters.find(option.argument);
            option.isFlag == isFlag && found != parameters.end())
          given.push_back(found->second);
    return addCodecParameters(codec, given);
  }

private:
  void add(const std::string &name, Read read) { reads[name] = std::move(read); }

  /// Adds an option that may have no value.
  void flag(const std::string &name, Read read) {
    flags.insert(name);
    add(name, std::move(read));
  }

  void text(const std::string &name, std::string &place) {
    add(name, [&place](std::string_view value) { return place = value, true; });
  }

  void list(const std::string &name, std::vector<std::string> &place) {
    add(name, [&place](std::string_view value) { return readList(value, place); });
  }

  bool readFlagOf(const CodecOption &option, std::string_view value) {
    bool isOn = false;
    if (!readFlag(value, isOn))
      return false;
    if (isOn)
      parameters[option.argument] = withUnderscores(option.argument);
    else
      parameters.erase(option.argument);
    return true;
  }

  std::map<std::string, Read, std::less<>> reads;
  std::set<std::string, std::less<>> flags;
  std::map<std::string, std::string> parameters; ///< parameters of codecs by argument, as codecs spell them
};

} // namespace

std::string_view optionWithoutValue(std::string_view text) {
  size_t begin = 0; // position of the word
  int depth = 0;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool isPlain = depth == 0 && !quote;
    if (isPlain && isSpace(c))
      begin = i + 1;
    if (isPlain && c == '=') {
      const std::string_view rest = text.substr(i + 1);
      const std::string_view value = rest.substr(0, rest.find_first_of(" \t\n\v\f\r"));
      if (value.empty() || value == "\"\"" || value == "''" || value == "{}")
        return text.substr(begin, i - begin);
    }
    if (quote)
      quote = c == quote ? 0 : quote;
    else if (c == '"' || c == '\'')
      quote = c;
    else if (std::string_view("{<([").find(c) != std::string_view::npos)
      ++depth;
    else if (std::string_view("}>)]").find(c) != std::string_view::npos)
      --depth;
  }
  return "";
}

std::string describeUnknownOption(std::string_view unknown, const std::vector<std::string> &names) {
  const std::string meant = formats::askMeant(unknown, names);
  return "no such option " + std::string(unknown) + (meant.empty() ? "; it has " + join(names, ", ") : meant);
}

std::optional<uint64_t> parseMemorySize(std::string_view text) {
  if (text == "all")
    return UINT64_MAX;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc())
    return std::nullopt;
  const std::string_view unit = text.substr(size_t(end - text.data()));
  for (auto [names, shift] : {std::pair<std::array<std::string_view, 2>, unsigned>{{"", ""}, 0},
                              {{"K", "KiB"}, 10},
                              {{"M", "MiB"}, 20},
                              {{"G", "GiB"}, 30}})
    if (unit == names[0] || unit == names[1])
      return (number << shift) >> shift == number ? std::optional(number << shift) : std::nullopt;
  return std::nullopt;
}

std::string checkDivergentCollectives(const std::string &action) {
  if (action == "warn" || action == "error" || action == "ignore")
    return "";
  return "expected what to do about divergent collectives to be warn, error or ignore, got " + action;
}

std::string checkReuseGathers(const std::string &memory) {
  if (parseMemorySize(memory))
    return "";
  return "expected the memory for gathered values to be a size such as 64MiB, or all, got " + memory;
}

bool readOptions(std::string_view text, CompressOptions &options, Diagnostics &diagnostics) {
  const auto reject = [&](const std::string &why) { return diagnostics.fail("--cgx-compress: " + why); };
  if (std::string_view option = optionWithoutValue(text); !option.empty())
    return reject("expected a value for the option " + std::string(option));
  OptionTable table(options);
  for (std::string_view rest = trim(text); !rest.empty();) {
    const Word word = takeWord(rest);
    if (word.name.empty())
      continue;
    if (std::string wrong = table.read(word); !wrong.empty())
      return reject(wrong);
  }
  std::erase_if(options.codecs.ofKinds, [](const auto &entry) { return entry.second.empty(); });
  options.codecs.codec = table.addParameters(options.codecs.codec);
  options.filter.plan = options.codecs.plan;
  return true;
}

} // namespace cgx::layers
