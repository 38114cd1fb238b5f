//===-- ProgressTest.cpp - Printed progress of a run ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../tools/run/lib/Progress.h"

#include <gtest/gtest.h>

using namespace cgx::run;
using namespace std::chrono_literals;

namespace {

TEST(Progress, LogsHaveFewerLinesTheLongerARunTakesAndTerminalsOneASecond) {
  for (std::chrono::seconds age : {0s, 100s, 100000s})
    EXPECT_EQ(pauseBetweenLines(age, /*isTerminal=*/true), 1s);
  EXPECT_EQ(pauseBetweenLines(3s, false), 1s);
  std::chrono::seconds last = 0s;
  for (std::chrono::seconds age = 0s; age < 24h; age += 7s) {
    EXPECT_GE(pauseBetweenLines(age, false), last);
    last = pauseBetweenLines(age, false);
  }
  EXPECT_LE(last, 60s); // a log that ends without a message shows within a minute that the job was killed
}

TEST(Progress, TimesReadAsPeopleWriteThem) {
  EXPECT_EQ(durationString(7), "0:07");
  EXPECT_EQ(durationString(754), "12:34");
  EXPECT_EQ(durationString(7384), "2:03:04");
  EXPECT_EQ(durationString(3 * 86400 + 7384), "3d 02:03");
}

TEST(Progress, WhatWasSavedIsSaidOnlyWhereItIs) {
  EXPECT_EQ(savedString(8000000, 1000000), "7 MB saved (8x)");
  EXPECT_EQ(savedString(1000, 1000), "");
  EXPECT_EQ(savedString(1000, 1200), "");
  EXPECT_EQ(savedString(0, 0), "");
}

} // namespace
