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

#include "cgx/Tools/Registration.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"

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
    "  Down to LLVM, as cgx-compile does it:\n"
    "    cgx-opt step.cgx.mlir --cgx-lower-to-llvm\n"
    "\n"
    "  Passes of cgx begin with --cgx-; the others are upstream's. The report goes to standard error.\n";

/// Errors come without the op that they are about, which may be a whole step of training, unless
/// --mlir-print-op-on-diagnostic asks for it.
static void printNoOpsOnDiagnostics() {
  mlir::registerMLIRContextCLOptions();
  auto &options = llvm::cl::getRegisteredOptions();
  auto found = options.find("mlir-print-op-on-diagnostic");
  if (found != options.end())
    static_cast<llvm::cl::opt<bool> *>(found->second)->setInitialValue(false);
}

/// Whether text or bytecode says where its ops come from.
static bool hasLocations(llvm::StringRef source) {
  return source.starts_with("ML\xefR") || source.starts_with("#loc") || source.contains("\n#loc");
}

/// What came with locations keeps them, unless --mlir-print-debuginfo says otherwise: an error of cgx-compile
/// about the rewritten step then names the line of Python. What came without does not grow.
static void keepLocationsOf(llvm::StringRef path) {
  auto &options = llvm::cl::getRegisteredOptions();
  auto found = options.find("mlir-print-debuginfo");
  if (path == "-" || found == options.end() || found->second->getNumOccurrences() != 0)
    return;
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (buffer && hasLocations((*buffer)->getBuffer()))
    static_cast<llvm::cl::opt<bool> *>(found->second)->setValue(true);
}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  cgx::registerCgxDialects(registry);
  cgx::registerCgxPasses();
  printNoOpsOnDiagnostics();
  auto [input, output] = mlir::registerAndParseCLIOptions(argc, argv, overview, registry);
  keepLocationsOf(input);
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
}
