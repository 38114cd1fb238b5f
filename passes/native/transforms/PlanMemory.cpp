//===-- PlanMemory.cpp - All temporaries in one block of memory ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// Time is the position of an operation in the body of main; ops in a nested region have the time of the
// operation that holds it. A buffer lives from the first to the last operation that touches it or a view of
// it. Two buffers that live at a common time get disjoint bytes: placed largest first, each at the lowest
// offset that is free. A buffer allocated in a loop does not outlive an iteration, because bufferization
// copies the values that a loop yields; so one place for all iterations is enough.
//
// An elementwise operation that is the last to read a buffer may write its result over it: both are one
// buffer then, as long as nothing else of the operation looks at other elements of it.
//
//===----------------------------------------------------------------------------===//
#include "StepSignature.h"
#include "cgx/Passes/Native.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

#include <array>
#include <functional>
#include <limits>

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "cgx/Passes/Native.h.inc"

namespace {

/// Every buffer starts on a cache line of its own, which is also the widest vector.
constexpr int64_t alignment = 64;

struct Buffer {
  memref::AllocOp alloc;
  int64_t bytes;
  int64_t first, last; // times, inclusive
  int64_t offset = 0;
  Buffer *over = nullptr; ///< whose place it has: one that ends where this one begins

  Buffer &root() { return over ? over->root() : *this; }
};

/// An operand that is read for the last time where its place is written.
struct InPlace {
  OpOperand *read, *written;
};

FailureOr<int64_t> sizeOf(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  Type element = type.getElementType();
  if (!type.hasStaticShape() || !type.getLayout().isIdentity() || !element.isIntOrIndexOrFloat())
    return alloc.emitError("expected a temporary of static shape and dense layout, got ") << type;
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return type.getNumElements() * static_cast<int64_t>(llvm::divideCeil(bits, 8));
}

/// Offsets of buffers that are placed one after the other, each at the lowest offset that is free; and the
/// bytes that all of them need.
std::pair<SmallVector<int64_t>, int64_t> placeInOrder(ArrayRef<Buffer *> order) {
  SmallVector<int64_t> offsets;
  SmallVector<std::pair<int64_t, const Buffer *>> placed; // by offset
  int64_t total = 0;
  for (const Buffer *buffer : order) {
    int64_t offset = 0;
    for (auto [begin, other] : placed) {
      if (other->last < buffer->first || buffer->last < other->first)
        continue;
      if (offset + buffer->bytes <= begin)
        break;
      offset = std::max<int64_t>(offset, llvm::alignTo(begin + other->bytes, alignment));
    }
    offsets.push_back(offset);
    total = std::max(total, offset + buffer->bytes);
    placed.insert(
        llvm::upper_bound(placed, offset, [](int64_t value, const auto &one) { return value < one.first; }),
        {offset, buffer});
  }
  return {offsets, total};
}

/// Gives each buffer an offset, and returns the bytes that all of them need. The order with the fewest holes
/// depends on the program: largest first, most bytes times lifetime first, or longest lifetime first.
int64_t place(MutableArrayRef<Buffer> buffers) {
  const auto bytes = [](const Buffer &buffer) { return double(buffer.bytes); };
  const auto time = [](const Buffer &buffer) { return double(buffer.last - buffer.first + 1); };
  const std::array<std::function<double(const Buffer &)>, 3> sizes = {
      bytes, [&](const Buffer &buffer) { return bytes(buffer) * time(buffer); }, time};

  int64_t least = std::numeric_limits<int64_t>::max();
  for (const auto &size : sizes) {
    SmallVector<Buffer *> order;
    for (Buffer &buffer : buffers)
      if (!buffer.over)
        order.push_back(&buffer);
    llvm::stable_sort(order, [&](const Buffer *a, const Buffer *b) { return size(*a) > size(*b); });
    auto [offsets, total] = placeInOrder(order);
    if (total >= least)
      continue;
    least = total;
    for (auto [buffer, offset] : llvm::zip_equal(order, offsets))
      buffer->offset = offset;
  }
  for (Buffer &buffer : buffers)
    buffer.offset = buffer.root().offset;
  return least;
}

/// Finds buffers that can be written over others.
class InPlaceBuffers {
public:
  InPlaceBuffers(Block &body, const DenseMap<Operation *, int64_t> &times, BufferViewFlowAnalysis &views,
                 MutableArrayRef<Buffer> buffers)
      : times(times), views(views) {
    for (Buffer &buffer : buffers)
      bufferOf[buffer.alloc] = &buffer;
    // Ops are visited in the order of time: a buffer that was written over another may be written over.
    for (auto op : body.getOps<linalg::GenericOp>())
      if (op.getNumParallelLoops() == op.getNumLoops() && op.getNumDpsInits() == 1)
        visit(op);
  }

  ArrayRef<InPlace> get() const { return found; }

private:
  void visit(linalg::GenericOp op) {
    const int64_t now = times.lookup(op);
    OpOperand &init = *op.getDpsInitOperand(0);
    Buffer *written = findWhole(init.get());
    if (!written || written->over || written->first != now || op.payloadUsesValueFromOperand(&init) ||
        !op.getMatchingIndexingMap(&init).isIdentity())
      return;
    for (OpOperand *input : op.getDpsInputOperands()) {
      Buffer *read = findWhole(input->get());
      if (!read || input->get().getType() != init.get().getType() || read->bytes != written->bytes ||
          read->root().last != now || !op.getMatchingIndexingMap(input).isIdentity() ||
          isReadElsewhere(op, input, *read))
        continue;
      written->over = read;
      read->root().last = written->last;
      found.push_back({input, &init});
      return;
    }
  }

  /// Returns the buffer all of which this is, seen in one way or another.
  Buffer *findWhole(Value value) const {
    while (Operation *op = value.getDefiningOp()) {
      if (auto alloc = dyn_cast<memref::AllocOp>(op))
        return bufferOf.lookup(alloc);
      if (!isa<memref::CollapseShapeOp, memref::ExpandShapeOp>(op))
        return nullptr;
      value = op->getOperand(0);
    }
    return nullptr;
  }

  /// Returns whether the buffer is read by another operand, or through a view.
  bool isReadElsewhere(linalg::GenericOp op, OpOperand *input, Buffer &buffer) {
    SmallPtrSet<Value, 16> places;
    for (Buffer *member = &buffer; member; member = member->over)
      places.insert_range(views.resolve(member->alloc.getMemref()));
    bool isElsewhere = llvm::any_of(op->getOpOperands(), [&](OpOperand &other) {
      return &other != input && places.contains(other.get());
    });
    op.getRegion().walk([&](Operation *inner) {
      isElsewhere |= llvm::any_of(inner->getOperands(), [&](Value value) { return places.contains(value); });
    });
    return isElsewhere;
  }

  const DenseMap<Operation *, int64_t> &times;
  BufferViewFlowAnalysis &views;
  DenseMap<Operation *, Buffer *> bufferOf;
  SmallVector<InPlace> found;
};

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

    InPlaceBuffers inPlace(body, times, views, buffers);
    int64_t bytes = place(buffers);
    addScratch(main, buffers, bytes);
    // Both get one address, so that later passes need not prove that they are the same.
    for (const InPlace &both : inPlace.get())
      both.read->set(both.written->get());
    return success();
  }

  void addScratch(func::FuncOp main, MutableArrayRef<Buffer> buffers, int64_t bytes) {
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
    for (Buffer &buffer : buffers) {
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
