//===-- cgx/codec_table.h - The parameters of codecs ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This is the other half of the table that cgx/codec.h begins: the parameters of each family, their ranges,
// defaults and dependencies. Kernels check codecs by it; manifests and plans are read and written by it; the
// dialect's attributes are parsed, printed and verified by it; options and docs list it. So a parameter is
// written down here, and nowhere else.
#ifndef CGX_CODEC_TABLE_H
#define CGX_CODEC_TABLE_H

#include "cgx/codec.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cgx {

/// A case of an enumerated parameter.
struct CodecCase {
  std::string_view name, meaning;
};

/// The range of a real number.
enum class RealRange : uint8_t {
  Share,       ///< above 0 and up to 1
  Decay,       ///< at least 0 and below 1
  NotNegative, ///< at least 0
  NoneOrSome,  ///< 0, which stands for none, or a number that does not round to 0 in f32
};

/// A set of cases of another parameter, one bit each. It says where a parameter exists, or which values it
/// may have.
struct WhereCodec {
  uint32_t cgx_codec::*field = nullptr;
  uint32_t cases = 0;
};

/// One parameter of a family: a whole number, a case, a flag or a real number.
struct CodecParameter {
  std::string_view name;
  uint32_t cgx_codec::*number = nullptr; ///< the field of a parameter that is no real number
  float cgx_codec::*real = nullptr;      ///< the field of a real number
  std::span<const CodecCase> cases = {};
  bool isFlag = false;
  uint32_t least = 0, most = UINT32_MAX; ///< the range of a whole number
  bool isPowerOfTwo = false;             ///< a whole number must be a power of two
  RealRange range = RealRange::NotNegative;
  double usual = 0;        ///< the default
  bool isRequired = false; ///< there is no default
  bool isLater = false;    ///< JSON may lack it, and then it is 0: its family is older
  bool isQuiet = false;    ///< not written if it has its default
  bool isShort = false;    ///< its cases name the family: `mxfp4` is `cast format=mxfp4`
  WhereCodec only = {};    ///< the parameter exists only in these cases
  /// Its value elsewhere, by cases of `only.field`; 0 for cases that are not listed.
  std::array<std::pair<uint32_t, uint32_t>, 2> elsewhere = {};
};

/// A narrower range of one parameter where another parameter has a certain case.
struct CodecRule {
  WhereCodec where;
  uint32_t cgx_codec::*what;
  uint32_t allowed = 0;         ///< allowed cases, one bit each; 0 for numbers
  uint32_t least = 0, most = 0; ///< the range of a number
};

struct CodecFamilyEntry {
  std::string_view name, summary;
  cgx_codec_family family;
  uint32_t traits;
  std::span<const CodecParameter> parameters;
  std::span<const CodecRule> rules;
};

