//===-- cgx-compile.cpp - The program cgx-compile ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "CommandLine.h"

#include "cgx/Cli/Program.h"
#include "cgx/Cli/Version.h"
#include "cgx/Tools/LlvmProcess.h"
#include "cgx/compile.h"
#include "cgx/output/OutputFile.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace cgx::compile;

static constexpr const char overview[] =
    "cgx-compile: one step of a training loop to native code\n"
    "\n"
    "  Reads a step that a framework exported (StableHLO; its collectives stay uncompressed) or one that\n"
    "  cgx-opt rewrote, and writes a library with three symbols: the function cgx_program_step, which runs\n"
    "  the step on one rank; the text cgx_program_manifest, which describes its arguments, results and\n"
    "  communication; and the function cgx_program_release, which frees the memory that steps keep for the\n"
    "  next ones. A library calls the latter itself when it is unloaded.\n"
    "\n"
    "EXAMPLES\n"
    "  Compress the gradients, compile, and train on four ranks:\n"
    "    cgx-opt step.mlir --cgx-compress=bits=4 -o step.cgx.mlir\n"
    "    cgx-compile step.cgx.mlir -o step.so\n"
    "    cgx-run step.so --ranks 4 --state state.safetensors --data data.safetensors\n"
    "  An object for a program of your own, for the oldest processor that it must run on:\n"
    "    cgx-compile step.cgx.mlir -o step.o --mcpu=x86-64-v3\n"
    "    cc main.c step.o -lcgx_runtime -lcgx_native -lm\n"
    "\n"
    "  Compiled steps are cached by program, options and processor, in $CGX_CACHE_DIR (else\n"
    "  $XDG_CACHE_HOME/cgx or ~/.cache/cgx): at most 1 GiB, until a week after their last use. --no-cache\n"
    "  turns that off.\n"
    "\n"
    "EXIT STATUS\n"
    "  0 on success, 1 if the step cannot be compiled, 2 if the command line is wrong.\n";

static llvm::cl::OptionCategory category("Options of cgx-compile");
static llvm::cl::opt<std::string> input(llvm::cl::Positional, llvm::cl::desc("STEP.mlir"),
                                        llvm::cl::init("-"), llvm::cl::cat(category));
static llvm::cl::opt<std::string>
    output("o",
           llvm::cl::desc("Output; its ending chooses the kind: .so a shared "
                          "library, .o an object, .ll LLVM IR; '-' is LLVM IR "
                          "on standard output. Default: STEP.so beside STEP.mlir"),
           llvm::cl::value_desc("FILE"), llvm::cl::cat(category));
static llvm::cl::opt<std::string>
    cpu("mcpu", llvm::cl::desc("Processor to compile for (default: native, the one of this machine)"),
        llvm::cl::value_desc("NAME"), llvm::cl::init("native"), llvm::cl::cat(category));
static llvm::cl::opt<std::string>
    manifestFile("manifest", llvm::cl::desc("Also write the manifest to this file ('-' for standard output)"),
                 llvm::cl::value_desc("FILE.json"), llvm::cl::cat(category));
static llvm::cl::opt<std::string>
    runtimeFolder("runtime-dir",
                  llvm::cl::desc("Folder of libcgx_runtime.so (default: beside this program, ../lib)"),
                  llvm::cl::value_desc("DIR"), llvm::cl::cat(category));

static llvm::cl::opt<bool>
    noCache("no-cache",
            llvm::cl::desc("Do not use the cache of compiled steps (in $CGX_CACHE_DIR, else ~/.cache/cgx)"),
            llvm::cl::cat(category));

static int fail(const llvm::Twine &message, int code = 1) {
  llvm::WithColor::error(llvm::errs(), "cgx-compile") << message << '\n';
  return code;
}

static std::vector<std::string> findLibraryFolders(const char *program) {
  if (!runtimeFolder.empty())
    return {runtimeFolder};
  std::string self = llvm::sys::fs::getMainExecutable(program, reinterpret_cast<void *>(&findLibraryFolders));
  const llvm::StringRef prefix = llvm::sys::path::parent_path(llvm::sys::path::parent_path(self));
  llvm::SmallString<128> own(prefix), beside(llvm::sys::path::parent_path(prefix));
  llvm::sys::path::append(own, "lib");
  std::vector<std::string> folders = {std::string(own)};
  // In a wheel the runtime is in another package.
  llvm::sys::path::append(beside, "cgx_core", "lib");
  if (llvm::sys::fs::exists(beside + "/libcgx_runtime.so"))
    folders.emplace_back(beside);
  return folders;
}

static int runTool(int argc, char **argv) {
  llvm::cl::SetVersionPrinter(
      [](llvm::raw_ostream &os) { os << "cgx-compile " << cgx::cli::version() << '\n'; });
  llvm::cl::HideUnrelatedOptions(category);
  if (!llvm::cl::ParseCommandLineOptions(argc, argv, overview, &llvm::errs()))
    return 2;

  for (const llvm::cl::opt<std::string> *option : {&input, &output, &cpu, &manifestFile, &runtimeFolder})
    if (option->getNumOccurrences() != 0 && option->empty())
      return fail("expected a value for " + (option->hasArgStr() ? "--" + option->ArgStr : option->HelpStr) +
                      ", got ''",
                  2);

  const bool isChosen = output.empty();
  if (isChosen && input == "-")
    return fail("expected -o with a step from standard input", 2);
  if (isChosen) {
    llvm::SmallString<128> beside(input);
    llvm::sys::path::replace_extension(beside, "so");
    output = std::string(beside);
  }
  llvm::StringRef ending = llvm::sys::path::extension(output);
  if (output == "-")
    ending = ".ll";
  if (output == "-" && manifestFile == "-")
    return fail("expected one output at most on standard output, got '-' for -o and --manifest", 2);
  if (cgx::isSameFile(output, manifestFile))
    return fail(
        "expected a file for each output, got '" + output + "' and '" + manifestFile + "', which are one", 2);
  if (ending != ".so" && ending != ".o" && ending != ".ll")
    return fail("expected -o to end in .so, .o or .ll, or to be -, got '" + output + "'", 2);

  Options options;
  options.cpu = cpu;
  options.useCache = !noCache;
  options.output = ending == ".ll" ? Output::LLVM : ending == ".o" ? Output::Object : Output::Objects;
  Outcome outcome = compileFile(input, options);
  llvm::errs() << outcome.diagnostics;
  if (!outcome.artifact)
    return 1;

  std::string error = ending == ".so"
                          ? linkSharedLibrary(*outcome.artifact, output, findLibraryFolders(argv[0]))
                          : cgx::writeOutput(output, outcome.artifact->files.front());
  if (error.empty() && !manifestFile.empty())
    error = cgx::writeOutput(manifestFile, outcome.artifact->manifest + "\n");
  if (!error.empty())
    return fail(error);
  if (isChosen)
    llvm::errs() << "cgx-compile: wrote " << output << '\n';
  return 0;
}

int cgx_compile_main(int argc, char **argv) {
  cgx::expectCrashes();
  llvm::InitLLVM init(argc, argv); // the common handlers of all programs replace its handlers
  cgx::prepareLlvmProcess("cgx-compile");
  return cgx::cli::runProgram("cgx-compile", [&] { return runTool(argc, argv); });
}
