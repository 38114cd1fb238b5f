//===-- EmitEntry.cpp - Entry point and manifest of a compiled step --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "StepSignature.h"
#include "cgx/Passes/Native.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_EMITENTRYPASS
#include "cgx/Passes/Native.h.inc"

namespace {

/// Source of the functions that keep scratch memory between steps. Ranks that are threads of one process run
/// the same step at the same time, so there are several blocks: a step takes one out of its slot, or
/// allocates one, and puts it into an empty slot at its end. More ranks than slots only cost them the reuse.
/// `cgx_program_release` empties the slots. It is a destructor of the object as well, so that a library
/// leaves nothing behind, whoever loaded it; what links objects in memory runs no destructors and calls it.
/// It does not touch a block that a step has.
constexpr const char scratchSource[] = R"mlir(
llvm.mlir.global internal @cgx_scratch_slots() {addr_space = 0 : i32} : !llvm.array<64 x ptr> {
  %zero = llvm.mlir.zero : !llvm.array<64 x ptr>
  llvm.return %zero : !llvm.array<64 x ptr>
}
llvm.func @aligned_alloc(i64, i64) -> !llvm.ptr
llvm.func @free(!llvm.ptr)
llvm.func @cgx_context_abort(!llvm.ptr, !llvm.ptr)

llvm.func internal @cgx_scratch_take(%bytes: i64) -> !llvm.ptr attributes {no_inline} {
  %c0 = llvm.mlir.constant(0 : i64) : i64
  %c1 = llvm.mlir.constant(1 : i64) : i64
  %slots = llvm.mlir.constant(64 : i64) : i64
  %alignment = llvm.mlir.constant(64 : i64) : i64
  %null = llvm.mlir.zero : !llvm.ptr
  %base = llvm.mlir.addressof @cgx_scratch_slots : !llvm.ptr
  llvm.br ^search(%c0 : i64)
^search(%i: i64):
  %in_range = llvm.icmp "ult" %i, %slots : i64
  llvm.cond_br %in_range, ^look, ^allocate
^look:
  %slot = llvm.getelementptr %base[%i] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
  %block = llvm.atomicrmw xchg %slot, %null acq_rel : !llvm.ptr, !llvm.ptr
  %found = llvm.icmp "ne" %block, %null : !llvm.ptr
  %next = llvm.add %i, %c1 : i64
  llvm.cond_br %found, ^done(%block : !llvm.ptr), ^search(%next : i64)
^allocate:
  %fresh = llvm.call @aligned_alloc(%alignment, %bytes) : (i64, i64) -> !llvm.ptr
  llvm.br ^done(%fresh : !llvm.ptr)
^done(%taken: !llvm.ptr):
  llvm.return %taken : !llvm.ptr
}

llvm.func internal @cgx_scratch_put(%block: !llvm.ptr) attributes {no_inline} {
  %c0 = llvm.mlir.constant(0 : i64) : i64
  %c1 = llvm.mlir.constant(1 : i64) : i64
  %slots = llvm.mlir.constant(64 : i64) : i64
  %null = llvm.mlir.zero : !llvm.ptr
  %base = llvm.mlir.addressof @cgx_scratch_slots : !llvm.ptr
  llvm.br ^search(%c0 : i64)
^search(%i: i64):
  %in_range = llvm.icmp "ult" %i, %slots : i64
  llvm.cond_br %in_range, ^offer, ^release
^offer:
  %slot = llvm.getelementptr %base[%i] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
  %pair = llvm.cmpxchg %slot, %null, %block acq_rel monotonic : !llvm.ptr, !llvm.ptr
  %kept = llvm.extractvalue %pair[1] : !llvm.struct<(ptr, i1)>
  %next = llvm.add %i, %c1 : i64
  llvm.cond_br %kept, ^done, ^search(%next : i64)
^release:
  llvm.call @free(%block) : (!llvm.ptr) -> ()
  llvm.br ^done
^done:
  llvm.return
}

llvm.func @cgx_program_release() {
  %c0 = llvm.mlir.constant(0 : i64) : i64
  %c1 = llvm.mlir.constant(1 : i64) : i64
  %slots = llvm.mlir.constant(64 : i64) : i64
  %null = llvm.mlir.zero : !llvm.ptr
  %base = llvm.mlir.addressof @cgx_scratch_slots : !llvm.ptr
  llvm.br ^empty(%c0 : i64)
^empty(%i: i64):
  %slot = llvm.getelementptr %base[%i] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
  %block = llvm.atomicrmw xchg %slot, %null acq_rel : !llvm.ptr, !llvm.ptr
  llvm.call @free(%block) : (!llvm.ptr) -> ()
  %next = llvm.add %i, %c1 : i64
  %more = llvm.icmp "ult" %next, %slots : i64
  llvm.cond_br %more, ^empty(%next : i64), ^done
^done:
  llvm.return
}
llvm.mlir.global_dtors dtors = [@cgx_program_release], priorities = [65535 : i32], data = [#llvm.zero]
)mlir";

/// Returns the bytes of scratch memory, rounded up to the alignment, as aligned_alloc demands, and never 0,
/// so that null means failure.
int64_t scratchBytes(LLVM::LLVMFuncOp main) {
  auto bytes = main->getAttrOfType<IntegerAttr>(scratchBytesAttrName);
  return bytes ? std::max<int64_t>(64, llvm::alignTo(bytes.getInt(), 64)) : 64;
}

struct EmitEntryPass : impl::EmitEntryPassBase<EmitEntryPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<LLVM::LLVMFuncOp>("main");
    auto argumentCount = main ? main->getAttrOfType<IntegerAttr>(argumentCountAttrName) : IntegerAttr();
    auto manifest = module->getAttrOfType<StringAttr>(manifestAttrName);
    if (!argumentCount || !manifest) {
      module.emitError("expected @main after cgx-destination-passing and a manifest");
      return signalPassFailure();
    }
    OwningOpRef<ModuleOp> scratch = parseSourceString<ModuleOp>(scratchSource, &getContext());
    module.getBody()->getOperations().splice(module.getBody()->end(), scratch->getBody()->getOperations());

