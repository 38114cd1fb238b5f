//===-- TrainingCheckTest.cpp - Check that a program trains and compresses -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/TrainingCheck.h"

#include "cgx/run/Error.h"

#include <gtest/gtest.h>

using namespace cgx::run;

namespace {

/// Returns a program with one argument, one result that neither feeds nor updates it, and one uncompressed
/// gradient.
Manifest plain() {
  Manifest manifest;
  manifest.ranks = 4;
  manifest.arguments.resize(1);
  manifest.arguments[0].name = "arg0";
  manifest.results.resize(1);
  manifest.results[0].name = "result0";
  manifest.collectives.resize(1);
  manifest.collectives[0].operands.resize(1);
  manifest.collectives[0].operands[0].kind = "gradient";
  return manifest;
}

std::string refusal(const Manifest &manifest) {
  try {
    checkFeeds(manifest);
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

TEST(TrainingCheck, AnUpdateThatNothingFeedsBackIsRefused) {
  Manifest manifest = plain();
  EXPECT_EQ(refusal(manifest), "");
  manifest.results[0].updates = 0;
  EXPECT_NE(refusal(manifest).find("although result 'result0' updates 'arg0'"), std::string::npos);
  EXPECT_NE(refusal(manifest).find("--feed 'result0=arg0'"), std::string::npos);
  manifest.feed(0, 0);
  EXPECT_EQ(refusal(manifest), "");
}

TEST(TrainingCheck, WhatIsNotDoneIsSaid) {
  Manifest manifest = plain();
  std::vector<std::string> omissions = describeOmissions(manifest, /*plans=*/false);
  ASSERT_EQ(omissions.size(), 2u);
  EXPECT_NE(omissions[0].find("nothing is trained"), std::string::npos);
  EXPECT_EQ(omissions[1], "nothing is compressed: all 1 operands of collectives travel exactly, 1 of them "
                          "gradients; cgx-opt --cgx-compress gives them codecs");
  EXPECT_EQ(describeOmissions(manifest, /*plans=*/true).size(), 1u);

  manifest.collectives[0].operands[0].kind = "other";
  EXPECT_TRUE(describeOmissions(manifest, /*plans=*/false).empty())
      << "an evaluation has nothing of that to do";

  manifest.feed(0, 0);
  manifest.collectives[0].operands[0].codec.family = CGX_CODEC_QUANTIZE;
  EXPECT_TRUE(describeOmissions(manifest, /*plans=*/false).empty());

  manifest.collectives.clear();
  ASSERT_EQ(describeOmissions(manifest, /*plans=*/false).size(), 1u);
  EXPECT_NE(describeOmissions(manifest, /*plans=*/false)[0].find("nothing is exchanged"), std::string::npos);
  manifest.ranks = 1;
  EXPECT_TRUE(describeOmissions(manifest, /*plans=*/false).empty());
}

} // namespace
