//===-- cgx-lsp-server.cpp - Language server for MLIR with cgx ------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An editor starts this program to get hover, definitions and errors in .mlir files that use cgx,
// stablehlo or sdy. It speaks the Language Server Protocol on standard input and output; point
// the editor's MLIR extension at it. MLIR's own server answers; Proxy.cpp adds to its answers.
//
//===----------------------------------------------------------------------===//

#include "Proxy.h"

#include "cgx/Cli/Version.h"
#include "cgx/Tools/PortableMlir.h"
#include "cgx/Tools/Registration.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstdlib>

int main(int argc, char **argv) {
  llvm::cl::SetVersionPrinter(
      [](llvm::raw_ostream &os) { os << "cgx-lsp-server " << cgx::cli::version() << '\n'; });
  mlir::DialectRegistry registry;
  cgx::registerOfferedDialects(registry);
  cgx::registerCgxDialects(registry);
  cgx::registerCgxNativeDialects(registry);
  cgx::registerCgxPasses();
  cgx::registerCgxNativePasses();
  auto server = [&] {
    return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry)) ? EXIT_FAILURE : EXIT_SUCCESS;
  };
  // Lines of `// -----` between messages are for tests of the server alone, and --help is not for an editor,
  // so both run without the proxy.
  const bool isForEditor = std::all_of(argv + 1, argv + argc, [](const char *argument) {
    return llvm::StringRef(argument).trim('-').starts_with("log=") ||
           llvm::StringRef(argument).trim('-') == "pretty";
  });
  return isForEditor ? cgx::lsp::runBehindProxy(registry, server) : server();
}
