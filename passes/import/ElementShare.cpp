//===-- ElementShare.cpp - how much of one value is in another --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementShare.h"

#include "KeptElements.h"
#include "StateUpdates.h"
#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/RegionFlow.h"

#include <cmath>

using namespace mlir;
using namespace cgx;

static double getLarger(double a, double b) { return std::abs(a) >= std::abs(b) ? a : b; }

double ElementShare::in(Value value) {
  if (value == source)
    return 1;
  auto [known, isNew] = shares.try_emplace(value, 0);
  if (!isNew)
    return known->second;
  double share = 0;
  if (auto result = dyn_cast<OpResult>(value)) {
    share = compute(result);
  } else {
    // What a loop hands on to itself was something before.
    SmallVector<Value> incoming = getIncomingValues(value);
    if (!incoming.empty())
      share = in(incoming.front());
  }
  return shares[value] = share;
}

double ElementShare::compute(OpResult result) {
  Operation *op = result.getOwner();
  unsigned number = result.getResultNumber();
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    return in(collective.getInputs()[number]);
  if (SmallVector<Value> incoming = getIncomingValues(result); !incoming.empty()) {
    double share = 0;
    for (Value each : incoming)
      share = getLarger(share, in(each));
    return share;
  }
  SmallVector<Value> kept = getKeptOperands(result);
  if (kept.empty())
    return 0;
  StringRef name = op->getName().stripDialect();
  if (name == "add")
    return in(op->getOperand(0)) + in(op->getOperand(1));
  if (name == "subtract")
    return in(op->getOperand(0)) - in(op->getOperand(1));
  if (name == "negate")
    return -in(op->getOperand(0));
  if (name == "multiply" || name == "divide")
    return computeOfProduct(op);
  const bool isMoved =
      llvm::is_contained({"broadcast_in_dim", "clamp", "concatenate", "convert", "dynamic_slice",
                          "dynamic_update_slice", "maximum", "minimum", "optimization_barrier", "pad",
                          "reduce", "reduce_precision", "reshape", "reverse", "select", "slice", "transpose"},
                         name);
  double share = 0;
  for (Value operand : isMoved ? ArrayRef<Value>(kept) : ArrayRef<Value>())
    share = getLarger(in(operand), share);
  return share;
}

/// One of two operands has a share; the other is a factor.
double ElementShare::computeOfProduct(Operation *op) {
  double left = in(op->getOperand(0)), right = in(op->getOperand(1));
  const bool isQuotient = op->getName().stripDialect() == "divide";
  if ((left != 0) == (right != 0))
    return 0;
  if (isQuotient) {
    std::optional<double> divisor = getKnownFactor(op->getOperand(1));
    return divisor ? left / *divisor : left * unknown;
  }
  return left != 0 ? left * getKnownFactor(op->getOperand(1)).value_or(unknown)
                   : right * getKnownFactor(op->getOperand(0)).value_or(unknown);
}