    emitString("cgx_program_manifest", manifest.getValue(), LLVM::Linkage::External);
    main.setLinkage(LLVM::Linkage::Internal);
    emitStep(main, argumentCount.getInt());
  }

  LLVM::GlobalOp emitString(StringRef name, StringRef text, LLVM::Linkage linkage) {
    OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
    std::string terminated = (text + Twine('\0')).str();
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), terminated.size());
    return LLVM::GlobalOp::create(builder, getOperation().getLoc(), type, /*isConstant=*/true, linkage, name,
                                  builder.getStringAttr(terminated));
  }

  void emitStep(LLVM::LLVMFuncOp main, int64_t argumentCount) {
    OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
    Location loc = main.getLoc();
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    auto none = LLVM::LLVMVoidType::get(&getContext());
    auto step = LLVM::LLVMFuncOp::create(builder, loc, "cgx_program_step",
                                         LLVM::LLVMFunctionType::get(none, {pointer, pointer, pointer}));
    int64_t bytes = scratchBytes(main);
    LLVM::GlobalOp reason =
        emitString("cgx_scratch_failure",
                   "cannot allocate " + std::to_string(bytes) + " bytes of scratch memory for the step",
                   LLVM::Linkage::Internal);

    Block *entry = step.addEntryBlock(builder);
    Block *run = builder.createBlock(&step.getBody()), *refuse = builder.createBlock(&step.getBody());
    Value context = entry->getArgument(0), arguments = entry->getArgument(1), results = entry->getArgument(2);

    builder.setInsertionPointToStart(entry);
    Value size =
        LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), builder.getI64IntegerAttr(bytes));
    Value scratch =
        LLVM::CallOp::create(builder, loc, TypeRange{pointer}, "cgx_scratch_take", ValueRange{size})
            .getResult();
    Value null = LLVM::ZeroOp::create(builder, loc, pointer);
    Value failed = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, scratch, null);
    LLVM::CondBrOp::create(builder, loc, failed, refuse, run);

    builder.setInsertionPointToStart(refuse);
    Value text = LLVM::AddressOfOp::create(builder, loc, reason);
    LLVM::CallOp::create(builder, loc, TypeRange{}, "cgx_context_abort", ValueRange{context, text});
    LLVM::ReturnOp::create(builder, loc, ValueRange{});

    builder.setInsertionPointToStart(run);
    SmallVector<Value> operands = {LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), context)};
    // Context first, scratch last, the buffers of arguments and results between them.
    int64_t buffers = static_cast<int64_t>(main.getNumArguments()) - 2;
    for (int64_t i = 0; i < buffers; ++i) {
      Value table = i < argumentCount ? arguments : results;
      int32_t index = static_cast<int32_t>(i < argumentCount ? i : i - argumentCount);
      Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer, table, ArrayRef<LLVM::GEPArg>{index});
      operands.push_back(LLVM::LoadOp::create(builder, loc, pointer, slot));
    }
    operands.push_back(scratch);
    LLVM::CallOp::create(builder, loc, main, operands);
    LLVM::CallOp::create(builder, loc, TypeRange{}, "cgx_scratch_put", ValueRange{scratch});
    LLVM::ReturnOp::create(builder, loc, ValueRange{});
  }
};

} // namespace
} // namespace cgx
