//===-- cgx-opt.cpp - The optimizer driver --------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-opt with the dialects and passes of cgx: reads an exported training step,
// rewrites it, prints it back.
//
//===----------------------------------------------------------------------===//

#include "PipelineErrors.h"

#include "cgx/Cli/Program.h"
#include "cgx/Cli/Version.h"
#include "cgx/Tools/LargeStack.h"
#include "cgx/Tools/LlvmProcess.h"
#include "cgx/Tools/PortableMlir.h"
#include "cgx/Tools/Registration.h"
#include "cgx/Tools/SourceFile.h"
#include "cgx/Tools/SourceText.h"
#include "cgx/output/OutputFile.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

static constexpr const char overview[] =
    "cgx-opt: compresses the collectives of exported training steps\n"
    "\n"
    "  Reads MLIR (a step exported by JAX, the upstream shard dialect, or cgx itself), runs the passes\n"
    "  named on the command line in their order, and prints the module.\n"
    "\n"
    "EXAMPLES\n"
    "  What would travel, layer by layer, if nothing were compressed:\n"
    "    cgx-opt step.mlir --cgx-import --cgx-report -o /dev/null\n"
    "  Compress the gradients to 4 bits, but no bias and no normalization, and say what was decided:\n"
    "    cgx-opt step.mlir --cgx-compress=\"bits=4 bucket=128 exclude=*/b,*norm*\" --cgx-report -o "
    "step.cgx.mlir\n"
    "  Down to LLVM, as cgx-compile does it, in a build that has it (CGX_BUILD_NATIVE):\n"
    "    cgx-opt step.cgx.mlir --cgx-lower-to-llvm\n"
    "\n"
    "  Passes of cgx begin with --cgx-. --list-passes has those of MLIR as well, which work here, and\n"
    "  --help-hidden all their options and those of LLVM. The report goes to standard error.\n";

/// Returns true if the command line asks for help. It then shows the options of cgx, and not the thousand of
/// MLIR's passes and LLVM's backends that are linked in.
static bool asksForHelp(llvm::ArrayRef<char *> arguments) {
  return llvm::any_of(arguments, [](llvm::StringRef argument) {
    return argument == "--help" || argument == "-help" || argument == "-h";
  });
}

/// Hides the options that do not affect how cgx-opt processes a module.
static void hideForeignOptions() {
  static constexpr llvm::StringLiteral shown[] = {"o",
                                                  "help",
                                                  "version",
                                                  "allow-unregistered-dialect",
                                                  "dump-pass-pipeline",
                                                  "emit-bytecode",
                                                  "list-passes",
                                                  "load-dialect-plugin",
                                                  "load-pass-plugin",
                                                  "pass-pipeline",
                                                  "show-dialects",
                                                  "split-input-file",
                                                  "verify-diagnostics",
                                                  "verify-each",
                                                  "verify-roundtrip"};
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (!llvm::is_contained(shown, name) && !name.starts_with("cgx-") && !name.starts_with("mlir-print-") &&
        !name.starts_with("mlir-timing"))
      option->setHiddenFlag(llvm::cl::Hidden);
}

/// Prints errors without their op, which may be a whole training step, unless --mlir-print-op-on-diagnostic
/// is given.
static void printNoOpsOnDiagnostics() {
  mlir::registerMLIRContextCLOptions();
  auto &options = llvm::cl::getRegisteredOptions();
  auto found = options.find("mlir-print-op-on-diagnostic");
  if (found != options.end())
    static_cast<llvm::cl::opt<bool> *>(found->second)->setInitialValue(false);
}

/// Keeps the locations of a module that has them, unless --mlir-print-debuginfo is given: an error of
/// cgx-compile about the rewritten step then names the line of Python. A module without locations gets none,
/// so that it does not grow.
static void keepLocationsOf(const llvm::MemoryBuffer &input) {
  auto &options = llvm::cl::getRegisteredOptions();
  auto found = options.find("mlir-print-debuginfo");
  if (found != options.end() && found->second->getNumOccurrences() == 0 && cgx::hasLocations(input))
    static_cast<llvm::cl::opt<bool> *>(found->second)->setValue(true);
}

/// Processes a file like MlirOptMain, of which only the name is used here: reads it, runs the passes, and
/// writes the result.
static llvm::LogicalResult runOn(llvm::StringRef inputName, llvm::StringRef outputName,
                                 const mlir::MlirOptMainConfig &config, mlir::DialectRegistry &registry) {
  if (inputName == "-" && llvm::sys::Process::StandardInIsUserInput())
    llvm::errs() << "(processing input from stdin now, hit ctrl-c/ctrl-d to interrupt)\n";
  const auto fail = [](const std::string &why) {
    llvm::errs() << "cgx-opt: error: " << why << '\n';
    return llvm::failure();
  };
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input = cgx::readSourceFile(inputName.str(), message);
  if (!input)
    return fail("cannot open input file '" + inputName.str() + "': " + message);
  keepLocationsOf(*input);
  input = cgx::prepareSource(std::move(input), registry, message);
  if (!input)
    return fail(message);
  if (outputName == "-") // also the output of a failed run
    return mlir::MlirOptMain(llvm::outs(), std::move(input), registry, config);
  if (message = cgx::checkOutput(outputName.str()); !message.empty())
    return fail(message);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (failed(mlir::MlirOptMain(stream, std::move(input), registry, config)))
    return llvm::failure();
  message = cgx::writeOutput(outputName.str(), text);
  return message.empty() ? llvm::success() : fail(message);
}

static int runTool(int argc, char **argv) {
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &os) { os << "cgx-opt " << cgx::cli::version() << '\n'; });
  mlir::DialectRegistry registry;
  cgx::registerOfferedDialects(registry);
  const bool asks = asksForHelp({argv, argv + argc});
  if (!asks)
    cgx::registerOfferedPasses();
  cgx::registerCgxDialects(registry);
  cgx::registerCgxNativeDialects(registry);
  cgx::registerCgxPasses();
  cgx::registerCgxNativePasses();
  printNoOpsOnDiagnostics();
  const std::string header = mlir::registerCLIOptions(overview, registry);
  if (asks)
    hideForeignOptions();
  // The list of all dialects of MLIR does not help a user who asks for the options; --show-dialects prints
  // it.
  auto [inputName, outputName] = mlir::parseCLIOptions(argc, argv, asks ? llvm::StringRef(overview) : header);
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses()) // these read no file
    return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, inputName, outputName, registry));
  cgx::explainPipelineErrors(config, {argv, argv + argc});
  return mlir::asMainReturnCode(runOn(inputName, outputName, config, registry));
}

int main(int argc, char **argv) {
  cgx::expectCrashes();
  llvm::InitLLVM init(argc, argv); // the common handlers of all programs replace its handlers
  cgx::prepareLlvmProcess("cgx-opt");
  return cgx::cli::runProgram("cgx-opt", [&] {
    int status = EXIT_FAILURE;
    cgx::runOnLargeStack([&] { status = runTool(argc, argv); });
    return status;
  });
}
