//===-- Split.cpp - Modules that are compiled in parallel -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "Split.h"

#include "cgx/Passes/Native.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace cgx::compile {
namespace {

struct Function {
  LLVM::LLVMFuncOp op;
  SmallVector<LLVM::LLVMFuncOp> callees; ///< functions of other libraries
  size_t operations;
};

/// Lists the symbols that have to move with a function. Returns nothing if one of them is no declaration,
/// because the function then stays.
std::optional<Function> describe(LLVM::LLVMFuncOp op, SymbolTable &symbols) {
  Function function{op, {}, 0};
  op.getBody().walk([&](Operation *) { ++function.operations; });
  std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(&op.getBody());
  if (!uses)
    return std::nullopt;
  for (SymbolTable::SymbolUse use : *uses) {
    auto callee = symbols.lookup<LLVM::LLVMFuncOp>(use.getSymbolRef().getRootReference());
    if (!callee || !callee.isExternal())
      return std::nullopt;
    if (!llvm::is_contained(function.callees, callee))
      function.callees.push_back(callee);
  }
  return function;
}

void move(Function &function, ModuleOp to) {
  auto atEnd = OpBuilder::atBlockEnd(to.getBody());
  for (LLVM::LLVMFuncOp callee : function.callees)
    if (!to.lookupSymbol(callee.getName()))
      atEnd.clone(*callee);
  function.op.setLinkage(LLVM::Linkage::External);
  function.op.setVisibility_(LLVM::Visibility::Hidden);
  auto moved = cast<LLVM::LLVMFuncOp>(atEnd.cloneWithoutRegions(*function.op));
  moved.getBody().takeBody(function.op.getBody());
}

} // namespace

std::vector<OwningOpRef<ModuleOp>> splitOutlined(ModuleOp module, unsigned count) {
  SymbolTable symbols(module);
  std::vector<Function> functions;
  for (auto op : module.getOps<LLVM::LLVMFuncOp>())
    if (op->hasAttr(outlinedAttrName))
      if (std::optional<Function> function = describe(op, symbols))
        functions.push_back(std::move(*function));
  // The largest function goes first, each to the module with the least code.
  llvm::stable_sort(functions,
                    [](const Function &a, const Function &b) { return a.operations > b.operations; });
  std::vector<OwningOpRef<ModuleOp>> parts;
  std::vector<size_t> sizes;
  for (Function &function : functions) {
    if (parts.size() < count) {
      parts.push_back(ModuleOp::create(module.getLoc()));
      parts.back()->getOperation()->setDiscardableAttrs(module->getDiscardableAttrDictionary());
      sizes.push_back(0);
    }
    size_t least = llvm::min_element(sizes) - sizes.begin();
    sizes[least] += function.operations;
    move(function, *parts[least]);
  }
  return parts;
}

} // namespace cgx::compile
