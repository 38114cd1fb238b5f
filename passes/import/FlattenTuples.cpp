//===-- FlattenTuples.cpp - tuples become their elements ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass walks once in program order. A tuple is recorded as its elements, and ops that take or return
// tuples are rebuilt with elements in their places; regions and functions take elements as arguments, too.
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Import.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cgx {
#define GEN_PASS_DEF_FLATTENTUPLESPASS
#include "cgx/Passes/Import.h.inc"
} // namespace cgx

using namespace mlir;
using namespace cgx;

static bool isTuple(Type type) { return isa<TupleType>(type); }

static void appendFlattened(Type type, SmallVectorImpl<Type> &types) {
  if (auto tuple = dyn_cast<TupleType>(type))
    tuple.getFlattenedTypes(types);
  else
    types.push_back(type);
}

static SmallVector<Type> getFlattened(TypeRange types) {
  SmallVector<Type> flattened;
  for (Type type : types)
    appendFlattened(type, flattened);
  return flattened;
}

namespace {
class TupleFlattener {
public:
  void flatten(func::FuncOp function) {
    FunctionType type = function.getFunctionType();
    SmallVector<Type> inputs = getFlattened(type.getInputs()), results = getFlattened(type.getResults());
    if (llvm::any_of(type.getInputs(), isTuple) || llvm::any_of(type.getResults(), isTuple)) {
      // Attributes of a tuple do not apply to its elements.
      SmallVector<DictionaryAttr> arguments, returned;
      for (unsigned i = 0; i < type.getNumInputs(); ++i)
        appendAttributes(type.getInput(i), function.getArgAttrDict(i), arguments);
      for (unsigned i = 0; i < type.getNumResults(); ++i)
        appendAttributes(type.getResult(i), function.getResultAttrDict(i), returned);
      function.setFunctionType(FunctionType::get(function.getContext(), inputs, results));
      function.setAllArgAttrs(arguments);
      function.setAllResultAttrs(returned);
    }
    for (Block &block : function.getBody())
      flatten(block);
  }

private:
  static void appendAttributes(Type type, DictionaryAttr attributes, SmallVectorImpl<DictionaryAttr> &to) {
    auto empty = DictionaryAttr::get(type.getContext());
    if (isTuple(type))
      to.append(getFlattened(type).size(), empty);
    else
      to.push_back(attributes ? attributes : empty);
  }

  void flatten(Block &block) {
    for (unsigned i = 0; i < block.getNumArguments();) {
      BlockArgument argument = block.getArgument(i++);
      if (!isTuple(argument.getType()))
        continue;
      SmallVector<Value> parts;
      for (Type type : getFlattened(argument.getType()))
        parts.push_back(block.insertArgument(i++, type, argument.getLoc()));
      elements[argument] = std::move(parts);
    }
    size_t before = replaced.size();
    for (Operation &op : llvm::make_early_inc_range(block))
      flatten(&op);
    // Users are erased before the ops that they use.
    while (replaced.size() > before)
      replaced.pop_back_val()->erase();
    block.eraseArguments([](BlockArgument argument) { return isTuple(argument.getType()); });
  }

  void flatten(Operation *op) {
    bool hasTuple =
        llvm::any_of(op->getOperandTypes(), isTuple) || llvm::any_of(op->getResultTypes(), isTuple);
    if (!hasTuple) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          flatten(block);
      return;
    }
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      appendElements(operand, operands);
    if (isa<stablehlo::TupleOp>(op))
      elements[op->getResult(0)] = operands;
    else if (auto get = dyn_cast<stablehlo::GetTupleElementOp>(op))
      select(get, operands);
    else
      rebuild(op, operands);
    replaced.push_back(op);
  }

  /// Selects the flattened elements of one element, which may be a tuple itself.
  void select(stablehlo::GetTupleElementOp op, ArrayRef<Value> flattened) {
    auto types = cast<TupleType>(op.getOperand().getType()).getTypes();
    size_t first = getFlattened(types.take_front(op.getIndex())).size();
    ArrayRef<Value> parts = flattened.slice(first, getFlattened(op.getResult().getType()).size());
    if (isTuple(op.getResult().getType()))
      elements[op.getResult()] = SmallVector<Value>(parts);
    else
      op.getResult().replaceAllUsesWith(parts.front());
  }

  void rebuild(Operation *op, ArrayRef<Value> operands) {
    OpBuilder builder(op);
    OperationState state(op->getLoc(), op->getName(), operands, getFlattened(op->getResultTypes()),
                         op->getDiscardableAttrDictionary().getValue(), op->getSuccessors());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    for (Region &region : op->getRegions())
      state.addRegion()->takeBody(region);
    Operation *flat = builder.create(state);
    unsigned next = 0;
    for (Value result : op->getResults()) {
      if (!isTuple(result.getType())) {
        result.replaceAllUsesWith(flat->getResult(next++));
        continue;
      }
      SmallVector<Value> &parts = elements[result];
      for (size_t i = getFlattened(result.getType()).size(); i > 0; --i)
        parts.push_back(flat->getResult(next++));
    }
    for (Region &region : flat->getRegions())
      for (Block &block : region)
        flatten(block);
  }

  void appendElements(Value value, SmallVectorImpl<Value> &to) {
    if (isTuple(value.getType()))
      llvm::append_range(to, elements.lookup(value));
    else
      to.push_back(value);
  }

  DenseMap<Value, SmallVector<Value>> elements;
  SmallVector<Operation *> replaced; // in program order
};

struct FlattenTuplesPass : cgx::impl::FlattenTuplesPassBase<FlattenTuplesPass> {
  void runOnOperation() final {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (usesTuples(function))
        TupleFlattener().flatten(function);
  }

  static bool usesTuples(func::FuncOp function) {
    FunctionType type = function.getFunctionType();
    return llvm::any_of(type.getInputs(), isTuple) || llvm::any_of(type.getResults(), isTuple) ||
           function
               .walk([](Operation *op) {
                 return llvm::any_of(op->getResultTypes(), isTuple) ? WalkResult::interrupt()
                                                                    : WalkResult::advance();
               })
               .wasInterrupted();
  }
};
} // namespace
