//===-- DestinationPassing.cpp - Results as buffers of the caller ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "StepSignature.h"
#include "cgx/Passes/Native.h"
#include "ir/RuntimeOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_DESTINATIONPASSINGPASS
#include "cgx/Passes/Native.h.inc"

namespace {

/// Returns the dense row-major buffer of a tensor. Without elements it is flat: a stride of 0 has no
/// conversion to LLVM.
FailureOr<MemRefType> bufferOf(func::FuncOp main, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return main.emitError("expected tensors of static shape in the signature of @main, got ") << type;
  if (tensor.getNumElements() == 0)
    return MemRefType::get({0}, tensor.getElementType());
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

/// Returns the operand whose memory `value` overwrites, if it can be told. A loop keeps what it carries in
/// one place.
OpOperand *overwritten(OpResult value) {
  Operation *op = value.getOwner();
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    return destination.getTiedOpOperand(value);
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
    return loop.getTiedLoopInit(value);
  if (auto start = dyn_cast<rt::StartOp>(op)) // the first result is the ticket
    return &start.getOutputsMutable()[value.getResultNumber() - 1];
  return nullptr;
}

/// Begins the computation of a result in the caller's buffer, where it begins with uninitialized memory. This
/// is only done where nothing else is computed in that memory: the final write to the buffer could destroy
/// another result, unseen by bufferization.
void computeIn(Value buffer, Value result, OpBuilder &builder) {
  for (auto value = dyn_cast<OpResult>(result); value;) {
    OpOperand *operand = overwritten(value);
    if (!operand || operand->get().getType() != result.getType())
      return;
    if (operand->get().getDefiningOp<tensor::EmptyOp>()) {
      operand->set(bufferization::ToTensorOp::create(builder, buffer.getLoc(), result.getType(), buffer,
                                                     /*restrict=*/true, /*writable=*/true));
      return;
    }
    if (!operand->get().hasOneUse()) {
      // A fill costs no more than the copy of one.
      auto fill = operand->get().getDefiningOp<linalg::FillOp>();
      if (!fill)
        return;
      OpBuilder beforeUse(operand->getOwner());
      operand->set(beforeUse.clone(*fill)->getResult(0));
    }
    value = dyn_cast<OpResult>(operand->get());
  }
}

/// The number of uses of an argument that read one tensor: bufferization compares each with all others of its
/// tensor.
constexpr unsigned usesOfTensor = 64;

/// Lets an argument be read from its buffer. The tensors of one argument share the memory, which nothing
/// overwrites.
void readFrom(BlockArgument argument, OpBuilder &builder) {
  auto type = cast<RankedTensorType>(argument.getType());
  Value tensor;
  unsigned uses = 0;
  for (OpOperand &use : llvm::make_early_inc_range(argument.getUses())) {
    if (uses++ % usesOfTensor == 0)
      tensor =
          bufferization::ToTensorOp::create(builder, argument.getLoc(), type, argument, /*restrict=*/true,
                                            /*writable=*/false);
    use.set(tensor);
  }
}

struct DestinationPassingPass : impl::DestinationPassingPassBase<DestinationPassingPass> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> main = lookupMain(getOperation());
    if (failed(main) || failed(rewrite(*main)))
      signalPassFailure();
  }

  LogicalResult rewrite(func::FuncOp main) {
    SmallVector<Type> types = {IntegerType::get(&getContext(), 64)};
    FunctionType signature = main.getFunctionType();
    for (Type type : llvm::concat<const Type>(signature.getInputs(), signature.getResults())) {
      FailureOr<MemRefType> buffer = bufferOf(main, type);
      if (failed(buffer))
        return failure();
      types.push_back(*buffer);
    }
    Block &body = main.getBody().front();
    OpBuilder builder = OpBuilder::atBlockBegin(&body);
    Location loc = main.getLoc();

    body.insertArgument(0u, types.front(), loc);
    for (unsigned i = 1; i <= signature.getNumInputs(); ++i) {
      BlockArgument argument = body.getArgument(i);
      auto type = cast<RankedTensorType>(argument.getType());
      if (type.getNumElements() == 0)
        argument.replaceAllUsesWith(
            tensor::EmptyOp::create(builder, argument.getLoc(), type.getShape(), type.getElementType()));
      else
        readFrom(argument, builder);
      argument.setType(types[i]);
    }

    auto ret = cast<func::ReturnOp>(body.getTerminator());
    builder.setInsertionPoint(ret);
    for (auto [index, value] : llvm::enumerate(ret.getOperands())) {
      BlockArgument result = body.addArgument(types[1 + signature.getNumInputs() + index], loc);
      if (cast<RankedTensorType>(value.getType()).getNumElements() == 0)
        continue;
      OpBuilder atBegin = OpBuilder::atBlockBegin(&body);
      computeIn(result, value, atBegin);
      bufferization::MaterializeInDestinationOp::create(builder, loc, /*result=*/Type(), value, result,
                                                        /*restrict=*/true, /*writable=*/true);
    }
    ret->setOperands({});

    main.setType(FunctionType::get(&getContext(), types, {}));
    main.removeResAttrsAttr();
    // No result overlaps another buffer of the step, and arguments are only read. All at once: each change of
    // one makes an array of all.
    SmallVector<DictionaryAttr> attributes(
        types.size(), builder.getDictionaryAttr(builder.getNamedAttr(LLVM::LLVMDialect::getNoAliasAttrName(),
                                                                     UnitAttr::get(&getContext()))));
    attributes.front() = builder.getDictionaryAttr({});
    main.setAllArgAttrs(attributes);
    main->setAttr(argumentCountAttrName, builder.getI64IntegerAttr(signature.getNumInputs()));
    return success();
  }
};

} // namespace
} // namespace cgx
