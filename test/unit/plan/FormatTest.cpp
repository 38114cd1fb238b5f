//===-- FormatTest.cpp - Profiles, plans and codecs as text -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomProfile.h"
#include "cgx/plan/Codec.h"
#include "cgx/plan/Error.h"
#include "cgx/plan/Plan.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace cgx::plan;

namespace {

template <typename Body> std::string messageOf(Body body) {
  try {
    body();
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

Plan makeExamplePlan(const Profile &profile) {
  ProblemOptions options;
  options.reference = kFourBits;
  Problem problem = Problem::make(profile, options);
  const Solver &solver = findSolver("lgreco");
  return makePlan(profile, options, problem, solver, solve(solver, problem));
}

TEST(Codec, HasOneSpelling) {
  EXPECT_EQ(canonicalCodec(R"({"scale":"bf16","family":"quantize","bits":4,"bucket":128,)"
                           R"("rounding":"stochastic","checksum":false})"),
            kFourBits);
  EXPECT_EQ(parseCodecLabel("quantize bits=4 bucket=128"), kFourBits);
  EXPECT_EQ(parseCodecLabel("quantize,bits=4"), kFourBits);
  EXPECT_EQ(parseCodecLabel(codecLabel(kFourBits)), kFourBits);
  EXPECT_EQ(parseCodecLabel("identity"), kUncompressed);
  EXPECT_EQ(shortCodecLabel(kFourBits), "quantize bits=4 bucket=128");
}

TEST(Codec, KeepsWhatItsFamilyHas) {
  std::string topk = parseCodecLabel("topk density=0.01 checksum=true");
  EXPECT_EQ(topk, R"({"checksum":true,"density":0.01,"family":"topk"})");
  EXPECT_EQ(codecLabel(topk), "topk checksum=true density=0.01");
}

TEST(Codec, StandsForManyInOneLabel) {
  EXPECT_EQ(splitKind("weight=quantize bits=8"),
            std::pair(std::string("weight"), std::string("quantize bits=8")));
  EXPECT_EQ(splitKind("quantize bits=8"), std::pair(std::string(), std::string("quantize bits=8")));
  std::vector<std::string> codecs = expandCodecLabel("quantize bits=2..4 bucket=128|512");
  ASSERT_EQ(codecs.size(), 6u);
  EXPECT_EQ(codecs[0], parseCodecLabel("quantize bits=2 bucket=128"));
  EXPECT_EQ(codecs[5], parseCodecLabel("quantize bits=4 bucket=512"));
  EXPECT_EQ(expandCodecLabel("identity"), std::vector<std::string>{kUncompressed});
  EXPECT_THROW(expandCodecLabel("quantize bits=8..2"), Error);
  EXPECT_THROW(expandCodecLabel("quantize bits=a..b"), Error);
}

TEST(Codec, RefusesWhatIsNone) {
  EXPECT_NE(messageOf([] { parseCodecLabel(""); }), "");
  EXPECT_NE(messageOf([] { parseCodecLabel("quantize bits"); }), "");
  EXPECT_NE(messageOf([] { canonicalCodec("[4]"); }), "");
  EXPECT_NE(messageOf([] { parseCodecLabel("\xff"); }), ""); // invalid UTF-8
  EXPECT_NE(messageOf([] { parseCodecLabel("topk density=0.01 feedback=true"); }).find("got \"feedback\""),
            std::string::npos);
}

TEST(ProfileFormat, RoundTrips) {
  Profile profile = randomProfile(1, 7, 5);
  profile.layers[2].previousNorm.reset();
  profile.layers[3].candidates[1].squaredError = INFINITY; // it is null in the file
  Profile back = Profile::parse(profile.toJson());
  EXPECT_EQ(back, profile);
}

TEST(ProfileFormat, NamesWhatIsWrong) {
  std::string text = randomProfile(1, 2, 3).toJson();
  auto parse = [&](const std::string &broken) { return messageOf([&] { Profile::parse(broken); }); };
  EXPECT_NE(parse(text.substr(0, text.size() / 2)).find("expected JSON"), std::string::npos);
  EXPECT_NE(parse("{}").find("another kind of file"), std::string::npos);
  EXPECT_NE(parse(replaced(text, "\"cgx_profile\": 1", "\"cgx_profile\": 2")).find("version 1, got 2"),
            std::string::npos);
  EXPECT_EQ(parse(replaced(text, "\"gradient_norm\"", "\"norm\"")),
            "layer 'params/l0/w': expected 'gradient_norm'");
  EXPECT_EQ(parse(replaced(text, "params/l1/w", "params/l0/w")),
            "layer 'params/l0/w' is there twice with kind gradient");
  EXPECT_NE(parse(replaced(text, "\"squared_error\": 0.0", "\"squared_error\": -1.0")).find("got -1.0"),
            std::string::npos);
}

TEST(PlanFormat, RoundTrips) {
  Plan plan = makeExamplePlan(randomProfile(2, 9, 6));
  Plan back = Plan::parse(plan.toJson());
  EXPECT_EQ(back.layers, plan.layers);
  EXPECT_EQ(back.toJson(), plan.toJson());
}

TEST(PlanFormat, RefusesAProfile) {
  std::string profile = randomProfile(2, 2, 3).toJson();
  EXPECT_NE(messageOf([&] { Plan::parse(profile); }).find("expected 'cgx_plan'"), std::string::npos);
}

} // namespace
