//===-- Compilation.h - One module and its passes ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TOOLS_COMPILER_COMPILATION_H
#define CGX_TOOLS_COMPILER_COMPILATION_H

#include "cgx/compiler.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace mlir {
class Diagnostic;
class PassManager;
} // namespace mlir

namespace cgx {

/// The object behind a cgx_compilation: one run, on one thread, in a context of its own.
class Compilation {
public:
  cgx_compiler_status run(llvm::StringRef source, llvm::StringRef name, llvm::ArrayRef<std::string> options);

  struct Message {
    cgx_severity severity;
    std::string file;
    uint32_t line = 0, column = 0;
    std::string text;
  };

  std::string module, manifest, report, reportJson;
  std::vector<Message> messages;

private:
  cgx_compiler_status fail(cgx_compiler_status status, const std::string &message);
  void take(mlir::Diagnostic &diagnostic);
  void take(mlir::Diagnostic &diagnostic, cgx_severity severity);
  /// Appends the pass or pipeline that an option names.
  cgx_compiler_status addOption(mlir::PassManager &manager, llvm::StringRef option);
};

} // namespace cgx

#endif // CGX_TOOLS_COMPILER_COMPILATION_H
