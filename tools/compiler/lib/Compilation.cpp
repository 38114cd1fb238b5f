//===-- Compilation.cpp - One module and its passes -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compilation.h"

#include "cgx/Passes/Report.h"
#include "cgx/Passes/Rewrite.h"
#include "cgx/Passes/Xla.h"
#include "cgx/Tools/PortableMlir.h"
#include "cgx/Tools/Registration.h"
#include "cgx/Tools/SourceText.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <mutex>

using namespace mlir;

namespace cgx {

namespace {

/// Returns the dialects, which contexts copy. Passes are registered once, in tables of the process.
const DialectRegistry &getRegistry() {
  static const DialectRegistry *registry = [] {
    // It lives as long as the process, because contexts on other threads may use it.
    auto *all = new DialectRegistry;
    registerPortableDialects(*all);
    registerPortablePasses();
    registerCgxDialects(*all);
    registerCgxPasses();
    return all;
  }();
  return *registry;
}

/// A pass that takes the place of `--cgx-report` and keeps the report.
class KeepReport : public PassWrapper<KeepReport, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KeepReport)

  KeepReport(std::string &text, std::string &json) : text(&text), json(&json) {}

  void runOnOperation() override {
    markAllAnalysesPreserved();
    text->clear();
    json->clear();
    llvm::raw_string_ostream textStream(*text), jsonStream(*json);
    writeReport(getOperation(), ReportFormat::Text, textStream);
    writeReport(getOperation(), ReportFormat::Json, jsonStream);
  }

private:
  std::string *text, *json;
};

/// Returns the error in the options of a pipeline that does not report it itself. MLIR prints it to standard
/// error.
template <typename Options> std::string explain(StringRef values) {
  std::string said;
  llvm::raw_string_ostream stream(said);
  Options options;
  if (succeeded(options.parseFromString(values, stream)))
    return "";
  StringRef text = StringRef(said).trim();
  text.consume_front("<Pass-Options-Parser>: ");
  return text.empty() ? "a wrong value" : text.str();
}

std::string explainOptions(StringRef pipeline, StringRef values) {
  return llvm::StringSwitch<std::string (*)(StringRef)>(pipeline)
      .Case("cgx-lower-to-xla", explain<LowerToXlaPipelineOptions>)
      .Default([](StringRef) { return std::string(); })(values);
}

/// Returns the innermost place in a file that a location names.
FileLineColLoc findPlace(Location location) {
  FileLineColLoc found;
  location->walk([&](Location inner) {
    found = dyn_cast<FileLineColLoc>(inner);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

} // namespace

cgx_compiler_status Compilation::fail(cgx_compiler_status status, const std::string &message) {
  messages.push_back({CGX_ERROR, "", 0, 0, message});
  return status;
}

void Compilation::take(Diagnostic &diagnostic, cgx_severity severity) {
  Message message{severity, "", 0, 0, diagnostic.str()};
  if (FileLineColLoc place = findPlace(diagnostic.getLocation())) {
    message.file = place.getFilename().str();
    message.line = place.getLine();
    message.column = place.getColumn();
  }
  messages.push_back(std::move(message));
}

void Compilation::take(Diagnostic &diagnostic) {
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Error:
    take(diagnostic, CGX_ERROR);
    break;
  case DiagnosticSeverity::Warning:
    take(diagnostic, CGX_WARNING);
    break;
  case DiagnosticSeverity::Remark:
    take(diagnostic, CGX_REMARK);
    break;
  case DiagnosticSeverity::Note:
    take(diagnostic, CGX_NOTE);
    break;
  }
  for (Diagnostic &note : diagnostic.getNotes())
    take(note, CGX_NOTE);
}

cgx_compiler_status Compilation::addOption(PassManager &manager, StringRef option) {
  StringRef body = option;
  if (!body.consume_front("--"))
    return fail(CGX_COMPILER_BAD_OPTION,
                "expected an option such as --cgx-compress=bits=4, got '" + option.str() + "'");
  auto [name, values] = body.split('=');
  if (name == "cgx-report") {
    manager.addPass(std::make_unique<KeepReport>(report, reportJson));
    return CGX_COMPILER_OK;
  }
  const PassRegistryEntry *entry = PassPipelineInfo::lookup(name);
  if (!entry)
    entry = PassInfo::lookup(name);
  if (!entry)
    return fail(CGX_COMPILER_BAD_OPTION,
                "expected a pass or a pipeline of `cgx-opt --help`, got '--" + name.str() + "'");
  if (std::string reason = explainOptions(name, values); !reason.empty())
    return fail(CGX_COMPILER_BAD_OPTION, "--" + name.str() + ": " + reason);
  std::string said;
  LogicalResult added = entry->addToPipeline(manager, values, [&](const Twine &message) {
    said += (said.empty() ? "" : "; ") + message.str();
    return failure();
  });
  StringRef wrong = said;
  wrong.consume_front((name + ": ").str());
  if (failed(added))
    return fail(CGX_COMPILER_BAD_OPTION,
                "--" + name.str() + ": " + (wrong.empty() ? "a wrong value" : wrong.str()));
  return CGX_COMPILER_OK;
}

cgx_compiler_status Compilation::run(StringRef source, StringRef name, ArrayRef<std::string> options) {
  MLIRContext context(getRegistry(), MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { take(diagnostic); });

  std::unique_ptr<llvm::MemoryBuffer> buffer = llvm::MemoryBuffer::getMemBufferCopy(source, name);
  std::string reason;
  buffer = prepareSource(std::move(buffer), getRegistry(), reason);
  if (!buffer)
    return fail(CGX_COMPILER_BAD_SOURCE, reason);
  PassManager manager(&context, ModuleOp::getOperationName(), OpPassManager::Nesting::Implicit);
  for (StringRef option : options)
    if (cgx_compiler_status status = addOption(manager, option); status != CGX_COMPILER_OK)
      return status;

  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  OwningOpRef<ModuleOp> parsed = parseSourceFile<ModuleOp>(sources, &context);
  if (!parsed)
    return CGX_COMPILER_BAD_SOURCE;
  if (failed(manager.run(*parsed)))
    return CGX_COMPILER_FAILED;

  manifest = takeManifest(*parsed);
  llvm::raw_string_ostream stream(module);
  parsed->print(stream, OpPrintingFlags().enableDebugInfo());
  return CGX_COMPILER_OK;
}

} // namespace cgx
