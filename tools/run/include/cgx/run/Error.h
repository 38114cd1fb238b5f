//===-- cgx/run/Error.h - The one error that cgx-run reports ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is wrong with the input or the run, in words for the person who typed
// the command. Thrown inside the tool, caught once a rank and once in main;
// never crosses the C ABI.
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
