//===-- CodeGen.cpp - Machine code from the LLVM dialect --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "CodeGen.h"
#include "Bfloat16.h"
#include "Split.h"
#include "cgx/formats/Closest.h"

#include "mlir/IR/Threading.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

#include <mutex>

using namespace mlir;

namespace cgx::compile {
namespace {

/// Several parts per thread let all threads end at about the same time.
constexpr unsigned partsPerThread = 4;

const llvm::Target *findTarget(ModuleOp module, const llvm::Triple &triple) {
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    module.emitError(error);
  return target;
}

/// Checks the processor before parts are compiled, because each of them would repeat the error. For a
/// processor that it does not know, LLVM would print its own error twice and use another one.
LogicalResult checkProcessor(ModuleOp module, const std::string &cpu) {
  const llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  const llvm::Target *target = findTarget(module, triple);
  if (!target)
    return failure();
  std::unique_ptr<llvm::MCSubtargetInfo> known(
      target->createMCSubtargetInfo(triple, /*CPU=*/"", /*Features=*/""));
  if (cpu == "native" || (known && known->isCPUStringValid(cpu)))
    return success();
  std::vector<std::string> names;
  if (known)
    for (const llvm::SubtargetSubTypeKV &processor : known->getAllProcessorDescriptions())
      names.emplace_back(processor.Key);
  return module.emitError("expected --mcpu to be native or a processor of ")
         << triple.str() << ", got '" << cpu << "'" << formats::askMeant(cpu, names);
}

std::unique_ptr<llvm::TargetMachine> createTarget(ModuleOp module, const std::string &cpu) {
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  const llvm::Target *target = findTarget(module, triple);
  if (!target)
    return nullptr;
  bool native = cpu == "native";
  llvm::SubtargetFeatures features;
  if (native)
    for (const auto &feature : llvm::sys::getHostCPUFeatures())
      features.AddFeature(feature.first(), feature.second);
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, native ? llvm::sys::getHostCPUName() : llvm::StringRef(cpu), features.getString(),
      llvm::TargetOptions(), llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    module.emitError("no code can be made for ") << triple.str();
  return machine;
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopInterleaving = true;
  // Unrolled code is up to ten times as long and takes as much longer to schedule. The vectorizer interleaves
  // the loops that gain from it.
  tuning.LoopUnrolling = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

std::unique_ptr<llvm::Module> translate(ModuleOp module, llvm::LLVMContext &context,
                                        const llvm::TargetMachine &machine) {
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context, "cgx");
  if (!code) {
    module.emitError("cannot translate the module to LLVM IR");
    return nullptr;
  }
  code->setDataLayout(machine.createDataLayout());
  code->setTargetTriple(machine.getTargetTriple());
  for (llvm::Function &function : *code)
    if (!function.isDeclaration()) {
      function.addFnAttr("target-cpu", machine.getTargetCPU());
      function.addFnAttr("target-features", machine.getTargetFeatureString());
      // These loops stream through memory, so the widest vectors are best.
      function.addFnAttr("prefer-vector-width", "512");
    }
  return code;
}

/// Compiles one module to one file.
std::optional<std::string> emit(ModuleOp module, const Options &options) {
  std::unique_ptr<llvm::TargetMachine> machine = createTarget(module, options.cpu);
  if (!machine)
    return std::nullopt;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translate(module, context, *machine);
  if (!code)
    return std::nullopt;
  optimize(*code, *machine);
  defineRoundingToBfloat16(*code);

  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  if (options.output == Output::LLVM) {
    code->print(stream, /*AAW=*/nullptr);
    return std::string(bytes);
  }
  llvm::legacy::PassManager emission;
  if (machine->addPassesToEmitFile(emission, stream, /*DwoOut=*/nullptr, llvm::CodeGenFileType::ObjectFile)) {
    module.emitError("the target cannot emit object files");
    return std::nullopt;
  }
  emission.run(*code);
  return std::string(bytes);
}

} // namespace

std::optional<std::vector<std::string>> generateCode(ModuleOp module, const Options &options) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  if (failed(checkProcessor(module, options.cpu)))
    return std::nullopt;
  std::vector<OwningOpRef<ModuleOp>> parts;
  if (options.output == Output::Objects)
    parts = splitOutlined(module, partsPerThread * module.getContext()->getNumThreads());
  std::vector<ModuleOp> modules{module};
  for (OwningOpRef<ModuleOp> &part : parts)
    modules.push_back(*part);

  std::vector<std::string> files(modules.size());
  std::mutex mutex;
  size_t done = 0;
  LogicalResult result = failableParallelForEachN(module.getContext(), 0, modules.size(), [&](size_t i) {
    std::optional<std::string> file = emit(modules[i], options);
    if (file)
      files[i] = std::move(*file);
    std::scoped_lock lock(mutex);
    if (options.progress)
      options.progress(++done, files.size());
    return success(file.has_value());
  });
  if (failed(result))
    return std::nullopt;
  return files;
}

} // namespace cgx::compile
