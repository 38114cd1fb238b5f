//===-- Report.h - The report of a module ----------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PASSES_REPORT_H
#define CGX_PASSES_REPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace cgx {

/// The form of a report, for people or for programs.
enum class ReportFormat { Text, Json };

/// Writes the report of a module, as `--cgx-report` prints it.
void writeReport(mlir::ModuleOp module, ReportFormat format, llvm::raw_ostream &os);

} // namespace cgx

#endif // CGX_PASSES_REPORT_H
