//===-- KeptElements.cpp - ops that keep a tensor's elements in place -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeptElements.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace cgx;

namespace {
enum class Keeping {
  Nothing,
  EqualSize,    // Operands that have as many elements as the result.
  Movement,     // Operands that are not index scalars, whatever their size.
  SamePosition, // The operand with the number of the result.
};
} // namespace

/// Ops are named, not named by class: a step may use ops of StableHLO that our
/// dialect does not define.
static Keeping classifyStablehlo(StringRef name) {
  return llvm::StringSwitch<Keeping>(name)
      .Cases({"abs", "add", "atan2", "cbrt", "ceil", "clamp", "complex", "cosine", "divide"},
             Keeping::EqualSize)
      .Cases({"exponential", "exponential_minus_one", "floor", "imag", "log", "log_plus_one"},
             Keeping::EqualSize)
      .Cases({"logistic", "maximum", "minimum", "multiply", "negate", "power", "real"}, Keeping::EqualSize)
      .Cases({"reduce_precision", "remainder", "round_nearest_afz", "round_nearest_even"}, Keeping::EqualSize)
      .Cases({"rsqrt", "select", "sign", "sine", "sqrt", "subtract", "tan", "tanh"}, Keeping::EqualSize)
      .Cases({"bitcast_convert", "broadcast_in_dim", "convert", "reshape", "reverse", "transpose"},
             Keeping::EqualSize)
      // The bits of floats, as stochastic rounding adds to them and cuts them.
      .Cases({"and", "or", "shift_left", "shift_right_arithmetic", "shift_right_logical"}, Keeping::EqualSize)
      .Case("reduce", Keeping::EqualSize)
      .Cases({"concatenate", "dynamic_slice", "dynamic_update_slice", "pad", "slice"}, Keeping::Movement)
      .Case("optimization_barrier", Keeping::SamePosition)
      // Before the import; after it, cgx's collectives are sources of their own.
      .Cases({"all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_permute"},
             Keeping::SamePosition)
      .Case("reduce_scatter", Keeping::SamePosition)
      .Default(Keeping::Nothing);
}

static Keeping classifyUpstream(Operation *op) {
  return llvm::StringSwitch<Keeping>(op->getName().getStringRef())
      .Cases({"linalg.add", "linalg.div", "linalg.generic", "linalg.mul", "linalg.sub"}, Keeping::EqualSize)
      .Cases({"linalg.transpose", "tensor.collapse_shape", "tensor.expand_shape", "tensor.reshape"},
             Keeping::EqualSize)
      .Cases({"tosa.abs", "tosa.add", "tosa.cast", "tosa.exp", "tosa.mul", "tosa.negate", "tosa.reciprocal"},
             Keeping::EqualSize)
      .Cases({"tosa.reshape", "tosa.rsqrt", "tosa.select", "tosa.sub", "tosa.tanh", "tosa.transpose"},
             Keeping::EqualSize)
      .Cases({"tensor.concat", "tensor.extract_slice", "tensor.insert_slice", "tosa.concat", "tosa.slice"},
             Keeping::Movement)
      .Default(op->hasTrait<OpTrait::Elementwise>() ? Keeping::EqualSize : Keeping::Nothing);
}

static Keeping classify(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  if (dialect == "stablehlo")
    return classifyStablehlo(op->getName().stripDialect());
  if (dialect == "chlo") // Elementwise, but for a few that change the size.
    return op->getName().stripDialect() == "top_k" ? Keeping::Nothing : Keeping::EqualSize;
  return classifyUpstream(op);
}

/// The number of elements, or -1 when it is not known or not numbers.
static int64_t getElementCount(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || tensor.getElementType().isInteger(1))
    return -1;
  return tensor.getNumElements();
}

/// A linalg.generic may also contract: it keeps what it reads through a
/// permutation of all its dimensions.
static bool isReadInPlace(OpOperand &operand) {
  auto maps =
      dyn_cast_or_null<ArrayAttr>(operand.getOwner()->getInherentAttr("indexing_maps").value_or(nullptr));
  if (!maps || operand.getOperandNumber() >= maps.size())
    return true;
  return cast<AffineMapAttr>(maps[operand.getOperandNumber()]).getValue().isPermutation() &&
         cast<AffineMapAttr>(maps.getValue().back()).getValue().isPermutation();
}

SmallVector<Value> cgx::getKeptOperands(OpResult result) {
  Operation *op = result.getOwner();
  SmallVector<Value> kept;
  int64_t count = getElementCount(result.getType());
  switch (classify(op)) {
  case Keeping::Nothing:
    break;
  case Keeping::SamePosition:
    kept.push_back(op->getOperand(result.getResultNumber()));
    break;
  case Keeping::EqualSize:
    for (OpOperand &operand : op->getOpOperands()) {
      // A reduction of several tensors reduces each on its own, and the initial
      // values follow the tensors.
      bool isOther = op->getNumResults() > 1 && operand.getOperandNumber() != result.getResultNumber();
      if (count >= 0 && !isOther && getElementCount(operand.get().getType()) == count &&
          isReadInPlace(operand))
        kept.push_back(operand.get());
    }
    break;
  case Keeping::Movement:
    for (Value operand : op->getOperands())
      if (getElementTypeOrSelf(operand.getType()) == getElementTypeOrSelf(result.getType()))
        kept.push_back(operand);
    break;
  }
  return kept;
}

bool cgx::isMadeByContraction(Value value) {
  SmallVector<Value> worklist{value};
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value current = worklist.pop_back_val();
    if (!seen.insert(current).second)
      continue;
    auto result = dyn_cast<OpResult>(current);
    if (!result)
      return true; // An argument, or what a loop carries.
    if (auto collective = dyn_cast<CollectiveOpInterface>(result.getOwner())) {
      worklist.push_back(collective.getInputs()[result.getResultNumber()]);
      continue;
    }
    if (auto wait = dyn_cast<WaitOp>(result.getOwner())) {
      worklist.push_back(wait.getCollective().getInputs()[result.getResultNumber()]);
      continue;
    }
    SmallVector<Value> kept = getKeptOperands(result);
    StringRef name = result.getOwner()->getName().stripDialect();
    bool isStatistic = name == "reduce" || name == "constant" || name == "iota" ||
                       name == "broadcast_in_dim" || name == "reduce_window";
    if (kept.empty() && !isStatistic)
      return true;
    worklist.append(kept);
  }
  return false;
}
