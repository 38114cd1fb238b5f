//===-- OutlineLoops.cpp - Loop nests as functions of their own -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "BufferRange.h"
#include "StepSignature.h"
#include "cgx/Passes/Native.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include <unordered_map>

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_OUTLINELOOPSPASS
#include "cgx/Passes/Native.h.inc"

namespace {

/// The most loops of an outlined function. Of a larger nest, the inner nests are outlined instead: LLVM's
/// time grows faster than a function.
constexpr unsigned maxLoopsOfFunction = 32;

/// Returns whether the buffer goes to a function as one pointer.
bool isPointer(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return type.hasStaticShape() && succeeded(type.getStridesAndOffset(strides, offset)) &&
         ShapedType::isStatic(offset) && llvm::none_of(strides, ShapedType::isDynamic);
}

/// The values that a nest reads from around it: those that become parameters, and those that are computed
/// again inside, in their order.
class Captures {
public:
  explicit Captures(Operation *nest) {
    nest->walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (!nest->isAncestor(operand.getParentRegion()->getParentOp()))
          add(operand);
    });
  }

  ArrayRef<Value> getParameters() const { return parameters; }
  ArrayRef<Operation *> getRecomputed() const { return recomputed; }
  /// Returns whether all parameters are scalars, vectors, or buffers that are one pointer.
  bool isPassable() const {
    return llvm::all_of(parameters, [](Value value) {
      auto buffer = dyn_cast<MemRefType>(value.getType());
      return buffer ? isPointer(buffer)
                    : isa<VectorType>(value.getType()) || value.getType().isIntOrIndexOrFloat();
    });
  }

private:
  void add(Value value) {
    if (!seen.insert(value).second)
      return;
    Operation *op = value.getDefiningOp();
    auto buffer = dyn_cast<MemRefType>(value.getType());
    // A view at a place that is known at run time only has no pointer of its own.
    bool isView = op && buffer && !isPointer(buffer) && isa<ViewLikeOpInterface>(op);
    if (!isView && !(op && op->hasTrait<OpTrait::ConstantLike>())) {
      parameters.push_back(value);
      return;
    }
    for (Value operand : op->getOperands())
      add(operand);
    recomputed.push_back(op);
  }

  DenseSet<Value> seen;
  SmallVector<Value> parameters;
  SmallVector<Operation *> recomputed;
};

/// Returns whether the op is a loop that calls nothing, with few loops in it.
bool isNest(Operation *op) {
  unsigned loops = 0;
  return isa<scf::ForOp>(op) && !op->walk([&](Operation *inner) {
                                     loops += isa<LoopLikeOpInterface>(inner);
                                     return isa<CallOpInterface>(inner) || loops > maxLoopsOfFunction
                                                ? WalkResult::interrupt()
                                                : WalkResult::advance();
                                   }).wasInterrupted();
}

struct OutlineLoopsPass : impl::OutlineLoopsPassBase<OutlineLoopsPass> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> main = lookupMain(getOperation());
    if (failed(main))
      return signalPassFailure();
    functions.clear(); // a pass may run on many modules
    functionCount = 0;
    visit(main->getBody().front(), *main);
  }

  void visit(Block &block, func::FuncOp main) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (isNest(&op) && outline(&op, main))
        continue;
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          visit(inner, main);
    }
  }

  bool outline(Operation *nest, func::FuncOp main) {
    Captures captures(nest);
    if (!captures.isPassable())
      return false;
    OpBuilder atNest(nest);
    func::FuncOp function = makeFunction(nest, captures, main);
    func::FuncOp equal = findEqual(function);
    auto call =
        func::CallOp::create(atNest, nest->getLoc(), equal ? equal : function, captures.getParameters());
    nest->replaceAllUsesWith(call.getResults());
    if (equal)
      function.erase();
    else
      add(function);
    nest->erase();
    return true;
  }

  /// Returns a function beside main with a copy of the nest.
  func::FuncOp makeFunction(Operation *nest, const Captures &captures, func::FuncOp main) {
    OpBuilder builder(main);
    Location loc = nest->getLoc();
    auto type =
        builder.getFunctionType(TypeRange(ValueRange(captures.getParameters())), nest->getResultTypes());
    auto function = func::FuncOp::create(builder, loc, "cgx_loops_" + std::to_string(functionCount), type);
    function.setPrivate();
    function->setAttr(outlinedAttrName, builder.getUnitAttr());
    // Put back into the step by LLVM, it would be compiled there again.
    function->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
    Block *body = function.addEntryBlock();
    setNoAlias(function, captures.getParameters());

    builder.setInsertionPointToStart(body);
    IRMapping values;
    for (auto [outer, inner] : llvm::zip_equal(captures.getParameters(), body->getArguments()))
      values.map(outer, inner);
    for (Operation *op : captures.getRecomputed())
      builder.clone(*op, values);
    Operation *copy = builder.clone(*nest, values);
    func::ReturnOp::create(builder, loc, copy->getResults());
    return function;
  }

  /// Marks parameters that do not alias: in one function LLVM saw which parts of the scratch memory are
  /// apart; now the parameters must say so.
  void setNoAlias(func::FuncOp function, ArrayRef<Value> parameters) {
    SmallVector<std::pair<unsigned, BufferRange>> buffers;
    for (auto [i, value] : llvm::enumerate(parameters))
      if (isa<MemRefType>(value.getType()))
        buffers.push_back({i, BufferRange::of(value)});
    for (auto &[i, range] : buffers)
      if (llvm::all_of(buffers, [&, i = i, &range = range](auto &other) {
            return other.first == i || range.isDisjointFrom(other.second);
          }))
        function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), UnitAttr::get(&getContext()));
  }

  //===--------------------------------------------------------------------===//
  // Equal functions
  //===--------------------------------------------------------------------===//

  static llvm::hash_code hash(func::FuncOp function) {
    llvm::hash_code code = mlir::hash_value(function.getFunctionType());
    function.getBody().walk([&](Operation *op) {
      code = llvm::hash_combine(code,
                                OperationEquivalence::computeHash(op, OperationEquivalence::ignoreHashValue,
                                                                  OperationEquivalence::ignoreHashValue,
                                                                  OperationEquivalence::IgnoreLocations));
    });
    return code;
  }

  func::FuncOp findEqual(func::FuncOp function) {
    for (func::FuncOp other : functions[hash(function)])
      if (other.getFunctionType() == function.getFunctionType() &&
          other.getArgAttrsAttr() == function.getArgAttrsAttr() &&
          OperationEquivalence::isRegionEquivalentTo(&other.getBody(), &function.getBody(),
                                                     OperationEquivalence::IgnoreLocations))
        return other;
    return {};
  }

  void add(func::FuncOp function) {
    functions[hash(function)].push_back(function);
    ++functionCount;
  }

  std::unordered_map<size_t, SmallVector<func::FuncOp, 1>> functions;
  unsigned functionCount = 0;
};

} // namespace
} // namespace cgx
