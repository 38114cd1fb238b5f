//===-- PropagationVerifiers.cpp - verifiers of ops that a partitioner leaves -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Sdy/SdyDialect.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace cgx::sdy;

static LogicalResult verifyStaticShape(Operation *op, Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (shaped && shaped.hasStaticShape())
    return success();
  return op->emitOpError() << "expected a value of static shape, got " << type;
}

static LogicalResult verifyOneUse(Operation *op, Value value) {
  if (value.hasOneUse())
    return success();
  return op->emitOpError() << "expected an operand without other uses, got one with "
                           << std::distance(value.use_begin(), value.use_end());
}

LogicalResult DataFlowEdgeOp::verify() {
  if (failed(verifyStaticShape(*this, getType())) || // (C1)
      (getSharding() &&
       failed(getSharding()->verifyForType(getType(), *this, [&] { return emitOpError(); }))) ||
      failed(verifyOneUse(*this, getInput()))) // (C2)
    return failure();
  Operation *source = getInput().getDefiningOp();
  if (source && isa<SdyDialect>(source->getDialect())) // (C2)
    return emitOpError() << "expected an input that no op of sdy defines, got that of '" << source->getName()
                         << "'";
  return success();
}

LogicalResult FuncDataFlowEdgeOp::verify() {
  if (failed(verifyStaticShape(*this, getType())) || failed(verifyOneUse(*this, getOperand()))) // (C1), (C2)
    return failure();
  auto argument = dyn_cast<BlockArgument>(getOperand());
  Operation *source = argument ? argument.getOwner()->getParentOp() : getOperand().getDefiningOp();
  if (argument ? !isa<FunctionOpInterface>(source) : !isa<CallOpInterface>(source)) // (C3)
    return emitOpError() << "expected an argument of a function or a result of a call, got one of '"
                         << source->getName() << "'";
  return success();
}

LogicalResult PropagationBarrierOp::verify() {
  if (getAllowedDirection() == PropagationDirection::Both) // (C1)
    return emitOpError() << "expected NONE, FORWARD or BACKWARD, got BOTH, which is no barrier";
  return success();
}

/// Verifies (C1) and (C2): values of the region and of the op have the same types, one by one.
static LogicalResult verifySide(NamedComputationOp op, StringRef inner, TypeRange innerTypes, StringRef outer,
                                TypeRange outerTypes) {
  if (innerTypes.size() != outerTypes.size())
    return op.emitOpError() << "expected one " << inner << " per " << outer << ", " << outerTypes.size()
                            << ", got " << innerTypes.size();
  for (auto [index, in, out] : llvm::enumerate(innerTypes, outerTypes))
    if (in != out)
      return op.emitOpError() << "expected " << inner << " " << index << " to be " << out << ", got " << in;
  return success();
}

/// Verifies (C3).
static LogicalResult verifyShardings(NamedComputationOp op,
                                     std::optional<TensorShardingPerValueAttr> shardings, StringRef what,
                                     TypeRange types) {
  if (!shardings)
    return success();
  if (shardings->getShardings().size() != types.size())
    return op.emitOpError() << "expected one sharding per " << what << ", " << types.size() << ", got "
                            << shardings->getShardings().size();
  for (auto [index, sharding, type] : llvm::enumerate(shardings->getShardings(), types)) {
    auto emitError = [&, index = index] { return op.emitOpError() << what << " " << index << ": "; };
    if (failed(sharding.verifyForType(type, op, emitError)))
      return failure();
  }
  return success();
}

LogicalResult NamedComputationOp::verify() {
  auto terminator = dyn_cast<ReturnOp>(getBody().front().getTerminator());
  if (!terminator)
    return emitOpError() << "expected the region to end in sdy.return";
  return success(succeeded(verifySide(*this, "block argument", getBody().getArgumentTypes(), "operand",
                                      getOperandTypes())) &&
                 succeeded(verifySide(*this, "returned value", terminator.getOperandTypes(), "result",
                                      getResultTypes())) &&
                 succeeded(verifyShardings(*this, getInShardings(), "operand", getOperandTypes())) &&
                 succeeded(verifyShardings(*this, getOutShardings(), "result", getResultTypes())));
}
