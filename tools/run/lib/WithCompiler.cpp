//===-- WithCompiler.cpp - Steps compiled in memory -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/compile.h"
#include "cgx/run/Error.h"
#include "cgx/run/Options.h"

#include <cstdio>

using namespace cgx::run;

Program cgx::run::compileStep(const std::string &path) {
  compile::Outcome outcome = compile::compileFile(path);
  if (!outcome.artifact)
    throw Error("cannot compile '" + path + "'\n" + outcome.diagnostics);
  std::fputs(outcome.diagnostics.c_str(), stderr); // warnings
  std::string error;
  compile::LoadedStep loaded = compile::loadObject(*outcome.artifact, error);
  if (!loaded.step)
    throw Error("cannot load what '" + path + "' was compiled to: " + error);
  return {path, loaded.manifest, loaded.step, loaded.code};
}
