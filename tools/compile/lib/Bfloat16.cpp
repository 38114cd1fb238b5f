//===-- Bfloat16.cpp - Rounding to bf16 where libgcc has none ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bfloat16.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace {

bool usesBfloat16(const Module &module) {
  auto isBfloat16 = [](const Value *value) { return value->getType()->getScalarType()->isBFloatTy(); };
  return any_of(module, [&](const Function &function) {
    return any_of(instructions(function), [&](const Instruction &instruction) {
      return isBfloat16(&instruction) || any_of(instruction.operand_values(), isBfloat16);
    });
  });
}

/// Rounds an f32 to bf16: returns the bits of an f32 whose upper half is the nearest bf16.
Value *roundBits(IRBuilder<> &builder, Value *number, Value *bits) {
  Value *isOdd = builder.CreateAnd(builder.CreateLShr(bits, 16), 1);
  Value *rounded = builder.CreateAdd(bits, builder.CreateAdd(isOdd, builder.getInt32(0x7FFF)));
  Value *quiet = builder.CreateOr(bits, 0x00400000);
  return builder.CreateSelect(builder.CreateFCmpUNO(number, number), quiet, rounded);
}

/// Returns the bits of an f64 as an f32 whose last bit is odd if the conversion is inexact, so that rounding
/// it again rounds the f64 only once.
Value *truncateToOdd(IRBuilder<> &builder, Value *number) {
  Value *nearest = builder.CreateFPTrunc(number, builder.getFloatTy());
  Value *back = builder.CreateFPExt(nearest, builder.getDoubleTy());
  Value *bits = builder.CreateBitCast(nearest, builder.getInt32Ty());
  Value *isLarger = builder.CreateFCmpOGT(builder.CreateUnaryIntrinsic(Intrinsic::fabs, back),
                                          builder.CreateUnaryIntrinsic(Intrinsic::fabs, number));
  Value *cut = builder.CreateSub(bits, builder.CreateZExt(isLarger, builder.getInt32Ty()));
  return builder.CreateSelect(builder.CreateFCmpONE(back, number), builder.CreateOr(cut, 1), bits);
}

void define(Module &module, StringRef name, Type *from) {
  LLVMContext &context = module.getContext();
  auto *type = FunctionType::get(Type::getBFloatTy(context), {from}, /*isVarArg=*/false);
  auto *function = Function::Create(type, GlobalValue::LinkOnceODRLinkage, name, module);
  function->setVisibility(GlobalValue::HiddenVisibility);
  IRBuilder<> builder(BasicBlock::Create(context, "", function));
  Value *number = function->getArg(0);
  Value *bits = from->isDoubleTy() ? truncateToOdd(builder, number)
                                   : builder.CreateBitCast(number, builder.getInt32Ty());
  Value *rounded = roundBits(builder, builder.CreateBitCast(bits, builder.getFloatTy()), bits);
  Value *upper = builder.CreateTrunc(builder.CreateLShr(rounded, 16), builder.getInt16Ty());
  builder.CreateRet(builder.CreateBitCast(upper, Type::getBFloatTy(context)));
  // LLVM must keep the function, because calls of it appear only when instructions are selected.
  appendToCompilerUsed(module, {function});
}

} // namespace

void cgx::compile::defineRoundingToBfloat16(Module &module) {
  if (!usesBfloat16(module))
    return;
  define(module, "__truncsfbf2", Type::getFloatTy(module.getContext()));
  define(module, "__truncdfbf2", Type::getDoubleTy(module.getContext()));
}
