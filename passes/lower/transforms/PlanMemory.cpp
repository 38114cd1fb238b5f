//===-- PlanMemory.cpp - All temporaries in one block of memory ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// Time is the position of an operation in the body of main; what happens in a nested
// region happens at the time of the operation that holds it. A buffer lives from the first to the last
// operation that touches it or a view of it. Two buffers that live at a common
// time get disjoint bytes: placed largest first, each at the lowest offset that is free.
// A buffer allocated in a loop does not outlive an iteration, because bufferization copies what a
// loop yields; so one place for all iterations is enough.
//
//===----------------------------------------------------------------------------===//
#include "StepSignature.h"
#include "cgx/Passes/Lower.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "cgx/Passes/Lower.h.inc"

namespace {

/// Every buffer starts on a cache line of its own, which is also the widest vector.
constexpr int64_t alignment = 64;

struct Buffer {
  memref::AllocOp alloc;
  int64_t bytes;
  int64_t first, last; // times, inclusive
  int64_t offset = 0;
};

FailureOr<int64_t> sizeOf(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  Type element = type.getElementType();
  if (!type.hasStaticShape() || !type.getLayout().isIdentity() || !element.isIntOrIndexOrFloat())
    return alloc.emitError("expected a temporary of static shape and dense layout, got ") << type;
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return type.getNumElements() * static_cast<int64_t>(llvm::divideCeil(bits, 8));
}

/// Gives each buffer an offset; returns the bytes that all of them need.
int64_t place(MutableArrayRef<Buffer> buffers) {
  SmallVector<Buffer *> order;
  for (Buffer &buffer : buffers)
    order.push_back(&buffer);
  llvm::stable_sort(order, [](const Buffer *a, const Buffer *b) { return a->bytes > b->bytes; });

  int64_t total = 0;
  SmallVector<Buffer *> placed; // by offset
  for (Buffer *buffer : order) {
    int64_t offset = 0;
    for (const Buffer *other : placed) {
      if (other->last < buffer->first || buffer->last < other->first)
        continue;
      if (offset + buffer->bytes <= other->offset)
        break;
      offset = std::max<int64_t>(offset, llvm::alignTo(other->offset + other->bytes, alignment));
    }
    buffer->offset = offset;
    total = std::max(total, offset + buffer->bytes);
    placed.insert(llvm::upper_bound(placed, buffer,
                                    [](const Buffer *a, const Buffer *b) { return a->offset < b->offset; }),
                  buffer);
  }
  return total;
}

struct PlanMemoryPass : impl::PlanMemoryPassBase<PlanMemoryPass> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> main = lookupMain(getOperation());
    if (failed(main) || failed(plan(*main)))
      signalPassFailure();
  }

  LogicalResult plan(func::FuncOp main) {
    Block &body = main.getBody().front();
    DenseMap<Operation *, int64_t> times;
    for (Operation &op : body)
      times[&op] = times.size();

    BufferViewFlowAnalysis views(main);
    SmallVector<Buffer> buffers;
    bool failedSize = false;
    main.walk([&](memref::AllocOp alloc) {
      FailureOr<int64_t> bytes = sizeOf(alloc);
      if (failed(bytes)) {
        failedSize = true;
        return;
      }
      // The allocation itself is no access: it may stand long before the first one.
      Buffer buffer{alloc, *bytes, static_cast<int64_t>(times.size()), -1};
      for (Value view : views.resolve(alloc.getMemref()))
        for (Operation *user : view.getUsers()) {
          if (isa<memref::DeallocOp>(user))
            continue;
          int64_t time = times.lookup(body.findAncestorOpInBlock(*user));
          buffer.first = std::min(buffer.first, time);
          buffer.last = std::max(buffer.last, time);
        }
      buffers.push_back(buffer);
    });
    if (failedSize)
      return failure();

    int64_t bytes = place(buffers);
    addScratch(main, buffers, bytes);
    return success();
  }

  void addScratch(func::FuncOp main, ArrayRef<Buffer> buffers, int64_t bytes) {
    Block &body = main.getBody().front();
    OpBuilder builder = OpBuilder::atBlockBegin(&body);
    Location loc = main.getLoc();
    auto type = MemRefType::get({bytes}, builder.getI8Type());
    Value scratch = body.addArgument(type, loc);
    SmallVector<Type> inputs(main.getFunctionType().getInputs());
    inputs.push_back(type);
    main.setType(builder.getFunctionType(inputs, {}));
    main.setArgAttr(inputs.size() - 1, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
    main->setAttr(scratchBytesAttrName, builder.getI64IntegerAttr(bytes));

    main.walk([](memref::DeallocOp dealloc) { dealloc.erase(); });
    for (Buffer buffer : buffers) {
      builder.setInsertionPointToStart(&body); // the first operation may be the one erased below
      Value offset = arith::ConstantIndexOp::create(builder, loc, buffer.offset);
      Value view = memref::ViewOp::create(builder, buffer.alloc.getLoc(), buffer.alloc.getType(), scratch,
                                          offset, ValueRange());
      buffer.alloc.replaceAllUsesWith(view);
      buffer.alloc.erase();
    }
  }
};

} // namespace
} // namespace cgx
