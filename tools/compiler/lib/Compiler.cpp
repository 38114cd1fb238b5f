//===-- Compiler.cpp - The C functions of the compiler ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compilation.h"

#include "cgx/Tools/LargeStack.h"

#include <new>

struct cgx_compilation {
  cgx::Compilation impl;
};

cgx_compiler_status cgx_compiler_run(const cgx_compiler_input *input, cgx_compilation **out_compilation) {
  if (!out_compilation)
    return CGX_COMPILER_INVALID_ARGUMENT;
  *out_compilation = nullptr;
  if (!input || input->struct_size != sizeof(cgx_compiler_input) ||
      input->abi_version != CGX_COMPILER_ABI_VERSION || !input->source ||
      (input->option_count && !input->options))
    return CGX_COMPILER_INVALID_ARGUMENT;
  auto *compilation = new (std::nothrow) cgx_compilation;
  if (!compilation)
    return CGX_COMPILER_OUT_OF_MEMORY;
  std::vector<std::string> options;
  for (size_t i = 0; i < input->option_count; ++i)
    options.emplace_back(input->options[i] ? input->options[i] : "");
  *out_compilation = compilation;
  cgx_compiler_status status = CGX_COMPILER_FAILED;
  cgx::runOnLargeStack([&] {
    status = compilation->impl.run(llvm::StringRef(input->source, input->source_bytes),
                                   input->name ? input->name : "<module>", options);
  });
  return status;
}

void cgx_compilation_destroy(cgx_compilation *compilation) { delete compilation; }

const char *cgx_compilation_module(const cgx_compilation *compilation) {
  return compilation ? compilation->impl.module.c_str() : "";
}

const char *cgx_compilation_manifest(const cgx_compilation *compilation) {
  return compilation ? compilation->impl.manifest.c_str() : "";
}

const char *cgx_compilation_report(const cgx_compilation *compilation) {
  return compilation ? compilation->impl.report.c_str() : "";
}

const char *cgx_compilation_report_json(const cgx_compilation *compilation) {
  return compilation ? compilation->impl.reportJson.c_str() : "";
}

size_t cgx_compilation_diagnostic_count(const cgx_compilation *compilation) {
  return compilation ? compilation->impl.messages.size() : 0;
}

cgx_diagnostic cgx_compilation_diagnostic(const cgx_compilation *compilation, size_t index) {
  if (index >= cgx_compilation_diagnostic_count(compilation))
    return {CGX_NOTE, "", 0, 0, ""};
  const cgx::Compilation::Message &message = compilation->impl.messages[index];
  return {message.severity, message.file.c_str(), message.line, message.column, message.text.c_str()};
}

const char *cgx_compiler_version(void) { return CGX_VERSION; }
