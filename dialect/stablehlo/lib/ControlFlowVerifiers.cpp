//===-- ControlFlowVerifiers.cpp - verifiers of ops with regions -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Constraints.h"

using namespace mlir;
using namespace cgx::stablehlo;

LogicalResult ReduceOp::verify() {
  size_t count = getInputs().size();
  if (count == 0)
    return emitOpError() << "expected at least one operand";
  if (getNumResults() != count) // (C3)
    return emitOpError() << "expected " << count << " results, one per operand, got " << getNumResults();
  if (failed(verifySameShapes(*this, "operands", getInputs()))) // (C1)
    return failure();
  for (Value initial : getInitValues())
    if (failed(verifyRank(*this, "initial values", initial, 0)))
      return failure();
  RankedTensorType first = tensorOf(getInputs()[0]);
  SmallVector<Type> elements;
  SmallVector<bool> reduced(first.getRank());
  for (int64_t dim : getDimensions()) { // (C4), (C5)
    if (dim < 0 || dim >= first.getRank())
      return emitOpError() << "expected dimensions in range [0, " << first.getRank() << "), got " << dim;
    if (std::exchange(reduced[dim], true))
      return emitOpError() << "expected dimensions to be unique, got " << dim << " twice";
  }
  if (failed(verifyReducer(*this, "the body", getBody(), getInputs().getTypes(), getInitValues().getTypes(),
                           elements))) // (C2), (C6)
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t i = 0; i < first.getRank(); ++i)
    if (!reduced[i])
      shape.push_back(first.getDimSize(i));
  for (auto [result, element] : llvm::zip_equal(getResults(), elements)) // (C7), (C8)
    if (failed(verifyType(*this, result, RankedTensorType::get(shape, element))))
      return failure();
  return success();
}

/// Returns whether types are equal except for dimensions that only one of them knows.
static bool areCompatible(TypeRange a, TypeRange b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip_equal(a, b), [](auto pair) {
           auto [x, y] = pair;
           auto tensor = dyn_cast<RankedTensorType>(x), other = dyn_cast<RankedTensorType>(y);
           if (!tensor || !other)
             return x == y;
           return isCompatibleElement(tensor.getElementType(), other.getElementType()) &&
                  succeeded(verifyCompatibleShape(tensor, other));
         });
}

LogicalResult WhileOp::verify() {
  if (!areCompatible(getResultTypes(), getOperandTypes())) // (C3)
    return emitOpError() << "expected results of the types of the operands, " << getOperandTypes() << ", got "
                         << getResultTypes();
  for (Region *region : {&getCond(), &getBody()})
    if (!areCompatible(region->getArgumentTypes(), getOperandTypes())) // (C1), (C2)
      return emitOpError() << "expected the arguments of region " << region->getRegionNumber()
                           << " to have the types of the operands, " << getOperandTypes() << ", got "
                           << region->getArgumentTypes();
  Type pred = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  if (failed(verifyReturned(*this, "cond", getCond(), pred))) // (C1)
    return failure();
  if (!areCompatible(getReturnedTypes(getBody()), getOperandTypes())) // (C2)
    return emitOpError() << "expected the body to return the types of the operands, " << getOperandTypes()
                         << ", got " << getReturnedTypes(getBody());
  return success();
}

/// Branches take nothing, and return what the op does.
static LogicalResult verifyBranches(Operation *op, Value selector) {
  if (failed(verifyRank(op, "the operand", selector, 0)))
    return failure();
  for (Type type : op->getResultTypes())
    if (isa<MemRefType>(type))
      return op->emitOpError() << "expected tensors, tokens or tuples as results, got " << type;
  for (Region &branch : op->getRegions()) {
    if (branch.getNumArguments() != 0)
      return op->emitOpError() << "expected branches without arguments, got " << branch.getNumArguments()
                               << " of branch " << branch.getRegionNumber();
    if (!areCompatible(getReturnedTypes(branch), op->getResultTypes()))
      return op->emitOpError() << "expected branch " << branch.getRegionNumber()
                               << " to return the results' types, " << op->getResultTypes() << ", got "
                               << getReturnedTypes(branch);
  }
  return success();
}

