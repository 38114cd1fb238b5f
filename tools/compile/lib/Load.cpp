//===-- Load.cpp - Loading an object into this process ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "cgx/compile.h"

#include "cgx/native.h"

#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

#include <dlfcn.h>

namespace cgx::compile {
namespace {

/// Returns the path of the library that steps compute with. This library is linked with it, but may have been
/// loaded so that its dependencies are not visible to the process.
const char *nativeLibrary() {
  Dl_info found;
  return ::dladdr(reinterpret_cast<void *>(&cgx_native_matmul_f32), &found) != 0 ? found.dli_fname : nullptr;
}

llvm::Expected<LoadedStep> load(const Artifact &objects) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  // These are the runtime and libm, followed by the library that steps compute with.
  const char prefix = (*jit)->getDataLayout().getGlobalPrefix();
  auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(prefix);
  if (!process)
    return process.takeError();
  auto native = llvm::orc::DynamicLibrarySearchGenerator::Load(nativeLibrary(), prefix);
  if (!native)
    return native.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*process));
  (*jit)->getMainJITDylib().addGenerator(std::move(*native));
  for (const std::string &object : objects.files)
    if (llvm::Error error = (*jit)->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object, "step.o")))
      return error;
  auto step = (*jit)->lookup(CGX_SYMBOL_STEP);
  if (!step)
    return step.takeError();
  // Destructors of objects that are linked here are never run, so the program is released by a function.
  cgx_program_release_fn release = nullptr;
  if (auto symbol = (*jit)->lookup(CGX_SYMBOL_RELEASE))
    release = symbol->toPtr<cgx_program_release_fn>();
  else
    llvm::consumeError(symbol.takeError()); // the object of an older compiler has none
  LoadedStep loaded;
  loaded.step = step->toPtr<cgx_program_step_fn>();
  loaded.manifest = objects.manifest;
  loaded.code = std::shared_ptr<llvm::orc::LLJIT>(jit->release(), [release](llvm::orc::LLJIT *code) {
    if (release)
      release();
    delete code;
  });
  return loaded;
}

} // namespace

LoadedStep loadObjects(const Artifact &objects, std::string &error) {
  llvm::Expected<LoadedStep> loaded = load(objects);
  if (loaded)
    return std::move(*loaded);
  error = "cannot load the compiled step: " + llvm::toString(loaded.takeError());
  return {};
}

} // namespace cgx::compile
