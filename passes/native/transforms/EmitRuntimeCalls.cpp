//===-- EmitRuntimeCalls.cpp - Runtime operations to C calls ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "StepSignature.h"
#include "cgx/Passes/Native.h"
#include "ir/RuntimeOps.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_EMITRUNTIMECALLSPASS
#include "cgx/Passes/Native.h.inc"

namespace {

/// Builds calls in place of one operation. Arguments of the runtime's functions are all i64.
class CallBuilder {
public:
  CallBuilder(Operation *op, SymbolTable &symbols) : builder(op), loc(op->getLoc()), symbols(symbols) {
    context = op->getParentOfType<func::FuncOp>().getArgument(0);
  }

  /// Makes subsequent calls conditional on `condition`; unconditional if it is null.
  void callWhere(Value condition) {
    if (condition)
      builder.setInsertionPointToStart(scf::IfOp::create(builder, loc, condition).thenBlock());
  }

  Value constant(int64_t value) { return arith::ConstantIntOp::create(builder, loc, value, 64); }

  /// Returns the address of the first element, which may lie after the beginning of the allocation.
  Value address(Value buffer) {
    Value index = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
    auto type = cast<MemRefType>(buffer.getType());
    if (!type.getLayout().isIdentity()) {
      Value offset = memref::ExtractStridedMetadataOp::create(builder, loc, buffer).getOffset();
      Value bytes =
          arith::ConstantIndexOp::create(builder, loc, llvm::divideCeil(type.getElementTypeBitWidth(), 8));
      index = arith::AddIOp::create(builder, loc, index, arith::MulIOp::create(builder, loc, offset, bytes));
    }
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
  }

  void call(StringRef callee, ArrayRef<Value> arguments) { call(callee, arguments, TypeRange()); }

  func::CallOp call(StringRef callee, ValueRange arguments, TypeRange results) {
    auto call = func::CallOp::create(builder, loc, callee, results, arguments);
    if (!symbols.lookup(callee)) {
      auto type = builder.getFunctionType(arguments.getTypes(), results);
      auto declaration = func::FuncOp::create(loc, callee, type);
      declaration.setPrivate();
      symbols.insert(declaration);
    }
    return call;
  }

  Value context;

private:
  OpBuilder builder;
  Location loc;
  SymbolTable &symbols;
};

/// Names the operands of a collective, and calls the function that runs or starts it.
template <typename OpTy> void emitCollective(OpTy op, StringRef callee, CallBuilder &to) {
  Value id = to.constant(op.getId());
  for (auto [index, output] : llvm::enumerate(op.getOutputs())) {
    Value out = to.address(output);
    Value in = op.isInPlace() ? out : to.address(op.getInputs()[index]);
    to.call("cgx_rt_operand", {to.context, id, to.constant(index), in, out});
  }
  to.call(callee, {to.context, id});
}

void emit(rt::BindOptimizerStateOp op, CallBuilder &to) {
  for (auto [kept, tensor] : llvm::zip_equal(op.getKept(), op.getTensors())) {
    auto type = cast<MemRefType>(tensor.getType());
    to.call("cgx_rt_provide", {to.context, to.constant(op.getId()), to.constant(op.getOperand()),
                               to.constant(kept), to.constant(*getCodecElementType(type.getElementType())),
                               to.constant(type.getNumElements()), to.address(tensor)});
  }
}
void emit(rt::RunOp op, CallBuilder &to) { emitCollective(op, "cgx_rt_run", to); }
void emit(rt::StartOp op, CallBuilder &to) {
  to.callWhere(op.getCondition());
  emitCollective(op, "cgx_rt_start", to);
}
void emit(rt::WaitOp op, CallBuilder &to) {
  to.callWhere(op.getStart().getCondition());
  to.call("cgx_rt_wait", {to.context, to.constant(op.getStart().getId())});
}

void emit(rt::PayloadOp op, CallBuilder &to) {
  SmallVector<Value> arguments = {to.context, to.constant(op.getId()), to.constant(op.getOperand())};
  if (std::optional<uint64_t> phase = op.getPhase())
    arguments.push_back(to.constant(*phase));
  arguments.append({to.address(op.getInput()), to.address(op.getOut())});
  to.call(op.getCallee(), arguments);
}

void emit(rt::MatmulOp op, CallBuilder &to) {
  auto a = cast<MemRefType>(op.getA().getType()), out = cast<MemRefType>(op.getOut().getType());
  int64_t rank = out.getRank();
  int64_t m = out.getDimSize(rank - 2), n = out.getDimSize(rank - 1);
  int64_t k = a.getDimSize(op.getTransposeA() ? rank - 2 : rank - 1);
  int64_t batch = rank == 3 ? out.getDimSize(0) : 1;
  SmallVector<Value> arguments = {to.address(op.getA()), to.address(op.getB()), to.address(op.getOut())};
  for (int64_t value :
       {int64_t(op.getTransposeA()), int64_t(op.getTransposeB()), m, n, k, batch, m * k, k * n, m * n})
    arguments.push_back(to.constant(value));
  to.call("cgx_native_matmul_f32", arguments);
}

void emit(rt::LibraryOp op, CallBuilder &to) {
  SmallVector<Value> arguments = {to.context};
  for (int64_t scalar : op.getScalars())
    arguments.push_back(to.constant(scalar));
  for (Value buffer : op.getOperands())
    arguments.push_back(to.address(buffer));
  to.call(op.getCallee(), arguments);
}

void emit(rt::RankOp op, CallBuilder &to) { to.call("cgx_rt_rank", {to.context, to.address(op.getOut())}); }

void emit(rt::LibmOp op, CallBuilder &to) {
  op.replaceAllUsesWith(to.call(op.getFunction(), op.getOperand(), op.getType()).getResult(0));
}

struct EmitRuntimeCallsPass : impl::EmitRuntimeCallsPassBase<EmitRuntimeCallsPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<Operation *> emitted; // a wait asks its start
    getOperation().walk([&](Operation *op) {
      if (!isa<rt::CgxRtDialect>(op->getDialect()))
        return;
      for (Value buffer : op->getOperands())
        if (auto type = dyn_cast<MemRefType>(buffer.getType());
            type && !memref::isStaticShapeAndContiguousRowMajor(type)) {
          op->emitError("expected contiguous buffers, got ") << type;
          return signalPassFailure();
        }
      CallBuilder to(op, symbols);
      llvm::TypeSwitch<Operation *>(op)
          .Case<rt::BindOptimizerStateOp, rt::RunOp, rt::StartOp, rt::WaitOp, rt::PayloadOp, rt::LibraryOp,
                rt::MatmulOp, rt::RankOp, rt::LibmOp>([&](auto runtimeOp) { emit(runtimeOp, to); });
      emitted.push_back(op);
    });
    for (Operation *op : llvm::reverse(emitted))
      op->erase();
  }
};

} // namespace
} // namespace cgx
