//===-- NoCompiler.cpp - A build that only runs -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Error.h"
#include "cgx/run/Options.h"

using namespace cgx::run;

Program cgx::run::compileStep(const Options &options) {
  throw Error("'" + options.program +
              "' is not a shared library, and this build has no compiler: make one with " +
              "'cgx-compile step.mlir -o step.so' where there is one");
}