LogicalResult IfOp::verify() { return verifyBranches(*this, getPred()); } // (C1) to (C3)

LogicalResult CaseOp::verify() {
  if (getBranches().empty()) // (C1)
    return emitOpError() << "expected at least one branch";
  return verifyBranches(*this, getIndex()); // (C2) to (C4)
}

LogicalResult MapOp::verify() {
  if (getInputs().empty())
    return emitOpError() << "expected at least one operand";
  if (!llvm::equal(getDimensions(), llvm::seq<int64_t>(0, tensorOf(getInputs()[0]).getRank()))) // (C3)
    return emitOpError() << "expected dimensions to be all of the operands, in order, got "
                         << textOf(getDimensions());
  SmallVector<Type> arguments;
  for (Value input : getInputs())
    arguments.push_back(RankedTensorType::get({}, tensorOf(input).getElementType()));
  Type returned = RankedTensorType::get({}, tensorOf(getResult()).getElementType());
  return success(succeeded(verifyArguments(*this, "the computation", getComputation(), arguments)) && // (C4)
                 succeeded(verifyReturned(*this, "the computation", getComputation(), returned)));
}

LogicalResult SortOp::verify() {
  if (getInputs().empty()) // (C1)
    return emitOpError() << "expected at least one operand";
  if (!areCompatible(getResultTypes(), getOperandTypes())) // (C2)
    return emitOpError() << "expected results of the types of the operands, " << getOperandTypes() << ", got "
                         << getResultTypes();
  int64_t rank = tensorOf(getInputs()[0]).getRank(), dim = static_cast<int64_t>(getDimension());
  if (dim < -rank || dim >= rank) // (C4)
    return emitOpError() << "expected dimension in range [" << -rank << ", " << rank << "), got " << dim;
  SmallVector<Type> arguments;
  for (Value input : getInputs())
    arguments.append(2, RankedTensorType::get({}, tensorOf(input).getElementType()));
  Type pred = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  return success(succeeded(verifyArguments(*this, "the comparator", getComparator(), arguments)) && // (C5)
                 succeeded(verifyReturned(*this, "the comparator", getComparator(), pred)));
}

//===----------------------------------------------------------------------===//
// Asynchronous ops
//===----------------------------------------------------------------------===//

LogicalResult AsyncStartOp::verify() {
  Block &body = getBody().front();
  if (body.getOperations().size() != 2 || !isa<ReturnOp>(body.back())) // (C1)
    return emitOpError() << "expected one op and stablehlo.return in the body, got "
                         << body.getOperations().size() << " ops";
  if (!isa<AllGatherOp, AllReduceOp, AllToAllOp, CollectiveBroadcastOp, CollectivePermuteOp,
           CollectiveReduceOp, ReduceScatterOp, SliceOp, DynamicSliceOp, DynamicUpdateSliceOp>(
          body.front())) // (C2)
    return emitOpError() << "expected a collective or a slice in the body, got '" << body.front().getName()
                         << "'";
  if (failed(verifyArguments(*this, "the body", getBody(), getOperandTypes()))) // (C3)
    return failure();
  if (body.front().getOperandTypes() != getOperandTypes()) // (C3)
    return emitOpError() << "expected '" << body.front().getName()
                         << "' to take the arguments of the body, got " << body.front().getOperandTypes();
  TypeRange returned = getReturnedTypes(getBody());
  if (getResult().getType().getTypes() != ArrayRef(SmallVector<Type>(returned))) // (C4)
    return emitOpError() << "expected a future of what the body returns, " << returned << ", got "
                         << getResult().getType();
  return success();
}

LogicalResult AsyncDoneOp::verify() {
  ArrayRef<Type> types = getFuture().getType().getTypes();
  if (TypeRange(types) == getResultTypes()) // (C1)
    return success();
  return emitOpError() << "expected results of the types of the future, " << TypeRange(types) << ", got "
                       << getResultTypes();
}

LogicalResult FutureType::verify(llvm::function_ref<InFlightDiagnostic()> emitError, ArrayRef<Type> types) {
  for (Type type : types)
    if (!isa<RankedTensorType>(type))
      return emitError() << "expected a future of ranked tensors, got " << type;
  return success();
}
