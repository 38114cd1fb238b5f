//===-- Compile.cpp - Compiling a file to an artifact -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "cgx/compile.h"
#include "Cache.h"
#include "CodeGen.h"
#include "Frontend.h"

#include "cgx/Tools/LargeStack.h"
#include "cgx/Tools/SourceFile.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace cgx::compile {
namespace {

Outcome compileAnew(std::unique_ptr<llvm::MemoryBuffer> buffer, const Options &options) {
  Outcome outcome;
  llvm::raw_string_ostream messages(outcome.diagnostics);
  Reading reading(std::move(buffer), messages);
  Artifact artifact;
  OwningOpRef<ModuleOp> module = reading.parse();
  if (!module || failed(lower(*module, artifact.manifest)))
    return outcome;
  std::optional<std::vector<std::string>> files = generateCode(*module, options);
  if (!files)
    return outcome;
  artifact.files = std::move(*files);
  outcome.artifact = std::move(artifact);
  return outcome;
}

Outcome compileHere(std::unique_ptr<llvm::MemoryBuffer> buffer, const Options &options) {
  std::string unused;
  std::optional<Cache> cache = options.useCache ? Cache::open(unused) : std::nullopt;
  if (!cache) {
    Outcome outcome = compileAnew(std::move(buffer), options);
    if (!unused.empty())
      outcome.diagnostics += "warning: compiled steps are not kept for the next start: " + unused +
                             " (--no-cache does without)\n";
    return outcome;
  }
  std::string key = Cache::getKey(buffer->getBuffer(), options);
  if (std::optional<Artifact> artifact = cache->find(key))
    return {std::move(artifact), ""};
  Outcome outcome = compileAnew(std::move(buffer), options);
  // A step with warnings is not cached, so that they are shown again.
  if (outcome.artifact && outcome.diagnostics.empty())
    cache->store(key, *outcome.artifact);
  return outcome;
}

Outcome compileBuffer(std::unique_ptr<llvm::MemoryBuffer> buffer, const Options &options) {
  Outcome outcome;
  runOnLargeStack([&] { outcome = compileHere(std::move(buffer), options); });
  return outcome;
}

} // namespace

Outcome compileFile(const std::string &path, const Options &options) {
  std::string why;
  auto buffer = readSourceFile(path, why);
  if (!buffer)
    return {std::nullopt, path + ": error: cannot read: " + why + "\n"};
  return compileBuffer(std::move(buffer), options);
}

Outcome compileText(const std::string &text, const std::string &name, const Options &options) {
  return compileBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name), options);
}

} // namespace cgx::compile
