//===-- CodecWordsTest.cpp - Codecs from text -----------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/CodecWords.h"

#include <gtest/gtest.h>

namespace cgx::layers {
namespace {

/// Returns a codec in the spelling of the attribute, or why the text is no codec.
std::string read(std::string_view text) {
  CodecWords words;
  std::string reason = splitCodecWords(text, "quantize", words);
  if (!reason.empty())
    return reason;
  const std::optional<Codec> codec = buildCodec(words, reason);
  return codec ? assemblyOf(*codec) : reason;
}

TEST(CodecWords, OneCodecHasManySpellings) {
  const std::string expected = "#cgx.quantize<bits = 8, bucket = 128, rounding = stochastic, scale = bf16>";
  for (const char *text : {"bits=8", "quantize bits=8", "quantize<bits=8>", "quantize<bits = 8>",
                           "quantize< bits=8 bucket=128 >", "bits = 8", "quantize<bits=4> bits=8"})
    EXPECT_EQ(read(text), expected) << text;
  EXPECT_EQ(read("mxfp4"), read("cast format=mxfp4"));
  EXPECT_EQ(read("eden bits=3"), "#cgx.eden<bits = 3, bucket = 128, scale = bf16>");
  EXPECT_EQ(read("topk density=1e-3"), "#cgx.topk<density = 1.000000e-03>");
  EXPECT_EQ(read("topk<density=1>"), "#cgx.topk<density = 1.000000e+00>");
}

TEST(CodecWords, WhatIsBesideACodecIsAmongItsWords) {
  EXPECT_EQ(read("natural error-feedback=bf16 error_feedback_decay=0.5"),
            "#cgx.error_feedback<#cgx.natural, decay = 5.000000e-01, storage = bf16>");
  EXPECT_EQ(read("topk back-codec=natural"),
            "#cgx.two_way<there = #cgx.topk<density = 1.000000e-02>, back = #cgx.natural>");
  EXPECT_EQ(read("natural delta=bf16 samples=7"), "#cgx.delta<#cgx.natural, samples = 7, storage = bf16>");
}

TEST(CodecWords, RefusalsSayWhatWasExpected) {
  EXPECT_EQ(read("bits=x"), "expected integer value, got quantize<bits=x>");
  EXPECT_EQ(read("bits=9"), "expected bits in 1..8, got 9");
  EXPECT_EQ(read("bits=4.5"), "expected integer value, got quantize<bits=4.5>");
  EXPECT_EQ(read("bits=$"), "unexpected character, got quantize<bits=$>");
  EXPECT_EQ(read("bits=99999999999999999999"),
            "integer value too large, got quantize<bits=99999999999999999999>");
  std::string reason;
  EXPECT_FALSE(parseCodecText("quantize<bits=4>x", reason));
  EXPECT_EQ(reason, "found trailing characters: 'x', got quantize<bits=4>x");
  EXPECT_EQ(read("quantize<bits=4"), "expected a '>' for each '<', got quantize<bits=4");
  EXPECT_EQ(read("topk density=x"), "expected floating point literal, got topk<density=x>");
  EXPECT_EQ(read("identity bits=4"), "expected no parameters, got identity<bits=4>");
  EXPECT_EQ(read("bits=4,bits=5"), "parameter bits is given twice");
  EXPECT_EQ(read("gcomp"), "expected an optimizer: sgd, momentum, nesterov, adagrad, rmsprop, adam or adamw, "
                           "whichever the step has");
  EXPECT_NE(read("quantise").find("got quantise (did you mean 'quantize'?)"), std::string::npos);
}

TEST(CodecWords, OnlySomeCodecsAreMadeOfOthers) {
  EXPECT_EQ(read("identity error-feedback=f32"),
            "expected error feedback of a lossy codec, got #cgx.identity");
  EXPECT_EQ(read("natural error-feedback=f64"),
            "expected error-feedback to be none, f32, bf16 or int8, got f64");
  EXPECT_EQ(read("natural error-feedback=f32 error-feedback-decay=2"),
            "expected decay to be above 0 and up to 1, got 2.000000e+00");
  EXPECT_EQ(read("topk back-codec=lowrank"),
            "expected a codec for one way, without error feedback, got #cgx.lowrank<rank = 4>");
  EXPECT_EQ(read("identity back-codec=identity"),
            "expected a lossy codec for one of the ways, got #cgx.identity and #cgx.identity");
  EXPECT_EQ(read("natural delta=int8 samples=1"), "expected messages in f32 or bf16, got int8");
  EXPECT_EQ(read("natural delta=f32"), "expected samples to be 1 to 2147483647, got 0");
}

} // namespace
} // namespace cgx::layers
