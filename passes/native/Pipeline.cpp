//===-- Pipeline.cpp - The order of the lowering to native code ---------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "cgx/Passes/Import.h"
#include "cgx/Passes/Native.h"
#include "ir/RuntimeOps.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace cgx {

#define GEN_PASS_REGISTRATION
#include "cgx/Passes/Native.h.inc"

namespace {

/// Lowers StableHLO and cgx to linalg and runtime operations on tensors.
void buildTensorStage(OpPassManager &manager) {
  // A step that was imported has none left. Functions are copied to where they are called, within a bound.
  manager.addPass(createInlineFunctionsPass());
  // Dropped callbacks appear neither in the manifest nor in the code.
  manager.addPass(createDropCallbacksPass());
  // Expansion leaves fewer kinds of operations to all later passes, and no use of comparators outside.
  manager.addPass(createExpandOperationsPass());
  manager.addPass(createSymbolDCEPass());
  // Library calls take complex numbers directly; everything after, the manifest included, knows real ones
  // only.
  manager.addPass(createCallLibrariesPass());
  manager.addPass(createExpandComplexPass());
  // The manifest comes before anything else, since later passes lose the facts that it states.
  manager.addPass(createEmitManifestPass());
  manager.addPass(createSymbolDCEPass());
  // Equal broadcasts and constants come from every traced primitive.
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createFoldTransposesPass());
  manager.addPass(createLowerCollectivesPass());
  manager.addPass(createStablehloToLinalgPass());
  // Products are extracted before fusion could pull their operands' producers into the loops.
  manager.addPass(createMatmulToBlasPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createFuseElementwisePass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

/// Lowers tensors to buffers, which the caller or the scratch memory owns.
void buildBufferStage(OpPassManager &manager) {
  // This is the last pass on tensors: simplifications could turn a computed value into one that is carried.
  manager.addPass(createCarryLoopValuesPass());
  // Later passes compare values that share memory, so empty tensors are separated first.
  manager.addPass(createSeparateEmptyTensorsPass());
  // This lets the last operation before a slice write to it. After the next pass it would also compute
  // several results in the buffer of one.
  manager.addPass(createComputeInSlicesPass());
  manager.addPass(createDestinationPassingPass());
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  manager.addPass(bufferization::createOneShotBufferizePass(options));
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createPlanMemoryPass());
  manager.addPass(createExpandCopiesPass());
}

/// Lowers buffers to the LLVM dialect.
void buildLLVMStage(OpPassManager &manager) {
  // Reductions are vectorized in whole loops, and before functions become polynomials, which then are
  // polynomials of vectors.
  manager.addPass(createVectorizeReductionsPass());
  // f16 and bf16 are storage types: their arithmetic is that of f32.
  arith::ArithEmulateUnsupportedFloatsOptions floats;
  floats.sourceTypeStrs = {"bf16", "f16"};
  floats.targetTypeStr = "f32";
  manager.addPass(math::createMathExtendToSupportedTypes());
  manager.addPass(arith::createArithEmulateUnsupportedFloats(floats));
  // Roundings are kept at once, since canonicalization would drop them.
  manager.addPass(createKeepRoundingsPass());
  manager.addPass(createApproximateMathPass());
  manager.addPass(createConvertLinalgToLoopsPass());
  manager.addPass(createEmitRuntimeCallsPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  // Loops are outlined when calls are lowered, and before views become arithmetic on addresses.
  manager.addPass(createOutlineLoopsPass());
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  manager.addPass(arith::createArithExpandOpsPass(expand));
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertMathToLibmPass());
  // Buffers of main are addresses, not descriptors.
  ConvertFuncToLLVMPassOptions functions;
  functions.useBarePtrCallConv = true;
  manager.addPass(createConvertFuncToLLVMPass(functions));
  manager.addPass(createConvertToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  manager.addPass(createEmitEntryPass());
  manager.addPass(createCanonicalizerPass());
}

} // namespace

void buildLowerToLLVMPipeline(OpPassManager &manager) {
  buildTensorStage(manager);
  buildBufferStage(manager);
  buildLLVMStage(manager);
}

void registerNativePasses() {
  registerDropCallbacksPass();
  registerCallLibrariesPass();
  registerExpandComplexPass();
  registerExpandOperationsPass();
  registerFoldTransposesPass();
  registerStablehloToLinalgPass();
  registerLowerCollectivesPass();
  registerMatmulToBlasPass();
  registerFuseElementwisePass();
  registerCarryLoopValuesPass();
  registerSeparateEmptyTensorsPass();
  registerComputeInSlicesPass();
  registerDestinationPassingPass();
  registerPlanMemoryPass();
  registerExpandCopiesPass();
  registerVectorizeReductionsPass();
  registerKeepRoundingsPass();
  registerApproximateMathPass();
  registerEmitRuntimeCallsPass();
  registerOutlineLoopsPass();
  registerEmitEntryPass();
  PassPipelineRegistration<>(
      "cgx-lower-to-llvm", "Take a per-rank program to the LLVM dialect, with cgx_program_step as its entry",
      buildLowerToLLVMPipeline);
}

void registerNativeInterfaces(DialectRegistry &registry) {
  registry.insert<rt::CgxRtDialect>();
  rt::registerBufferization(registry);
}

} // namespace cgx
