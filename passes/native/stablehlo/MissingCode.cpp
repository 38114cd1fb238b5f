//===-- MissingCode.cpp - Errors for ops without native code ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "MissingCode.h"

#include "cgx/Dialect/Stablehlo/ChloDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace cgx {
namespace {

/// Returns whether lowering continues from this op. Ops of the exported form, and of unknown dialects, have
/// no lowering. Dialects are compared by name, since a dialect that is not loaded has no class.
bool hasCode(Operation *op) {
  Dialect *dialect = op->getDialect();
  return dialect &&
         llvm::is_contained({"affine", "arith", "bufferization", "builtin", "cf", "cgx", "cgx_rt", "func",
                             "index", "linalg", "llvm", "math", "memref", "scf", "tensor", "ub", "vector"},
                            dialect->getNamespace());
}

bool hasDynamicShape(Operation *op) {
  auto isDynamic = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return shaped && !shaped.hasStaticShape();
  };
  return llvm::any_of(op->getOperandTypes(), isDynamic) || llvm::any_of(op->getResultTypes(), isDynamic);
}

bool isQuantized(Operation *op) {
  auto isQuantizedType = [](Type type) { return stablehlo::isQuantized(getElementTypeOrSelf(type)); };
  return llvm::any_of(op->getOperandTypes(), isQuantizedType) ||
         llvm::any_of(op->getResultTypes(), isQuantizedType);
}

StringRef cureOfCall(StringRef target) {
  if (target.contains("callback"))
    return "the step uses what Python returns: compute it in JAX, or before the step as an argument; "
           "callbacks whose results are not used are dropped";
  if (target.starts_with("xla.sdy."))
    return "it is how XLA keeps Shardy's shardings in HLO: give the step as JAX prints it, by "
           "lower(...).as_text(), with its sdy.sharding attributes";
  if (target.starts_with("cu") || target.starts_with("hip") || target.starts_with("__") ||
      target.contains("triton") || target == "tpu_custom_call")
    return "it is a call of an accelerator's library: export the step with JAX_PLATFORMS=cpu, where JAX "
           "writes it in operations, or run the step inside of JAX (cgx_jax)";
  return "no library of XLA is there: compute it by operations of JAX, or run the step inside of JAX "
         "(cgx_jax)";
}

/// Returns the alternative to the op.
StringRef cureOf(Operation *op) {
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
    return cureOfCall(call.getCallTargetName());
  if (!op->getDialect())
    return "its dialect is unknown: export the step as StableHLO";
  if (hasDynamicShape(op))
    return "its shape is not static: export the step for the shapes that it runs with";
  if (isQuantized(op))
    return "quantized types have no native code: export the step in floats, or with scales and integers of "
           "its own";
  if (isa<stablehlo::InfeedOp, stablehlo::OutfeedOp, stablehlo::SendOp, stablehlo::RecvOp>(op))
    return "make what it receives an argument of the step, and what it sends a result";
  if (isa<stablehlo::RngOp>(op))
    return "its random numbers depend on hidden state: use jax.random";
  if (isa<stablehlo::RngBitGeneratorOp>(op))
    return "use threefry2x32 or rbg keys, and integers of 8 to 64 bits, as jax.random does";
  if (isa<stablehlo::AllReduceOp, stablehlo::ReduceScatterOp>(op))
    return "ranks reduce by the sum, product, maximum, minimum, and, or, xor of its two arguments only";
  if (isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp, stablehlo::ScatterOp, stablehlo::SelectAndScatterOp,
          stablehlo::SortOp, stablehlo::MapOp>(op))
    return "its function may consist of elementwise operations on its arguments only";
  return "compute it by other operations, or run the step inside of JAX (cgx_jax), where XLA has it";
}

} // namespace

StringAttr kindOf(Operation *op) {
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
    return StringAttr::get(op->getContext(), op->getName().getStringRef() + " @" + call.getCallTargetName());
  return op->getName().getIdentifier();
}

LogicalResult reportMissingCode(ModuleOp module) {
  llvm::MapVector<StringAttr, SmallVector<Operation *, 1>> missing;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (hasCode(op))
      return WalkResult::advance();
    missing[kindOf(op)].push_back(op);
    return WalkResult::skip();
  });
  if (missing.empty())
    return success();
  InFlightDiagnostic error = missing.front().second.front()->emitError("native code is missing for ");
  llvm::interleaveComma(missing, error, [&](auto &entry) {
    error << entry.first.getValue() << " (" << entry.second.size() << ")";
  });
  for (auto &[kind, ops] : missing) {
    Operation *first = ops.front();
    Diagnostic &note = error.attachNote(first->getLoc());
    note << kind.getValue() << (ops.size() > 1 ? ", the first" : "");
    if (first->getNumOperands() > 0)
      note << ", from " << first->getOperandTypes();
    if (first->getNumResults() > 0)
      note << (first->getNumOperands() > 0 ? " to " : ", of ") << first->getResultTypes();
    note << ": " << cureOf(first);
  }
  return error;
}

} // namespace cgx
