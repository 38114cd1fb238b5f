//===-- cgx/run/Error.h - Error that cgx-run reports ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An error says what is wrong with the input or the run, to the user who typed the command. It is
// thrown inside the tool, caught once per rank and once in main, and never crosses the C ABI.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_ERROR_H
#define CGX_RUN_ERROR_H

#include <stdexcept>
#include <string>
#include <vector>

namespace cgx::run {

class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Throws one error that lists all `problems`, or returns if there are none.
void throwProblems(const std::string &subject, const std::vector<std::string> &problems);

} // namespace cgx::run

#endif // CGX_RUN_ERROR_H
