//===-- CompileStep.cpp - Steps compiled in memory --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Cli/Version.h"
#include "cgx/compile_library.h"
#include "cgx/run/DeviceProgram.h"
#include "cgx/run/Error.h"
#include "cgx/run/Options.h"

#include <chrono>
#include <cstdio>
#include <dlfcn.h>

using namespace cgx;
using namespace cgx::run;

namespace {

/// The compiler. It stays in memory to the end, as what it compiles does.
const compile::Library &loadCompiler(const std::string &program) {
  const auto refuse = [&](const std::string &why) {
    return Error("'" + program + "' is not a shared library, and there is no compiler here (" + why +
                 "): install it (package 'cgx'), or make a library with 'cgx-compile step.mlir -o step.so' " +
                 "where there is one");
  };
  void *library = ::dlopen(compile::kLibraryFile, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw refuse(::dlerror());
  const auto entry =
      reinterpret_cast<const compile::Library *(*)()>(::dlsym(library, compile::kLibraryEntry));
  if (!entry)
    throw refuse(::dlerror());
  const compile::Library &compiler = *entry();
  if (const std::string version = compiler.version(); version != cli::version())
    throw refuse(std::string(compile::kLibraryFile) + " is " + version + ", this cgx-run is " +
                 cli::version());
  return compiler;
}

/// Words on standard error while a step is compiled, which can take longer than its training.
class CompileProgress {
public:
  explicit CompileProgress(const Options &options)
      : path(options.program), quiet(options.quiet || options.progress == "never") {
    if (!quiet)
      std::fprintf(stderr, "cgx-run: compiling %s\n", path.c_str());
  }

  void show(size_t done, size_t count) {
    if (quiet || done == count || Clock::now() - last < std::chrono::seconds(2))
      return;
    last = Clock::now();
    std::fprintf(stderr, "cgx-run: compiling %s: %zu of %zu parts after %.0f s\n", path.c_str(), done, count,
                 getSeconds());
  }

  void end() const {
    if (!quiet)
      std::fprintf(stderr, "cgx-run: compiled in %.1f s\n", getSeconds());
  }

private:
  using Clock = std::chrono::steady_clock;
  double getSeconds() const { return std::chrono::duration<double>(Clock::now() - begin).count(); }

  const std::string &path;
  bool quiet;
  Clock::time_point begin = Clock::now(), last = begin;
};

/// The text of the step with its collectives compressed. Its report goes to standard error.
std::string compress(const compile::Library &compiler, const Options &options) {
  compile::Rewriting rewriting{.localSteps = options.localSteps, .compress = options.compress};
  rewriting.report = !options.quiet && !options.isHandedOn && (options.localSteps || options.compress);
  if (options.elastic) // memberships have ranks of their own
    rewriting.ranks = options.ranks;
  // Without --compress, outer gradients travel as they are.
  if (options.localSteps && !options.compress)
    rewriting.compress = "codec=identity min-rank=0 min-elements=0";
  compile::Compressed compressed = compiler.compressFile(options.program, rewriting);
  if (!compressed.text)
    throw Error("cannot compress '" + options.program + "' by" +
                (options.localSteps ? " --local-steps \"" + *options.localSteps + "\"" : "") +
                (options.compress ? " --compress \"" + *options.compress + "\"" : "") + "\n" +
                compressed.diagnostics);
  std::fputs(compressed.diagnostics.c_str(), stderr); // warnings
  return std::move(*compressed.text);
}

bool isRewritten(const Options &options) {
  return options.compress || options.localSteps || (options.elastic && options.ranks);
}

/// The program of XLA; each rank has its device compile it.
Program lowerForDevice(const compile::Library &compiler, const Options &options) {
  const std::string &path = options.program;
  XlaLibrary library{};
  pjrt::Plugin plugin = openDevice(options.device, library); // before the compiler works for it
  compile::DeviceStep step = isRewritten(options)
                                 ? compiler.lowerTextForDevice(compress(compiler, options), path)
                                 : compiler.lowerFileForDevice(path);
  if (!step.text)
    throw Error("cannot compile '" + path + "' for a device\n" + step.diagnostics);
  std::fputs(step.diagnostics.c_str(), stderr); // warnings
  auto device = std::make_shared<const DeviceProgram>(
      DeviceProgram{std::move(plugin), library, std::move(*step.text), std::move(step.name)});
  return {path, std::move(step.manifest), nullptr, nullptr, std::move(device)};
}

} // namespace

Program cgx::run::compileStep(const Options &options) {
  const std::string &path = options.program;
  const compile::Library &compiler = loadCompiler(path);
  if (options.device != kNativeDevice)
    return lowerForDevice(compiler, options);
  CompileProgress progress(options);
  compile::Options how;
  how.useCache = !options.noCache;
  how.progress = [&](size_t done, size_t count) { progress.show(done, count); };
  compile::Outcome outcome = isRewritten(options)
                                 ? compiler.compileText(compress(compiler, options), path, how)
                                 : compiler.compileFile(path, how);
  if (!outcome.artifact)
    throw Error("cannot compile '" + path + "'\n" + outcome.diagnostics);
  std::fputs(outcome.diagnostics.c_str(), stderr); // warnings
  std::string error;
  compile::LoadedStep loaded = compiler.loadObjects(*outcome.artifact, error);
  if (!loaded.step)
    throw Error("cannot load what '" + path + "' was compiled to: " + error);
  progress.end();
  return {path, loaded.manifest, loaded.step, loaded.code, nullptr};
}
