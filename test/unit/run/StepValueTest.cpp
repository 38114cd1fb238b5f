//===-- StepValueTest.cpp - Values that follow from the step -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/StepValue.h"
#include "cgx/run/Error.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace cgx::run;

namespace {

Value argument(ElementType type, Shape shape) {
  return {"batch['a']", type, shape, shape, Sharding(shape.size()), std::nullopt};
}

std::vector<uint32_t> words(const std::string &text, int64_t count, uint64_t step, uint64_t seed = 0) {
  const Value key = argument(CGX_U32, {count});
  std::vector<uint32_t> words(static_cast<size_t>(count));
  StepValue::parse(text, key).write(key, step, seed, reinterpret_cast<std::byte *>(words.data()));
  return words;
}

double number(const std::string &text, uint64_t step, ElementType type = CGX_F64) {
  const Value scalar = argument(type, {});
  std::byte bytes[8];
  StepValue::parse(text, scalar).write(scalar, step, /*seed=*/0, bytes);
  return readScalar(type, bytes);
}

std::string refusal(const std::string &text, const Value &value) {
  try {
    StepValue::parse(text, value);
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

// The expected values are jax.random.key_data(jax.random.fold_in(jax.random.key(S), t)), printed by JAX
// 0.10.2.
TEST(StepValue, KeysHaveTheBitsOfJax) {
  using Words = std::vector<uint32_t>;
  EXPECT_EQ(words("fold_in(0,@step)", 2, 0), (Words{0x6b200159, 0x99ba4efe}));
  EXPECT_EQ(words("fold_in(0, @step)", 2, 1), (Words{0x375f238f, 0xcddb151d}));
  EXPECT_EQ(words("fold_in(42,@step)", 2, 7), (Words{0x97d0552f, 0x51bf719f}));
  EXPECT_EQ(words("fold_in(4294967295,@step)", 2, 1000000), (Words{0xbe41506d, 0x72253472}));
  EXPECT_EQ(words("fold_in(21474836489,@step)", 2, 3), (Words{0x3c709059, 0x2e944d44}));
  EXPECT_EQ(words("key(21474836489)", 2, 3), (Words{5, 9}));
  // These are keys of rbg.
  EXPECT_EQ(words("key(42)", 4, 7), (Words{0, 0x2a, 0, 0x2a}));
  EXPECT_EQ(words("fold_in(42,@step)", 4, 7), (Words{0x97d0552f, 0x51bf719f, 0x97d0552f, 0x51bf719f}));
  // The step of a key folds into the seed of the run.
  EXPECT_EQ(words("@step", 2, 7, /*seed=*/42), words("fold_in(42,@step)", 2, 7));
}

TEST(StepValue, TheStepOfANumberIsItself) {
  EXPECT_EQ(number("@step", 12, CGX_I32), 12);
  EXPECT_EQ(number("@step", 12, CGX_F32), 12);
  const Value pair = argument(CGX_I32, {2});
  int32_t both[2];
  StepValue::parse("@step", pair).write(pair, 5, 0, reinterpret_cast<std::byte *>(both));
  EXPECT_EQ(both[0], 5);
  EXPECT_EQ(both[1], 5);
  std::byte byte;
  EXPECT_THROW(StepValue::parse("@step", argument(CGX_U8, {})).write(argument(CGX_U8, {}), 256, 0, &byte),
               Error);
}

// The expected values are those of optax, in f64, at steps 0, 1, 3, 5, 9 and 30.
TEST(StepValue, SchedulesAreThoseOfOptax) {
  const std::vector<std::pair<std::string, std::vector<double>>> schedules = {
      {"linear(1,0.2,8)", {1.0, 0.9, 0.7, 0.5, 0.2, 0.2}},
      {"cosine(0.5,10)", {0.5, 0.4877641290737884, 0.3969463130731183, 0.25, 0.012235870926211617, 0.0}},
      {"cosine(0.5,10,0.1)",
       {0.5, 0.48898771616640957, 0.40725168176580645, 0.275, 0.06101228383359046, 0.05}},
      {"exponential(0.5,10,0.9)",
       {0.5, 0.4947596291031072, 0.48444308059863167, 0.4743416490252569, 0.4547662880414811, 0.3645}},
      {"warmup_cosine(0.01,1,4,20)", {0.01, 0.2575, 0.7525, 0.9903926402016152, 0.7777851165098011, 0.0}},
      {"warmup_cosine(0.01,1,4,20,0.05)",
       {0.01, 0.2575, 0.7525, 0.9908730081915345, 0.7888958606843111, 0.05}}};
  const uint64_t steps[] = {0, 1, 3, 5, 9, 30};
  for (const auto &[text, expected] : schedules)
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(number(text, steps[i]), expected[i], 1e-15) << text << " at " << steps[i];
      EXPECT_EQ(float(number(text, steps[i], CGX_F32)), float(number(text, steps[i]))) << text;
    }
}

TEST(StepValue, WhatDoesNotFitSaysWhatWould) {
  const Value rate = argument(CGX_F32, {}), key = argument(CGX_U32, {2}), count = argument(CGX_I32, {});
  EXPECT_EQ(refusal("key(1)", rate),
            "'key(1)' is a random key: expected an argument of u32[2] or u32[4], got f32[]");
  EXPECT_EQ(refusal("fold_in(1)", key), "expected key(SEED) or fold_in(SEED,@step), got 'fold_in(1)'");
  EXPECT_EQ(refusal("fold_in(1,2)", key), "expected key(SEED) or fold_in(SEED,@step), got 'fold_in(1,2)'");
  EXPECT_EQ(refusal("key(-1)", key), "expected a whole number as the seed of a key, got '-1'");
  EXPECT_EQ(refusal("linear(1,0,5)", count),
            "'linear(1,0,5)' is a schedule: expected an argument of real numbers, got i32[]");
  EXPECT_EQ(refusal("linear(1,0)", rate), "expected linear(FROM,TO,STEPS), got 'linear(1,0)'");
  EXPECT_EQ(refusal("cosine(1,x)", rate), "expected a number in a schedule, got 'x'");
  EXPECT_EQ(refusal("cosine(1,5", rate), "expected ')' at the end of 'cosine(1,5'");
  EXPECT_NE(refusal("step(1,5)", rate)
                .find("expected @step, key(SEED), fold_in(SEED,@step), linear(FROM,TO,STEPS)"),
            std::string::npos);
  EXPECT_TRUE(StepValue::isMeant("f(x)"));
  EXPECT_FALSE(StepValue::isMeant("0.5,1"));
}

} // namespace
