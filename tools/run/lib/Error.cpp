//===-- Error.cpp - Error that cgx-run reports ------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Error.h"

using namespace cgx::run;

void cgx::run::throwProblems(const std::string &subject, const std::vector<std::string> &problems) {
  if (problems.empty())
    return;
  if (problems.size() == 1)
    throw Error(subject + ": " + problems.front());
  std::string text = subject + ": " + std::to_string(problems.size()) + " problems";
  for (const std::string &problem : problems)
    text += "\n  " + problem;
  throw Error(text);
}
