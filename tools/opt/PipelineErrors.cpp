//===-- PipelineErrors.cpp - What is wrong with a list of passes ----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PipelineErrors.h"

#include "cgx/Cli/Closest.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using llvm::StringRef;

static constexpr StringRef kNoSuchOption = "no such option ";

static bool isOfName(char c) { return llvm::isAlnum(c) || c == '-' || c == '_'; }

/// The lists among the options of our passes. MLIR prints none that is empty.
static constexpr StringRef kLists[] = {"axes", "exclude", "kinds", "layers"};

/// A pass in MLIR's words, with all its options; empty if it does not take these.
static std::string describe(const PassInfo &pass, MLIRContext *context, StringRef options) {
  PassManager manager(context, PassManager::getAnyOpAnchorName(), PassManager::Nesting::Implicit);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (succeeded(pass.addToPipeline(manager, options, [](const Twine &) { return failure(); })))
    manager.printAsTextualPipeline(stream);
  return text;
}

/// The names of a pass's options. MLIR only prints them, with their values.
static std::vector<std::string> optionNames(const PassInfo &pass, MLIRContext *context) {
  std::vector<std::string> names;
  for (StringRef list : kLists)
    if (!describe(pass, context, (list + "=x").str()).empty())
      names.push_back(list.str());
  const std::string text = describe(pass, context, "");
  for (StringRef left = text; left.contains('=');) {
    StringRef before = left.take_until([](char c) { return c == '='; });
    left = left.drop_front(before.size() + 1);
    StringRef name = before.take_back(before.size() - (before.find_last_of(" {") + 1));
    if (!name.empty() && llvm::all_of(name, isOfName))
      names.push_back(name.str());
  }
  return names;
}

/// The pass that was given an option of this name as --pass=OPTIONS, of which MLIR's error does not say the
/// pass.
static const PassInfo *findPass(StringRef option, llvm::ArrayRef<char *> arguments) {
  for (StringRef argument : arguments) {
    auto [name, options] = argument.ltrim('-').split('=');
    if (const PassInfo *pass = PassInfo::lookup(name); pass && options.contains(option))
      return pass;
  }
  return nullptr;
}

/// An error of the pipeline in the form of the tool's other errors.
static std::string explain(StringRef reason, MLIRContext *context, llvm::ArrayRef<char *> arguments) {
  const PassInfo *pass = nullptr;
  auto [first, adding] = reason.split("failed to add `"); // --pass-pipeline repeats what it was given
  if (!adding.empty())
    pass = PassInfo::lookup(adding.take_until([](char c) { return c == '`'; }));
  reason = first.trim();
  if (!reason.consume_front("<Pass-Options-Parser>: "))
    // Of a value of another type MLIR has said to standard error which, and here no more than the pass.
    return reason.str() + (reason.ends_with(":") ? " the value of this option is of another type" : "");
  StringRef option = reason;
  if (!option.consume_front(kNoSuchOption))
    return reason.str();
  if (!pass)
    pass = findPass(option, arguments);
  if (!pass)
    return reason.str();
  const std::string meant = cgx::cli::closest(option.str(), optionNames(*pass, context));
  return (pass->getPassArgument() + ": " + reason + (meant.empty() ? "" : " (did you mean '" + meant + "'?)"))
      .str();
}

void cgx::explainPipelineErrors(MlirOptMainConfig &config, llvm::ArrayRef<char *> arguments) {
  config.setPassPipelineSetupFn([given = config, arguments](PassManager &manager) {
    MLIRContext *context = manager.getContext();
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
      if (!isa<UnknownLoc>(diagnostic.getLocation()) || diagnostic.getSeverity() != DiagnosticSeverity::Error)
        return failure();
      llvm::errs() << "cgx-opt: error: " << explain(diagnostic.str(), context, arguments) << '\n';
      return success();
    });
    return given.setupPassPipeline(manager);
  });
}
