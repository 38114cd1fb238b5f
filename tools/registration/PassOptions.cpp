//===-- PassOptions.cpp - Names of a pass's options -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Tools/PassOptions.h"

#include "cgx/formats/Closest.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using llvm::StringRef;

static bool isOfName(char c) { return llvm::isAlnum(c) || c == '-' || c == '_'; }

/// The options of our passes that are lists. MLIR does not print empty ones.
static constexpr StringRef kLists[] = {"axes", "exclude", "kinds", "layers"};

/// Returns a pass as MLIR prints it, with all its options; empty if it does not accept these.
static std::string describe(const PassInfo &pass, MLIRContext *context, StringRef options) {
  PassManager manager(context, PassManager::getAnyOpAnchorName(), PassManager::Nesting::Implicit);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (succeeded(pass.addToPipeline(manager, options, [](const Twine &) { return failure(); })))
    manager.printAsTextualPipeline(stream);
  return text;
}

/// Returns the names of a pass's options, parsed from MLIR's print of them with their values.
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

std::string cgx::describeUnknownOption(const PassInfo &pass, StringRef option, MLIRContext *context) {
  const std::vector<std::string> names = optionNames(pass, context);
  const std::string meant = cgx::formats::closest(option.str(), names);
  const std::string text = (pass.getPassArgument() + ": " + kNoSuchOption + option).str();
  if (!meant.empty())
    return text + " (did you mean '" + meant + "'?)";
  return text + (names.empty() ? "; it has none" : "; it has " + llvm::join(names, ", "));
}
