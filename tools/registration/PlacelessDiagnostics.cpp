//===-- PlacelessDiagnostics.cpp - Diagnostics without a location -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Tools/PlacelessDiagnostics.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

using namespace mlir;

static llvm::StringRef nameOf(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  llvm_unreachable("a severity");
}

void cgx::printPlacelessDiagnostics(MLIRContext *context, llvm::raw_ostream &stream, llvm::StringRef prefix) {
  context->getDiagEngine().registerHandler([&stream, prefix = prefix.str()](Diagnostic &diagnostic) {
    if (!isa<UnknownLoc>(diagnostic.getLocation()) || !diagnostic.getNotes().empty())
      return failure();
    stream << prefix << nameOf(diagnostic.getSeverity()) << ": " << diagnostic.str() << '\n';
    return success();
  });
}