namespace codec_table {

#define CGX_CASE(constant, name, meaning) CodecCase{#name, meaning},
inline constexpr CodecCase roundings[] = {CGX_ROUNDINGS(CGX_CASE)};
inline constexpr CodecCase scaleTypes[] = {CGX_SCALE_TYPES(CGX_CASE)};
inline constexpr CodecCase scalings[] = {CGX_SCALINGS(CGX_CASE)};
inline constexpr CodecCase levelCurves[] = {CGX_LEVEL_CURVES(CGX_CASE)};
inline constexpr CodecCase magnitudes[] = {CGX_SIGN_MAGNITUDES(CGX_CASE)};
inline constexpr CodecCase formats[] = {CGX_FORMATS(CGX_CASE)};
inline constexpr CodecCase rotations[] = {CGX_ROTATIONS(CGX_CASE)};
inline constexpr CodecCase optimizers[] = {CGX_OPTIMIZERS(CGX_CASE)};
#undef CGX_CASE

/// Returns a set of cases, one bit each.
template <typename... Cases> constexpr uint32_t oneOf(Cases... cases) { return ((1u << cases) | ...); }

constexpr CodecParameter bucketOf(uint32_t usual) {
  return {.name = "bucket", .number = &cgx_codec::bucket, .least = 1, .usual = double(usual)};
}
inline constexpr CodecParameter scale = {.name = "scale", .number = &cgx_codec::scale, .cases = scaleTypes};
inline constexpr CodecParameter checksum = {
    .name = "checksum", .number = &cgx_codec::checksum, .isFlag = true, .most = 1, .isLater = true};

/// The rotation, a parameter of codecs that send all elements and whose errors depend on how these are
/// spread.
inline constexpr CodecParameter rotate = {
    .name = "rotate", .number = &cgx_codec::rotate, .cases = rotations, .isLater = true, .isQuiet = true};

inline constexpr CodecParameter quantize[] = {
    {.name = "bits", .number = &cgx_codec::bits, .least = 1, .most = 8, .usual = 4},
    bucketOf(128),
    {.name = "rounding", .number = &cgx_codec::rounding, .cases = roundings, .usual = CGX_ROUND_STOCHASTIC},
    scale,
    {.name = "scaling", .number = &cgx_codec::scaling, .cases = scalings, .isLater = true, .isQuiet = true},
    {.name = "levels", .number = &cgx_codec::levels, .cases = levelCurves, .isLater = true, .isQuiet = true},
    rotate,
    checksum};
inline constexpr WhereCodec isShifted = {&cgx_codec::rounding, oneOf(CGX_ROUND_RANDOM_SHIFT)};
inline constexpr WhereCodec isSymmetric = {&cgx_codec::scaling, oneOf(CGX_SCALING_MAX_ABS, CGX_SCALING_L2)};
inline constexpr CodecRule quantizeRules[] = {
    {isShifted, &cgx_codec::bits, 0, 2, 8},
    {isSymmetric, &cgx_codec::bits, 0, 2, 8},
    {isShifted, &cgx_codec::scale, oneOf(CGX_SCALE_F32)},
    {isShifted, &cgx_codec::scaling, oneOf(CGX_SCALING_MIN_MAX)},
    {isShifted, &cgx_codec::levels, oneOf(CGX_LEVELS_UNIFORM)},
    {{&cgx_codec::levels, oneOf(CGX_LEVELS_EXPONENTIAL)}, &cgx_codec::scaling, isSymmetric.cases},
    {{&cgx_codec::levels, oneOf(CGX_LEVELS_LEARNED)}, &cgx_codec::scaling, oneOf(CGX_SCALING_MIN_MAX)}};

inline constexpr CodecParameter ternary[] = {bucketOf(512), scale, rotate, checksum};

inline constexpr CodecParameter sign[] = {
    bucketOf(512),
    {.name = "magnitude", .number = &cgx_codec::magnitude, .cases = magnitudes},
    scale,
    rotate,
    checksum};

inline constexpr CodecParameter natural[] = {rotate, checksum};

/// The parameters of families without any choice of their own.
inline constexpr CodecParameter plain[] = {checksum};

inline constexpr WhereCodec isFp8 = {&cgx_codec::format, oneOf(CGX_FORMAT_FP8_E4M3, CGX_FORMAT_FP8_E5M2)};
inline constexpr CodecParameter cast[] = {
    {.name = "format", .number = &cgx_codec::format, .cases = formats, .isShort = true},
    {.name = "bucket",
     .number = &cgx_codec::bucket,
     .least = 1,
     .usual = 128,
     .isLater = true,
     .only = isFp8,
     .elsewhere = {{{oneOf(CGX_FORMAT_MXFP8, CGX_FORMAT_MXFP4), CGX_MX_BLOCK_ELEMENTS},
                    {oneOf(CGX_FORMAT_NVFP4), CGX_NVFP4_BLOCK_ELEMENTS}}}},
    {.name = "scale", .number = &cgx_codec::scale, .cases = scaleTypes, .isLater = true, .only = isFp8},
    rotate,
    checksum};

inline constexpr CodecParameter sparse[] = {
    {.name = "density", .real = &cgx_codec::density, .range = RealRange::Share, .usual = 0.01}, checksum};

/// The cases of topk that send a share of each bucket as levels. With `bits` 0 the share is of the whole
/// payload.
inline constexpr WhereCodec sendsLevels = {&cgx_codec::bits, 0x1fe}; // 1 to 8
inline constexpr CodecParameter topk[] = {
    {.name = "density", .real = &cgx_codec::density, .range = RealRange::Share, .usual = 0.01},
    {.name = "bits", .number = &cgx_codec::bits, .most = 8, .isLater = true, .isQuiet = true},
    {.name = "bucket",
     .number = &cgx_codec::bucket,
     .least = 1,
     .usual = 4096,
     .isLater = true,
     .only = sendsLevels},
    {.name = "scale", .number = &cgx_codec::scale, .cases = scaleTypes, .isLater = true, .only = sendsLevels},
    checksum};

inline constexpr CodecParameter threshold[] = {
    {.name = "threshold", .real = &cgx_codec::threshold, .usual = 0.001}, checksum};

inline constexpr CodecParameter adaptiveThreshold[] = {
    bucketOf(512),
    {.name = "threshold", .real = &cgx_codec::threshold, .range = RealRange::Share, .usual = 0.5},
    checksum};

/// Returns a constant of optimizers. It exists for the optimizers that are given; for all of them if none is
/// given.
template <typename... Optimizers>
constexpr CodecParameter constantOf(std::string_view name, float cgx_codec::*real, double usual,
                                    RealRange range, Optimizers... optimizers) {
  CodecParameter constant = {.name = name, .real = real, .range = range, .usual = usual, .isLater = true};
  if constexpr (sizeof...(optimizers) != 0)
    constant.only = {&cgx_codec::optimizer, oneOf(optimizers...)};
  return constant;
}
inline constexpr CodecParameter gcomp[] = {
    {.name = "optimizer", .number = &cgx_codec::optimizer, .cases = optimizers, .isRequired = true},
    {.name = "learning_rate",
     .real = &cgx_codec::learning_rate,
     .range = RealRange::NoneOrSome,
     .isLater = true,
     .isQuiet = true},
    constantOf("weight_decay", &cgx_codec::weight_decay, 0, RealRange::NotNegative),
    constantOf("momentum", &cgx_codec::momentum, 0.9, RealRange::Decay, CGX_OPTIMIZER_MOMENTUM,
               CGX_OPTIMIZER_NESTEROV),
    constantOf("dampening", &cgx_codec::dampening, 0, RealRange::Decay, CGX_OPTIMIZER_MOMENTUM),
    constantOf("beta1", &cgx_codec::beta1, 0.9, RealRange::Decay, CGX_OPTIMIZER_ADAM, CGX_OPTIMIZER_ADAMW),
    constantOf("beta2", &cgx_codec::beta2, 0.999, RealRange::Decay, CGX_OPTIMIZER_RMSPROP, CGX_OPTIMIZER_ADAM,
               CGX_OPTIMIZER_ADAMW),
    constantOf("epsilon", &cgx_codec::epsilon, 1e-8, RealRange::NotNegative, CGX_OPTIMIZER_ADAGRAD,
               CGX_OPTIMIZER_RMSPROP, CGX_OPTIMIZER_ADAM, CGX_OPTIMIZER_ADAMW),
    {.name = "truncation",
     .number = &cgx_codec::truncation,
     .most = CGX_GCOMP_MOST_TRUNCATION,
     .isLater = true,
     .isQuiet = true},
    checksum};

inline constexpr CodecParameter lowrank[] = {
    {.name = "rank", .number = &cgx_codec::rank, .least = 1, .usual = 4}};

inline constexpr CodecParameter eden[] = {
    {.name = "bits", .number = &cgx_codec::bits, .least = 1, .most = 8, .usual = 4},
    {.name = "bucket",
     .number = &cgx_codec::bucket,
     .least = CGX_EDEN_LEAST_BUCKET,
     .most = CGX_EDEN_MOST_BUCKET,
     .isPowerOfTwo = true,
     .usual = 128},
    scale,
    checksum};

/// The parameters and rules of a family.
struct Details {
  cgx_codec_family family;
  std::span<const CodecParameter> parameters;
  std::span<const CodecRule> rules = {};
};
inline constexpr Details details[CGX_CODEC_FAMILY_COUNT] = {
    {CGX_CODEC_IDENTITY, {}},         {CGX_CODEC_QUANTIZE, quantize, quantizeRules},
    {CGX_CODEC_TERNARY, ternary},     {CGX_CODEC_SIGN, sign},
    {CGX_CODEC_NATURAL, natural},     {CGX_CODEC_CAST, cast},
    {CGX_CODEC_TOPK, topk},           {CGX_CODEC_RANDK, sparse},
    {CGX_CODEC_THRESHOLD, threshold}, {CGX_CODEC_ADAPTIVE_THRESHOLD, adaptiveThreshold},
    {CGX_CODEC_LOSSLESS, plain},      {CGX_CODEC_GCOMP, gcomp},
    {CGX_CODEC_LOWRANK, lowrank},     {CGX_CODEC_EDEN, eden}};

constexpr bool isInOrder() {
  for (uint32_t family = 0; family < CGX_CODEC_FAMILY_COUNT; ++family)
    if (details[family].family != family)
      return false;
  return true;
}
static_assert(isInOrder(), "families stand in the order of their numbers");

inline constexpr CodecFamilyEntry families[] = {
#define CGX_FAMILY(constant, name, cpp_name, traits, summary)                                                \
  {#name,                                                                                                    \
   summary,                                                                                                  \
   CGX_CODEC_##constant,                                                                                     \
   traits,                                                                                                   \
   details[CGX_CODEC_##constant].parameters,                                                                 \
   details[CGX_CODEC_##constant].rules},
    CGX_CODEC_FAMILIES(CGX_FAMILY)
#undef CGX_FAMILY
};

} // namespace codec_table

/// Returns all families, in the order of their numbers.
constexpr std::span<const CodecFamilyEntry> codecFamilies() { return codec_table::families; }

/// Returns a short description of a parameter.
constexpr std::string_view meaningOf(std::string_view parameter) {
#define CGX_FIELD(type, name, meaning)                                                                       \
  if (parameter == #name)                                                                                    \
    return meaning;
  CGX_CODEC_FIELDS(CGX_FIELD)
#undef CGX_FIELD
  return "";
}

/// Returns the family of that name; null if there is none.
constexpr const CodecFamilyEntry *codecFamilyNamed(std::string_view name) {
  for (const CodecFamilyEntry &family : codecFamilies())
    if (family.name == name)
      return &family;
  return nullptr;
}

/// Returns the parameter that has a case called `name` which stands for its family, and the family's number;
/// null if there is none.
constexpr std::pair<const CodecParameter *, uint32_t> shortForm(std::string_view name) {
  for (const CodecFamilyEntry &family : codecFamilies())
    for (const CodecParameter &parameter : family.parameters)
      for (const CodecCase &one : parameter.cases)
        if (parameter.isShort && one.name == name)
          return {&parameter, family.family};
  return {nullptr, 0};
}

/// The parameters of a codec as people write them. They may be outside the range that a cgx_codec can hold.
struct CodecValues {
  /// The most parameters that a family has.
  static constexpr size_t kMost = 12;

  uint32_t family = CGX_CODEC_IDENTITY;
  std::array<double, kMost> values = {}; ///< in the order of the parameters; a case is held as its number

  const CodecFamilyEntry &entry() const { return codecFamilies()[family]; }
  std::span<const CodecParameter> parameters() const { return entry().parameters; }

  /// Returns the case of a parameter; 0 if there is none.
  uint32_t caseOf(uint32_t cgx_codec::*field) const {
    for (size_t i = 0; i < parameters().size(); ++i)
      if (parameters()[i].number && parameters()[i].number == field)
        return uint32_t(values[i]);
    return 0;
  }
  bool holds(const WhereCodec &where) const {
    const uint32_t number = caseOf(where.field);
    return number < 32 && (where.cases >> number & 1) != 0;
  }
  /// Returns whether the family has a parameter, given the other parameters.
  bool has(const CodecParameter &parameter) const { return !parameter.only.field || holds(parameter.only); }
  /// Returns the value of a parameter that is left out.
  double usual(const CodecParameter &parameter) const {
    if (has(parameter))
      return parameter.usual;
    for (auto [cases, value] : parameter.elsewhere)
      if (holds({parameter.only.field, cases}))
        return value;
    return 0;
  }
  /// Returns whether a parameter is written.
  bool writes(size_t i) const {
    const CodecParameter &parameter = parameters()[i];
    bool isSilent = parameter.isQuiet || parameter.isFlag;
    return has(parameter) && !(isSilent && values[i] == parameter.usual);
  }

  /// Compares the bits of numbers, so that equal codecs are identical.
  friend bool operator==(const CodecValues &a, const CodecValues &b) {
    return a.family == b.family && std::bit_cast<std::array<uint64_t, kMost>>(a.values) ==
                                       std::bit_cast<std::array<uint64_t, kMost>>(b.values);
  }
};

/// Returns a codec of a family with all parameters left out.
inline CodecValues usualCodec(uint32_t family) {
  CodecValues codec = {family};
  for (int round = 0; round < 2; ++round) // parameters that others depend on come first
    for (size_t i = 0; i < codec.parameters().size(); ++i)
      codec.values[i] = codec.usual(codec.parameters()[i]);
  return codec;
}

inline cgx_codec toCodec(const CodecValues &from) {
  cgx_codec codec = {};
  codec.family = from.family;
  for (size_t i = 0; i < from.parameters().size(); ++i) {
    const CodecParameter &parameter = from.parameters()[i];
    if (parameter.real)
      codec.*parameter.real = float(from.values[i]);
    else
      codec.*parameter.number = uint32_t(from.values[i]);
  }
  return codec;
}

/// Returns the shortest number that reads as this one, such as "0.01".
inline std::string realText(float value) {
  char text[32];
  return {text, std::to_chars(std::begin(text), std::end(text), value).ptr};
}

/// Reads a number that realText() wrote. strtod would read 0 where the locale of the host has a comma for the
/// point.
inline double realNumber(const std::string &text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Returns the parameters of a codec of a known family. A real number becomes the one that people would
/// write: 0.01, not the double next to 0.01f. Constants that its optimizer does not have become 0.
inline CodecValues valuesOf(const cgx_codec &codec) {
  CodecValues values = {codec.family};
  for (size_t i = 0; i < values.parameters().size(); ++i) {
    const CodecParameter &parameter = values.parameters()[i];
    values.values[i] =
        parameter.real ? realNumber(realText(codec.*parameter.real)) : double(codec.*parameter.number);
  }
  for (size_t i = 0; i < values.parameters().size(); ++i)
    if (const CodecParameter &parameter = values.parameters()[i]; parameter.real && !values.has(parameter))
      values.values[i] = 0;
  return values;
}

namespace codec_table {

/// Joins names as in "a, b or c".
template <typename Names> std::string choiceOf(const Names &names, const char *last = " or ") {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text.append(i == 0 ? "" : i + 1 == names.size() ? last : ", ").append(names[i]);
  return text;
}

/// Returns the names of the cases whose bit is set.
inline std::vector<std::string> namesOf(std::span<const CodecCase> cases, uint32_t of = ~0u) {
  std::vector<std::string> names;
  for (size_t i = 0; i < cases.size(); ++i)
    if (of >> i & 1)
      names.emplace_back(cases[i].name);
  return names;
}

inline const CodecParameter &parameterAt(const CodecFamilyEntry &family, uint32_t cgx_codec::*field) {
  for (const CodecParameter &parameter : family.parameters)
    if (parameter.number && parameter.number == field)
      return parameter;
  return family.parameters.front();
}

/// Returns a value as text.
inline std::string textOf(const CodecParameter &parameter, double value) {
  char text[64];
  if (parameter.real)
    return {text,
            std::to_chars(std::begin(text), std::end(text), value, std::chars_format::scientific, 6).ptr};
  if (!parameter.cases.empty() && value >= 0 && value < double(parameter.cases.size()))
    return std::string(parameter.cases[size_t(value)].name);
  std::snprintf(text, sizeof text, "%.0f", value);
  return text;
}

inline std::string refuse(std::string expected, const CodecParameter &parameter, double value) {
  return "expected " + expected + ", got " + textOf(parameter, value);
}

/// Returns what is wrong with a value by itself; "" if nothing.
inline std::string checkRange(const CodecParameter &parameter, double value) {
  const std::string name(parameter.name);
  if (!parameter.cases.empty())
    return value >= 0 && value < double(parameter.cases.size())
               ? ""
               : refuse(name + " " + choiceOf(namesOf(parameter.cases)), parameter, value);
  if (!parameter.real) {
    const bool isIn = value >= parameter.least && value <= parameter.most;
    return isIn && (!parameter.isPowerOfTwo || std::has_single_bit(uint64_t(value)))
               ? ""
               : refuse(name + (parameter.isPowerOfTwo ? ", a power of two, in " : " in ") +
                            std::to_string(parameter.least) + ".." + std::to_string(parameter.most),
                        parameter, value);
  }
  const bool isHeld = value <= double(std::numeric_limits<float>::max());
  switch (parameter.range) {
  case RealRange::Share:
    return value > 0 && value <= 1 && float(value) > 0
               ? ""
               : refuse(name + " to be above 0 and up to 1", parameter, value);
  case RealRange::Decay:
    return value >= 0 && value < 1 ? "" : refuse(name + " to be at least 0 and below 1", parameter, value);
  case RealRange::NoneOrSome:
    if (value > 0 && float(value) == 0)
      return refuse(name + " to be 0 or above 0 as an f32", parameter, value);
    [[fallthrough]];
  case RealRange::NotNegative:
    return value >= 0 && isHeld ? "" : refuse(name + " to be at least 0, as an f32", parameter, value);
  }
  return "";
}

/// Returns the cases of a parameter that another one depends on, as "min_max" or "1..8". Bit 0 stands for the
/// first case.
inline std::string choiceOf(const CodecParameter &parameter, uint32_t cases) {
  if (!parameter.cases.empty())
    return choiceOf(namesOf(parameter.cases, cases));
  return std::to_string(std::countr_zero(cases)) + ".." + std::to_string(std::bit_width(cases) - 1);
}

/// Returns what is wrong with the value of a parameter that does not exist here; "" if nothing.
inline std::string checkAbsence(const CodecValues &codec, const CodecParameter &parameter, double value) {
  if (value == codec.usual(parameter))
    return "";
  const CodecParameter &by = parameterAt(codec.entry(), parameter.only.field);
  std::vector<std::string> names;
  for (const CodecParameter &other : codec.parameters())
    if (other.only.field == parameter.only.field && other.only.cases == parameter.only.cases)
      names.emplace_back(other.name);
  const std::string name(by.name);
  return "expected " + choiceOf(names, " and ") + " with " + name + " " + choiceOf(by, parameter.only.cases) +
         " only, got " + name + " " + textOf(by, codec.caseOf(by.number));
}

inline std::string checkRule(const CodecValues &codec, const CodecRule &rule) {
  if (!codec.holds(rule.where))
    return "";
  const CodecParameter &where = parameterAt(codec.entry(), rule.where.field);
  const CodecParameter &what = parameterAt(codec.entry(), rule.what);
  const size_t index = size_t(&what - codec.parameters().data());
  const double value = codec.values[index];
  const bool isCase = !what.cases.empty();
  if (isCase ? (rule.allowed >> uint32_t(value) & 1) != 0 : value >= rule.least && value <= rule.most)
    return "";
  return refuse(std::string(what.name) +
                    (isCase ? " " + choiceOf(namesOf(what.cases, rule.allowed))
                            : " in " + std::to_string(rule.least) + ".." + std::to_string(rule.most)) +
                    " with " + std::string(where.name) + " " + textOf(where, codec.caseOf(rule.where.field)),
                what, value);
}

} // namespace codec_table

/// Returns what is wrong with the parameters of a codec of a known family; "" if nothing.
inline std::string checkCodecValues(const CodecValues &codec) {
  for (size_t i = 0; i < codec.parameters().size(); ++i) {
    const CodecParameter &parameter = codec.parameters()[i];
    std::string wrong = codec.has(parameter) ? codec_table::checkRange(parameter, codec.values[i])
                                             : codec_table::checkAbsence(codec, parameter, codec.values[i]);
    if (!wrong.empty())
      return wrong;
  }
  for (const CodecRule &rule : codec.entry().rules)
    if (std::string wrong = codec_table::checkRule(codec, rule); !wrong.empty())
      return wrong;
  return "";
}

/// Returns a text such as "quantize bits=4 bucket=128 rounding=stochastic scale=bf16". The codec must be a
/// valid one.
inline std::string describeCodec(const cgx_codec &codec) {
  const CodecValues values = valuesOf(codec);
  std::string text(values.entry().name);
  for (size_t i = 0; i < values.parameters().size(); ++i) {
    const CodecParameter &parameter = values.parameters()[i];
    if (!values.writes(i))
      continue;
    text.append(" ").append(parameter.name);
    if (parameter.real)
      text += "=" + realText(codec.*parameter.real);
    else if (!parameter.isFlag)
      text += "=" + codec_table::textOf(parameter, values.values[i]);
  }
  return text;
}

} // namespace cgx

#endif // CGX_CODEC_TABLE_H
