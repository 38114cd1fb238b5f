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

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cgx::compile {

enum class Output {
  Objects, ///< relocatable ELF, position independent; several, compiled side by side
  Object,  ///< one of them
  LLVM     ///< optimized LLVM IR as text
};

struct Options {
  /// As in clang's -mcpu: "native", or the name of a processor.
  std::string cpu = "native";
  Output output = Output::Objects;
  /// Take what an earlier call compiled, and keep what this one does: see $CGX_CACHE_DIR in `cgx-compile
  /// --help`.
  bool useCache = true;
  /// Called now and then with how many of how many parts are compiled; from any thread, one at a time.
  std::function<void(size_t done, size_t count)> progress;
};

/// The result of a compilation.
struct Artifact {
  std::vector<std::string> files; ///< one, but of Output::Objects
  std::string manifest;           ///< JSON text, equal to cgx_program_manifest
};

/// An artifact or, without one, why there is none; warnings may come with either.
struct Outcome {
  std::optional<Artifact> artifact;
  std::string diagnostics; ///< lines such as "step.mlir:3:5: error: ..."
};

/// Compiles an exported step (StableHLO with shardy, imported first) or a per-rank
/// program of cgx-opt, in MLIR text or bytecode. "-" reads standard input.
Outcome compileFile(const std::string &path, const Options &options = {});
/// Compiles a text in memory; diagnostics call it `name`.
Outcome compileText(const std::string &text, const std::string &name, const Options &options = {});

/// An exported step with its collectives compressed, or why there is none; warnings may come with either.
struct Compressed {
  std::optional<std::string> text; ///< MLIR for compileText
  std::string diagnostics;
};

/// The changes to a step before it is compiled.
struct Rewriting {
  std::optional<uint32_t> ranks;         ///< of cgx-set-ranks
  std::optional<std::string> localSteps; ///< options of cgx-local-steps
  std::optional<std::string> compress;   ///< options of cgx-compress
  bool report = false;                   ///< goes to standard error
};

/// Does what `cgx-opt --cgx-set-ranks=N --cgx-local-steps="..." --cgx-compress="..."` does, of those that are
/// asked for.
Compressed compressFile(const std::string &path, const Rewriting &rewriting);

/// A step as a program of XLA for one rank, in StableHLO, or why there is none; warnings may come with
/// either.
struct DeviceStep {
  std::optional<std::string> text; ///< @main takes the number of the rank behind the arguments of the step
  std::string manifest;            ///< as Artifact has it
  std::string name;                ///< what its calls of cgx/xla.h name it by
  std::string diagnostics;
};

/// Lowers what compileFile and compileText take as `cgx-opt --cgx-lower-to-xla=per-rank --cgx-take-rank`
/// does, for a device whose compiler is XLA.
DeviceStep lowerFileForDevice(const std::string &path);
DeviceStep lowerTextForDevice(const std::string &text, const std::string &name);

/// The objects of compileFile in the memory of this process.
struct LoadedStep {
  cgx_program_step_fn step = nullptr;
  std::string manifest;
  std::shared_ptr<void> code; ///< keeps the code in memory, and what memory its steps keep
};

/// Links objects against the runtime that this process has loaded. On failure `step` is null and
/// `error` says why.
LoadedStep loadObjects(const Artifact &objects, std::string &error);

/// Links objects to the shared library `path` with the system's C compiler. Returns
/// the error, empty on success. `folders` are where libcgx_runtime.so and libcgx_native.so
/// are now and at run time.
std::string linkSharedLibrary(const Artifact &objects, const std::string &path,
                              const std::vector<std::string> &folders);

} // namespace cgx::compile

#endif // CGX_COMPILE_H
