//===-- test/fuzz/ProgramFuzz.cpp - Any text as a program -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a text with the dialects of cgx, verifies it, prints it and reads that again; then compresses it, and
// lowers it to LLVM. Every rejection has a reason. ProgramMutations.cpp makes the programs.

#include "Bytes.h"

#include "cgx/Tools/Registration.h"
#include "cgx/Tools/SourceText.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

using namespace mlir;

namespace {

/// A fault of MLIR itself that was found here. Text with its words is skipped, so that a run continues to
/// find ours.
struct Upstream {
  const char *text, *fault;
};

} // namespace

static constexpr Upstream kUpstream[] = {
    // -seed=12328
    {"linalg.generic", "a body without a terminator is dereferenced by the op's own parser"},
};

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  cgx::registerCgxDialects(registry);
  cgx::registerCgxNativeDialects(registry);
  cgx::registerCgxPasses();
  cgx::registerCgxNativePasses();
  return registry;
}

namespace {

/// The passes that read, compress and lower. Making this object takes longer than most programs; it is made
/// again now and then because it keeps every attribute and type that it saw.
class Compiler {
public:
  explicit Compiler(const DialectRegistry &registry) : context(registry, MLIRContext::Threading::DISABLED) {
    context.getDiagEngine().registerHandler([&](Diagnostic &) { hasReason = true; });
    for (StringRef pipeline :
         {"cgx-import,cgx-compress{bits=4 min-elements=1},cgx-report{format=json output=/dev/null}",
          "cgx-import,cgx-compress{bits=4 min-elements=1},cgx-lower-to-llvm"})
      if (failed(parsePassPipeline(pipeline, *pipelines.emplace_back(std::make_unique<PassManager>(&context)),
                                   llvm::errs())))
        std::abort();
  }

  void run(StringRef text) {
    OwningOpRef<ModuleOp> module = read(text);
    if (!module)
      return expectReason();
    std::string printed;
    llvm::raw_string_ostream(printed) << *module;
    if (!read(printed)) {
      llvm::errs() << "printed so that it does not read:\n" << printed;
      std::abort();
    }
    for (const std::unique_ptr<PassManager> &pipeline : pipelines) {
      OwningOpRef<ModuleOp> copy = module->clone();
      hasReason = false;
      if (failed(pipeline->run(*copy)))
        expectReason();
    }
  }

private:
  OwningOpRef<ModuleOp> read(StringRef text) {
    hasReason = false;
    return parseSourceString<ModuleOp>(text, ParserConfig(&context));
  }

  void expectReason() const {
    if (!hasReason)
      __builtin_trap();
  }

  MLIRContext context;
  std::vector<std::unique_ptr<PassManager>> pipelines;
  bool hasReason = false;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  constexpr unsigned kProgramsOfOneCompiler = 256;
  static const DialectRegistry registry = makeRegistry();
  static std::unique_ptr<Compiler> compiler;
  static unsigned programs = 0;
  std::string text(Bytes(data, size).text());
  for (const Upstream &fault : kUpstream)
    if (text.find(fault.text) != std::string::npos)
      return 0;
  // Every tool does this before MLIR reads a text.
  if (cgx::explainUnreadable(*llvm::MemoryBuffer::getMemBuffer(text)))
    return 0;
  if (programs++ % kProgramsOfOneCompiler == 0)
    compiler = std::make_unique<Compiler>(registry);
  compiler->run(text);
  return 0;
}
