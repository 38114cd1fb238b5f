//===-- Compress.cpp - Compressing the collectives of a step ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "Frontend.h"
#include "cgx/Tools/LargeStack.h"
#include "cgx/Tools/PassOptions.h"
#include "cgx/Tools/Registration.h"
#include "cgx/Tools/SourceFile.h"
#include "cgx/compile.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

using namespace mlir;

namespace cgx::compile {

static void registerPassesOnce() {
  static std::once_flag once;
  std::call_once(once, registerCgxPasses);
}

/// Prints the module as text with its original locations, so that later errors name the line of Python.
static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().enableDebugInfo(/*enable=*/true, /*prettyForm=*/false));
  return text;
}

/// Returns MLIR's message about wrong options, without its copy of the options. If a value has the wrong
/// type, MLIR has written to standard error which one, and its message here names only the pass.
static std::string explain(llvm::StringRef said, MLIRContext *context) {
  auto [reason, adding] = said.split("failed to add `");
  reason = reason.trim();
  reason.consume_front("<Pass-Options-Parser>: ");
  const PassInfo *pass = PassInfo::lookup(adding.take_until([](char c) { return c == '`'; }));
  llvm::StringRef option = reason;
  if (pass && option.consume_front(kNoSuchOption))
    return "error: " + describeUnknownOption(*pass, option, context) + "\n";
  return "error: " + reason.str() +
         (reason.ends_with(":") ? " the value of this option is of another type" : "") + "\n";
}

static Compressed compressBuffer(std::unique_ptr<llvm::MemoryBuffer> buffer, const Rewriting &rewriting) {
  Compressed compressed;
  llvm::raw_string_ostream messages(compressed.diagnostics);
  Reading reading(std::move(buffer), messages);
  OwningOpRef<ModuleOp> module = reading.parse();
  if (!module)
    return compressed;
  registerPassesOnce();
  PassManager manager(&reading.getContext());
  std::vector<std::string> passes;
  if (rewriting.ranks)
    passes.push_back("cgx-set-ranks{ranks=" + std::to_string(*rewriting.ranks) + "}");
  if (rewriting.localSteps)
    passes.push_back("cgx-local-steps{" + *rewriting.localSteps + "}");
  if (rewriting.compress)
    passes.push_back("cgx-compress{" + *rewriting.compress + "}");
  if (rewriting.report)
    passes.push_back("cgx-report");
  const std::string pipeline = llvm::join(passes, ",");
  std::string said;
  llvm::raw_string_ostream options(said);
  const bool isAdded = succeeded(parsePassPipeline(pipeline, manager, options));
  messages << (isAdded ? said : explain(said, &reading.getContext()));
  if (!isAdded || failed(manager.run(*module)))
    return compressed;
  compressed.text = print(*module);
  return compressed;
}

Compressed compressFile(const std::string &path, const Rewriting &rewriting) {
  std::string why;
  std::unique_ptr<llvm::MemoryBuffer> buffer = readSourceFile(path, why);
  if (!buffer)
    return {std::nullopt, path + ": error: cannot read: " + why + "\n"};
  Compressed compressed;
  runOnLargeStack([&] { compressed = compressBuffer(std::move(buffer), rewriting); });
  return compressed;
}

} // namespace cgx::compile
