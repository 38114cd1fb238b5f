//===-- CodecTableTest.cpp - The table of codecs, and its uses ------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/codec_table.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace cgx {
namespace {

// Payloads and programs already refer to these by number or position.
static_assert(CGX_CODEC_LOWRANK == 12 && CGX_CODEC_EDEN == 13 && CGX_CODEC_CAST == 5 &&
              CGX_CODEC_THRESHOLD == 8);
static_assert(CGX_FORMAT_MXFP4 == 5 && CGX_OPTIMIZER_ADAMW == 6 && CGX_ROUND_RANDOM_SHIFT == 2);
static_assert(offsetof(cgx_codec, checksum) == 20 && offsetof(cgx_codec, density) == 40);
static_assert(offsetof(cgx_codec, rows) == 56 && offsetof(cgx_codec, epsilon) == 88);

TEST(CodecTable, HasRoomForTheParametersOfEveryFamily) {
  for (const CodecFamilyEntry &family : codecFamilies()) {
    EXPECT_LE(family.parameters.size(), CodecValues::kMost) << family.name;
    for (const CodecParameter &parameter : family.parameters) {
      EXPECT_NE(parameter.number != nullptr, parameter.real != nullptr) << parameter.name;
      EXPECT_FALSE(meaningOf(parameter.name).empty()) << parameter.name;
      EXPECT_LE(parameter.cases.size(), 32u) << parameter.name;
    }
  }
}

TEST(CodecTable, WhatIsUsualIsValidAndSurvivesTheStruct) {
  for (const CodecFamilyEntry &family : codecFamilies()) {
    const CodecValues usual = usualCodec(family.family);
    EXPECT_EQ(checkCodecValues(usual), "") << family.name;
    EXPECT_EQ(valuesOf(toCodec(usual)), usual) << family.name;
    EXPECT_EQ(codecFamilyNamed(family.name), &family);
  }
}

TEST(CodecTable, ACaseMayStandForItsFamily) {
  EXPECT_EQ(shortForm("mxfp4").first->name, "format");
  EXPECT_EQ(shortForm("mxfp4").second, uint32_t(CGX_CODEC_CAST));
  EXPECT_EQ(shortForm("stochastic").first, nullptr);
}

TEST(CodecTable, SaysWhatWouldBeRight) {
  CodecValues codec = usualCodec(CGX_CODEC_QUANTIZE);
  codec.values[0] = 9;
  EXPECT_EQ(checkCodecValues(codec), "expected bits in 1..8, got 9");
  codec.values[0] = 4;
  codec.values[2] = CGX_ROUND_RANDOM_SHIFT;
  EXPECT_EQ(checkCodecValues(codec), "expected scale f32 with rounding random_shift, got bf16");
  codec.values[2] = 7;
  EXPECT_EQ(checkCodecValues(codec), "expected rounding nearest, stochastic or random_shift, got 7");
  codec = usualCodec(CGX_CODEC_EDEN);
  codec.values[1] = 96;
  EXPECT_EQ(checkCodecValues(codec), "expected bucket, a power of two, in 64..4096, got 96");
  codec.values[1] = 8192;
  EXPECT_EQ(checkCodecValues(codec), "expected bucket, a power of two, in 64..4096, got 8192");
  codec = usualCodec(CGX_CODEC_CAST);
  codec.values[1] = 64;
  EXPECT_EQ(checkCodecValues(codec),
            "expected bucket and scale with format fp8_e4m3 or fp8_e5m2 only, got format bf16");
}

std::string rangeText(const CodecParameter &parameter) {
  if (parameter.isFlag)
    return "flag";
  if (!parameter.cases.empty()) {
    std::string text;
    for (const CodecCase &one : parameter.cases)
      text.append(text.empty() ? "" : ", ").append("`").append(one.name).append("`");
    return text;
  }
  if (!parameter.real)
    return std::to_string(parameter.least) + ".." +
           (parameter.most == UINT32_MAX ? "2^32 - 1" : std::to_string(parameter.most)) +
           (parameter.isPowerOfTwo ? ", a power of two" : "");
  switch (parameter.range) {
  case RealRange::Share:
    return "above 0, up to 1";
  case RealRange::Decay:
    return "at least 0, below 1";
  default:
    return "at least 0";
  }
}

std::string usualText(const CodecParameter &parameter) {
  if (parameter.isRequired)
    return "must be given";
  if (parameter.isFlag)
    return "off";
  return parameter.real ? realText(float(parameter.usual)) : codec_table::textOf(parameter, parameter.usual);
}

/// Returns a text such as "format fp8_e4m3 or fp8_e5m2" or "bits 1..8".
std::string whereText(const CodecFamilyEntry &family, const WhereCodec &where) {
  const CodecParameter &by = codec_table::parameterAt(family, where.field);
  return std::string(by.name) + " " + codec_table::choiceOf(by, where.cases);
}

void writeFamilies(std::ostream &page) {
  const std::pair<uint32_t, const char *> traits[] = {
      {CGX_TAKES_ANY_TYPE, "any element type"},
      {CGX_KEEPS_EVERY_BIT, "keeps every bit"},
      {CGX_IS_UNBIASED, "unbiased"},
      {CGX_IS_ROUNDED, "unbiased and random as `rounding` says"},
      {CGX_IS_RANDOM, "random"},
      {CGX_VARIES_IN_SIZE, "varies in size"},
      {CGX_HAS_NO_PAYLOADS, "no payloads"},
      {CGX_NEEDS_ALL_REDUCE, "all-reduce only"},
      {CGX_HAS_STATE, "state"}};
  page << "| family | number | what is sent | |\n|:--|--:|:--|:--|\n";
  for (const CodecFamilyEntry &family : codecFamilies()) {
    page << "| `" << family.name << "` | " << family.family << " | " << family.summary << " | ";
    const char *between = "";
    for (auto [trait, name] : traits)
      if (family.traits & trait)
        page << std::exchange(between, ", ") << name;
    page << " |\n";
  }
}

void writeParameters(std::ostream &page) {
  page << "| family | parameter | values | left out | |\n|:--|:--|:--|:--|:--|\n";
  for (const CodecFamilyEntry &family : codecFamilies())
    for (const CodecParameter &parameter : family.parameters) {
      page << "| `" << family.name << "` | `" << parameter.name << "` | " << rangeText(parameter) << " | "
           << usualText(parameter) << " | " << meaningOf(parameter.name);
      if (parameter.only.field)
        page << "; with " << whereText(family, parameter.only) << " only";
      page << " |\n";
    }
}

void writeRules(std::ostream &page) {
  for (const CodecFamilyEntry &family : codecFamilies())
    for (const CodecRule &rule : family.rules) {
      const CodecParameter &what = codec_table::parameterAt(family, rule.what);
      page << "- `" << family.name << "` with " << whereText(family, rule.where) << ": " << what.name
           << (what.cases.empty()
                   ? " in " + std::to_string(rule.least) + ".." + std::to_string(rule.most)
                   : " " + codec_table::choiceOf(codec_table::namesOf(what.cases, rule.allowed)))
           << "\n";
    }
}

/// A host may have set its locale, in which numbers are written as 0,05.
TEST(CodecTable, ReadsAndWritesNumbersAlikeInEveryLocale) {
  const char *comma = nullptr;
  for (const char *name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ru_RU.UTF-8"})
    if (!comma)
      comma = std::setlocale(LC_ALL, name);
  if (!comma)
    GTEST_SKIP() << "no locale with a decimal comma is installed";
  const CodecFamilyEntry &topk = *codecFamilyNamed("topk");
  cgx_codec codec = toCodec(usualCodec(topk.family));
  codec.density = 0.05f;
  const CodecValues values = valuesOf(codec);
  std::string text;
  for (size_t i = 0; i < values.parameters().size(); ++i)
    if (values.parameters()[i].real == &cgx_codec::density) {
      EXPECT_EQ(values.values[i], 0.05);
      text = codec_table::textOf(values.parameters()[i], values.values[i]);
    }
  std::setlocale(LC_ALL, "C");
  EXPECT_EQ(text, "5.000000e-02");
}

TEST(CodecTable, IsWhatThePageOfCodecsShows) {
  std::ostringstream tables;
  tables << "\n";
  writeFamilies(tables);
  tables << "\n";
  writeParameters(tables);
  tables << "\n";
  writeRules(tables);
  const std::string path = CGX_SOURCE_FOLDER "/docs/codecs.md";
  std::stringstream page;
  page << std::ifstream(path).rdbuf();
  std::string text = page.str();
  const size_t begin = text.find('\n', text.find("<!-- begin:")) + 1, end = text.find("<!-- end -->");
  ASSERT_LE(begin, end) << path << ": expected the marks around the tables";
  if (std::getenv("CGX_WRITE_DOCS")) {
    text.replace(begin, end - begin, tables.str() + "\n");
    std::ofstream(path) << text;
    return;
  }
  EXPECT_EQ(text.substr(begin, end - begin), tables.str() + "\n")
      << path << " is not what the table says: run cgx-kernels-test with CGX_WRITE_DOCS=1";
}

} // namespace
} // namespace cgx
