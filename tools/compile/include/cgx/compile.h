//===-- cgx/compile.h - Compile a training step to native code -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// The compiler as a library, without a type of LLVM in its interface. Nothing here
// throws; a failure is a diagnostic.
//
//===----------------------------------------------------------------------------===//
#ifndef CGX_COMPILE_H
#define CGX_COMPILE_H

#include "cgx/runtime.h"

#include <memory>
#include <optional>
#include <string>

namespace cgx::compile {

enum class Output {
  Object, ///< relocatable ELF, position independent
  LLVM    ///< optimized LLVM IR as text
};

struct Options {
  /// As in clang's -mcpu: "native", or the name of a processor.
  std::string cpu = "native";
  Output output = Output::Object;
};

/// What a compilation gives.
struct Artifact {
  std::string bytes;
  std::string manifest; ///< JSON text, equal to cgx_program_manifest
};

/// An artifact or, without one, why there is none; warnings may come with either.
struct Outcome {
  std::optional<Artifact> artifact;
  std::string diagnostics; ///< lines such as "step.mlir:3:5: error: ..."
};

/// Compiles an exported step (StableHLO with shardy, imported first) or a per-rank
/// program of cgx-opt, in MLIR text or bytecode. "-" reads standard input.
Outcome compileFile(const std::string &path, const Options &options = {});
/// The same from memory; `name` stands in diagnostics.
Outcome compileText(const std::string &text, const std::string &name, const Options &options = {});

/// An object of compileFile in the memory of this process.
struct LoadedStep {
  cgx_program_step_fn step = nullptr;
  std::string manifest;
  std::shared_ptr<void> code; ///< keeps the code in memory
};

/// Links an object against the runtime that this process has loaded. On failure `step` is null and
/// `error` says why.
LoadedStep loadObject(const Artifact &object, std::string &error);

/// Links an object to the shared library `path` with the system's C compiler. Returns
/// the error, empty on success. `runtimeFolder` is where libcgx_runtime.so is now and at run time.
std::string linkSharedLibrary(const Artifact &object, const std::string &path,
                              const std::string &runtimeFolder);

} // namespace cgx::compile

#endif // CGX_COMPILE_H
