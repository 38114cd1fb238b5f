//===-- PipelineErrors.cpp - Errors of a list of passes -------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PipelineErrors.h"

#include "cgx/Tools/PassOptions.h"
#include "cgx/Tools/PlacelessDiagnostics.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using llvm::StringRef;

/// Returns the pass that got an option of this name as --pass=OPTIONS, because MLIR's error does not name the
/// pass.
static const PassInfo *findPass(StringRef option, llvm::ArrayRef<char *> arguments) {
  for (StringRef argument : arguments) {
    auto [name, options] = argument.ltrim('-').split('=');
    if (const PassInfo *pass = PassInfo::lookup(name); pass && options.contains(option))
      return pass;
  }
  return nullptr;
}

/// Returns an error of the pipeline in the form of the tool's other errors.
static std::string explain(StringRef reason, MLIRContext *context, llvm::ArrayRef<char *> arguments) {
  const PassInfo *pass = nullptr;
  auto [first, adding] = reason.split("failed to add `"); // --pass-pipeline repeats its whole argument
  if (!adding.empty())
    pass = PassInfo::lookup(adding.take_until([](char c) { return c == '`'; }));
  reason = first.trim();
  if (!reason.consume_front("<Pass-Options-Parser>: "))
    // If a value has the wrong type, MLIR has written to standard error which one, and its message names only
    // the pass.
    return reason.str() + (reason.ends_with(":") ? " the value of this option is of another type" : "");
  StringRef option = reason;
  if (!option.consume_front(cgx::kNoSuchOption))
    return reason.str();
  if (!pass)
    pass = findPass(option, arguments);
  if (!pass)
    return reason.str();
  return cgx::describeUnknownOption(*pass, option, context);
}

void cgx::explainPipelineErrors(MlirOptMainConfig &config, llvm::ArrayRef<char *> arguments) {
  config.setPassPipelineSetupFn([given = config, arguments](PassManager &manager) {
    MLIRContext *context = manager.getContext();
    // This affects the diagnostics of passes, which --verify-diagnostics wants to see itself.
    if (!given.shouldVerifyDiagnostics())
      printPlacelessDiagnostics(context, llvm::errs(), "cgx-opt: ");
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
      if (!isa<UnknownLoc>(diagnostic.getLocation()) || diagnostic.getSeverity() != DiagnosticSeverity::Error)
        return failure();
      llvm::errs() << "cgx-opt: error: " << explain(diagnostic.str(), context, arguments) << '\n';
      return success();
    });
    return given.setupPassPipeline(manager);
  });
}
