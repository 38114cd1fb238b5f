//===-- RuntimeOps.cpp - Verifiers and effects of runtime ops --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "ir/RuntimeOps.h"

#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "RuntimeDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "RuntimeTypes.cpp.inc"

#define GET_OP_CLASSES
#include "RuntimeOps.cpp.inc"

using namespace mlir;

namespace cgx::rt {

bool isDense(MemRefType type) {
  bool isEmpty = type.hasStaticShape() && type.getNumElements() == 0;
  return isEmpty || memref::isStaticShapeAndContiguousRowMajor(type);
}

void CgxRtDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "RuntimeTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "RuntimeOps.cpp.inc"
      >();
}

LogicalResult MatmulOp::verify() {
  auto a = cast<ShapedType>(getA().getType()), b = cast<ShapedType>(getB().getType()),
       out = cast<ShapedType>(getOut().getType());
  // (C1)
  int64_t rank = out.getRank();
  if ((rank != 2 && rank != 3) || a.getRank() != rank || b.getRank() != rank)
    return emitOpError("expected three operands of rank 2 or three of rank 3, got ranks ")
           << a.getRank() << ", " << b.getRank() << " and " << rank;
  if (rank == 3 && (a.getDimSize(0) != out.getDimSize(0) || b.getDimSize(0) != out.getDimSize(0)))
    return emitOpError("expected equal batch extents, got ")
           << a.getDimSize(0) << ", " << b.getDimSize(0) << " and " << out.getDimSize(0);
  // (C2)
  int64_t row = rank - 2, column = rank - 1;
  int64_t m = a.getDimSize(getTransposeA() ? column : row), k = a.getDimSize(getTransposeA() ? row : column);
  int64_t n = b.getDimSize(getTransposeB() ? row : column),
          kOfB = b.getDimSize(getTransposeB() ? column : row);
  if (k != kOfB)
    return emitOpError("expected equal contracted extents, got ") << k << " and " << kOfB;
  if (out.getDimSize(row) != m || out.getDimSize(column) != n)
    return emitOpError("expected a ")
           << m << " by " << n << " result, got " << out.getDimSize(row) << " by " << out.getDimSize(column);
  return success();
}

void MatmulOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (isa<TensorType>(getOut().getType()))
    return;
  effects.emplace_back(MemoryEffects::Read::get(), &getAMutable(), SideEffects::DefaultResource::get());
  effects.emplace_back(MemoryEffects::Read::get(), &getBMutable(), SideEffects::DefaultResource::get());
  effects.emplace_back(MemoryEffects::Write::get(), &getOutMutable(), SideEffects::DefaultResource::get());
}

void LibraryOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (!getResults().empty())
    return;
  for (OpOperand &input : getInputsMutable())
    effects.emplace_back(MemoryEffects::Read::get(), &input, SideEffects::DefaultResource::get());
  for (OpOperand &output : getOutputsMutable())
    effects.emplace_back(MemoryEffects::Write::get(), &output, SideEffects::DefaultResource::get());
}

LogicalResult ConcatenateOp::verify() {
  auto out = cast<RankedTensorType>(getOut().getType());
  const int64_t dim = static_cast<int64_t>(getDim());
  int64_t extent = 0;
  for (Value input : getInputs()) { // (C1)
    auto type = dyn_cast<RankedTensorType>(input.getType());
    if (!type || type.getRank() != out.getRank() || dim < 0 || dim >= out.getRank())
      return emitOpError("expected inputs of rank ") << out.getRank() << " and one of its dimensions";
    SmallVector<int64_t> shape(type.getShape());
    extent += std::exchange(shape[dim], out.getDimSize(dim));
    if (out.getShape() != ArrayRef(shape) || type.getElementType() != out.getElementType())
      return emitOpError("expected inputs of the shape of ")
             << out << " but for dimension " << dim << ", got " << type;
  }
  if (dim < 0 || dim >= out.getRank() || extent != out.getDimSize(dim))
    return emitOpError("expected extents that add up to that of ")
           << out << " in dimension " << dim << ", got " << extent;
  return success();
}

/// Verifies (C1) of runs and starts.
template <typename OpTy> static LogicalResult verifyInputs(OpTy op) {
  if (!op.getInputs().empty() && op.getInputs().size() != op.getOutputs().size())
    return op.emitOpError("expected no inputs or one for each output, got ")
           << op.getInputs().size() << " inputs and " << op.getOutputs().size() << " outputs";
  return success();
}

LogicalResult RunOp::verify() { return verifyInputs(*this); }

LogicalResult StartOp::verify() {
  if (failed(verifyInputs(*this)))
    return failure();
  for (Value result : getResults()) // (C2)
    if (!result.hasOneUse() || !isa<WaitOp>(*result.user_begin()))
      return emitOpError("expected one cgx_rt.wait as the user of everything that it gives");
  if (getCondition() && !getInputs().empty()) // (C3)
    return emitOpError("expected to work in place where it has a condition");
  return success();
}

LogicalResult WaitOp::verify() {
  StartOp start = getStart();
  if (!start || start->getBlock() != (*this)->getBlock()) // (C1)
    return emitOpError("expected the ticket of a start in the same block");
  bool isOnTensors = !start.getInFlight().empty();
  if (isOnTensors && !llvm::equal(start.getInFlight(), getOutputs()))
    return emitOpError("expected the tensors in flight as outs, got others");
  return success();
}

} // namespace cgx::rt
