//===-- ElementShare.cpp - the share of one value in another ---*- C++ -*-===//
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
    // A value that a loop hands on to itself came into the loop first.
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
  if (isa<stablehlo::AddOp>(op))
    return in(op->getOperand(0)) + in(op->getOperand(1));
  if (isa<stablehlo::SubtractOp>(op))
    return in(op->getOperand(0)) - in(op->getOperand(1));
  if (isa<stablehlo::NegOp>(op))
    return -in(op->getOperand(0));
  if (isa<stablehlo::MulOp, stablehlo::DivOp>(op))
    return computeOfProduct(op);
  const bool isMoved =
      isa<stablehlo::BroadcastInDimOp, stablehlo::ClampOp, stablehlo::ConcatenateOp, stablehlo::ConvertOp,
          stablehlo::DynamicSliceOp, stablehlo::DynamicUpdateSliceOp, stablehlo::MaxOp, stablehlo::MinOp,
          stablehlo::OptimizationBarrierOp, stablehlo::PadOp, stablehlo::ReduceOp,
          stablehlo::ReducePrecisionOp, stablehlo::ReshapeOp, stablehlo::ReverseOp, stablehlo::SelectOp,
          stablehlo::SliceOp, stablehlo::TransposeOp>(op);
  double share = 0;
  for (Value operand : isMoved ? ArrayRef<Value>(kept) : ArrayRef<Value>())
    share = getLarger(in(operand), share);
  return share;
}

/// Returns the share in a product: one of the two operands has a share, and the other is a factor.
double ElementShare::computeOfProduct(Operation *op) {
  double left = in(op->getOperand(0)), right = in(op->getOperand(1));
  if ((left != 0) == (right != 0))
    return 0;
  if (isa<stablehlo::DivOp>(op)) {
    std::optional<double> divisor = getKnownFactor(op->getOperand(1));
    return divisor ? left / *divisor : left * unknown;
  }
  return left != 0 ? left * getKnownFactor(op->getOperand(1)).value_or(unknown)
                   : right * getKnownFactor(op->getOperand(0)).value_or(unknown);
}
